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

func TestCompare(t *testing.T) {
	before, err := flame.New(all(read(
		timelinetest.Sample{Thread: 1, Stack: "main;a", At: []time.Duration{0, 10 * ms}},
		timelinetest.Sample{Thread: 1, Stack: "main;b", At: []time.Duration{20 * ms, 30 * ms}},
	)))
	require.NoError(t, err)
	after, err := flame.New(all(read(
		timelinetest.Sample{Thread: 1, Stack: "main;a", At: []time.Duration{0}},
		timelinetest.Sample{Thread: 1, Stack: "main;new", At: []time.Duration{10 * ms}},
	)))
	require.NoError(t, err)

	c := flame.Compare(before, after)
	assert.Equal(t, []int64{int64(40 * ms), int64(20 * ms)}, []int64{c.Before, c.After})
	var lines []string
	for _, b := range c.Draw(whole).Boxes[1:] {
		lines = append(lines, fmt.Sprint(c.Frames[b.Frame].Name, " ", time.Duration(b.Weight), " ", time.Duration(b.Delta)))
	}
	assert.Equal(t, []string{"main 40ms 0s", "a 20ms 0s", "b 10ms -10ms", "new 10ms 10ms"}, lines)

	combined := c.Draw(flame.Window{Pixels: 1, Most: 100}).Boxes
	assert.Equal(t, int64(0), combined[len(combined)-1].Delta, "3 functions: 0, -10 ms and 10 ms")

	empty, err := flame.New(all())
	require.NoError(t, err)
	assert.Equal(t, int64(20*ms), flame.Compare(empty, after).Delta[0])
}
