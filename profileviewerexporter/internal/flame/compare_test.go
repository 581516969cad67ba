// SPDX-License-Identifier: Apache-2.0

package flame_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/flame"
)

// samplesOf returns samples of a function of one thread, every 10 ms.
func samplesOf(stack string, from, count int) timelinetest.Sample {
	s := timelinetest.Sample{Thread: 1, Stack: stack}
	for i := range count {
		s.At = append(s.At, time.Duration(from+i)*10*ms)
	}
	return s
}

func TestCompare(t *testing.T) {
	before, err := flame.New(all(read(samplesOf("main;a", 0, 40), samplesOf("main;b", 40, 40))))
	require.NoError(t, err)
	after, err := flame.New(all(read(samplesOf("main;a", 0, 20), samplesOf("main;new", 20, 20))))
	require.NoError(t, err)

	c := flame.Compare(before, after)
	assert.Equal(t, []int64{int64(800 * ms), int64(400 * ms)}, []int64{c.Before, c.After})
	assert.Equal(t, []int64{80, 40}, []int64{c.BeforeSamples, c.AfterSamples})
	var lines []string
	for _, b := range c.Draw(whole).Boxes[1:] {
		lines = append(lines, fmt.Sprint(c.Frames[b.Frame].Name, " ", time.Duration(b.Weight), " ", time.Duration(b.Delta)))
	}
	assert.Equal(t, []string{"main 800ms 0s", "a 400ms 0s", "b 200ms -200ms", "new 200ms 200ms"}, lines)
	var functions []string
	for _, f := range c.Changes {
		functions = append(functions, fmt.Sprint(c.Frames[f.Frame].Name, " ", f.Before.SelfSamples, "/", f.Before.Samples, " ", f.After.SelfSamples, "/", f.After.Samples, " ", f.SelfChance))
	}
	assert.Equal(t, []string{"b 40/40 0/0 false", "new 0/0 20/20 false", "main 0/80 0/40 true", "a 40/40 20/20 true"}, functions)

	combined := c.Draw(flame.Window{Pixels: 1, Most: 100}).Boxes
	assert.Equal(t, int64(0), combined[len(combined)-1].Delta, "3 functions: 0, -200 ms and 200 ms")

	empty, err := flame.New(all())
	require.NoError(t, err)
	assert.Equal(t, int64(0), flame.Compare(empty, after).Delta[0], "there is nothing to compare with")
}
