// SPDX-License-Identifier: Apache-2.0

package speedscope_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/speedscope"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
)

const ms = time.Millisecond

// file is what tests read of a speedscope file.
type file struct {
	Profiles []struct {
		Name, Unit string
		Weights    []int64
	}
}

// export writes profiles, and gives the text of the file and what is in it.
func export(t *testing.T, title string, filter timeline.Filter, profiles ...*timeline.Profile) (string, file) {
	t.Helper()
	var b bytes.Buffer
	w := speedscope.NewWriter(&b, title)
	for _, p := range profiles {
		require.NoError(t, w.Add(p, filter))
	}
	require.NoError(t, w.Close())
	var out file
	require.NoError(t, json.Unmarshal(b.Bytes(), &out))
	return b.String(), out
}

func read(shape timelinetest.Shape, samples ...timelinetest.Sample) *timeline.Profile {
	message := timelinetest.Message("shop", shape, samples...)
	return timelinetest.Read(message.Dictionary(), timelinetest.Profile(message))
}

var shop = []timelinetest.Sample{
	{Thread: 2, Stack: "libpoll", At: []time.Duration{0, 10 * ms, 20 * ms, 3 * time.Second}},
	{Thread: 1, Stack: "main;query", Span: 7, At: []time.Duration{0}},
	{Thread: 1, Stack: "main", At: []time.Duration{20 * ms, 40 * ms}},
	{Thread: 1, At: []time.Duration{30 * ms}},
}

// The schema says nothing more than these fields; the page's browser test has speedscope itself
// read such a file.
func TestExport(t *testing.T) {
	text, _ := export(t, "shop", timeline.Filter{}, read(timelinetest.Wall, shop...))
	assert.JSONEq(t, `{
		"$schema": "https://www.speedscope.app/file-format-schema.json",
		"exporter": "otelcol-sentry",
		"name": "shop",
		"activeProfileIndex": 0,
		"profiles": [
			{"type": "sampled", "name": "worker (thread 2)", "unit": "nanoseconds", "startValue": 0, "endValue": 3010000000,
			 "samples": [[0], [0], [0], [], [0]], "weights": [10000000, 10000000, 30000000, 2950000000, 10000000]},
			{"type": "sampled", "name": "main (thread 1)", "unit": "nanoseconds", "startValue": 0, "endValue": 50000000,
			 "samples": [[2, 1], [2], [], [2]], "weights": [20000000, 10000000, 10000000, 10000000]}
		],
		"shared": {"frames": [
			{"name": "libpoll", "file": "/app/libpoll.py", "line": 10, "col": 3},
			{"name": "query", "file": "/app/query.py", "line": 20, "col": 3},
			{"name": "main", "file": "/app/main.py", "line": 10, "col": 3}
		]}
	}`, text)
}

func TestExportOfASelection(t *testing.T) {
	p := read(timelinetest.Wall, shop...)
	span := timeline.Filter{Link: &timeline.Link{Trace: timelinetest.Trace(7), Span: timelinetest.Span(7)}}
	_, file := export(t, "shop", span, p)
	require.Len(t, file.Profiles, 1)
	assert.Equal(t, []int64{int64(20 * ms)}, file.Profiles[0].Weights)

	text, _ := export(t, "shop", timeline.Filter{})
	assert.Contains(t, text, `"profiles":[]`)
}

func TestUnits(t *testing.T) {
	memory := read(timelinetest.Shape{Type: "alloc_space", Unit: "bytes"}, timelinetest.Sample{Stack: "a", Values: []int64{512}})
	counts := read(timelinetest.Shape{Type: "events", Unit: "count"}, timelinetest.Sample{Stack: "a", Values: []int64{2}})
	_, file := export(t, "", timeline.Filter{}, memory, counts)
	assert.Equal(t, "bytes", file.Profiles[0].Unit)
	assert.Equal(t, "none", file.Profiles[1].Unit)
	assert.Equal(t, "all samples", file.Profiles[0].Name)
}

// A message can name a deep stack a million times in few bytes.
func TestExportIsBounded(t *testing.T) {
	at := make([]time.Duration, timeline.MaxExportedFrames/1000+1)
	for i := range at {
		at[i] = time.Duration(i)
	}
	deep := strings.TrimSuffix(strings.Repeat("f;", 1000), ";")
	p := read(timelinetest.Wall, timelinetest.Sample{Thread: 1, Stack: deep, At: at})
	assert.ErrorIs(t, speedscope.NewWriter(io.Discard, "").Add(p, timeline.Filter{}), timeline.ErrTooLarge)
}
