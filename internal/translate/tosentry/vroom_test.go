// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// object is a JSON object.
type object map[string]any

// ingested adds the fields that Sentry's ingest adds to a chunk.
func ingested(chunk object) object {
	for key, value := range (object{"organization_id": 1, "project_id": 1, "received": 1777629600.5, "retention_days": 30}) {
		chunk[key] = value
	}
	return chunk
}

const vroomStart = 1_777_629_600_000_000_000

// asEvents returns a chunk with the events of a method trace, in the form of Sentry's ingest
// (relay-profiling, android/chunk.rs).
func asEvents(trace *arttrace.Trace) object {
	duration := func(micros int64) object { return object{"secs": micros / 1e6, "nanos": micros % 1e6 * 1000} }
	var threads, methods, events []object
	for _, t := range trace.Threads {
		threads = append(threads, object{"id": t.ID, "name": t.Name})
	}
	for _, m := range trace.Methods {
		methods = append(methods, object{"id": m.ID, "class_name": m.Class, "name": m.Name, "signature": m.Signature, "source_file": m.File, "source_line": m.Line})
	}
	for e := range trace.Events() {
		events = append(events, object{"action": [...]string{"Enter", "Exit", "Unwind"}[e.Action], "thread_id": e.Thread, "method_id": e.Method,
			"time": object{"Monotonic": object{"wall": duration(int64(e.Wall)), "cpu": duration(int64(e.CPU))}}})
	}
	return ingested(object{
		"version": "2.android-trace", "chunk_id": "90ab12cd34ef56ab78cd90ef12ab34cd", "profiler_id": "1c6f0e4f0b2a4c3d8e9f00112233aabb",
		"platform": "android", "release": "shop@1", "environment": "prod", "client_sdk": object{"name": "sentry.java.android", "version": "8.20.0"},
		"timestamp": vroomStart / 1e9, "duration_ns": trace.Elapsed.Nanoseconds(), "measurements": object{}, "debug_meta": object{"images": []object{}},
		"profile": object{
			"data_file_overflow": trace.Overflow, "clock": "Dual", "elapsed_time": duration(trace.Elapsed.Microseconds()), "total_method_calls": len(events),
			"clock_call_overhead": duration(0), "vm": "Art", "start_time": int64(0), "pid": 1, "gc_trace": nil,
			"threads": threads, "methods": methods, "events": events,
		},
	})
}

// asSamples returns the chunks that the exporter sends for a method trace.
func asSamples(t *testing.T, data []byte) (chunks []object) {
	payload := fmt.Sprintf(`{"version":"2","chunk_id":"90ab12cd34ef56ab78cd90ef12ab34cd","profiler_id":"1c6f0e4f0b2a4c3d8e9f00112233aabb","platform":"android",`+
		`"release":"shop@1","client_sdk":{"name":"sentry.java.android","version":"8.20.0"},"timestamp":%d,"sampled_profile":"%s"}`,
		int64(vroomStart/1e9), base64.RawStdEncoding.EncodeToString(data))
	message, ok := translateAndroid(t, sentry.Item{Header: sentry.ItemHeader{Type: sentry.ItemProfileChunk}, Payload: []byte(payload)})
	require.True(t, ok)
	export := ProfilesToChunks(message, exportOptions)
	require.Empty(t, export.Lost)
	for _, item := range export.Items {
		var chunk object
		require.NoError(t, json.Unmarshal(item.Item.Payload, &chunk))
		onlyMain(chunk)
		chunks = append(chunks, ingested(chunk))
	}
	return chunks
}

// onlyMain removes the samples of other threads, because Sentry ignores their events.
func onlyMain(chunk object) {
	sampled := chunk["profile"].(map[string]any)
	threads := sampled["thread_metadata"].(map[string]any)
	sampled["samples"] = slices.DeleteFunc(sampled["samples"].([]any), func(sample any) bool {
		thread := threads[sample.(map[string]any)["thread_id"].(string)]
		return thread.(map[string]any)["name"] != "main"
	})
}

// vroomTimes are Sentry's metrics of a call path of the main thread, in nanoseconds.
type vroomTimes struct{ calls, self, total float64 }

// vroomRow is a line of testdata/vroom.py.
type vroomRow struct {
	module, function   string
	calls, self, total float64
	stack, parent      float64
}

func (r *vroomRow) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&r.module, &r.function, &r.calls, &r.self, &r.total, &r.stack, &r.parent})
}

// askVroom runs Sentry's processing. It returns the call tree of each chunk, by call paths.
func askVroom(t *testing.T, python string, chunks ...object) (trees []map[string]vroomTimes) {
	arguments := []string{"testdata/vroom.py"}
	for i, chunk := range chunks {
		text, err := json.Marshal(chunk)
		require.NoError(t, err)
		name := filepath.Join(t.TempDir(), fmt.Sprint(i))
		require.NoError(t, os.WriteFile(name, text, 0o600))
		arguments = append(arguments, name)
	}
	out, err := exec.Command(python, arguments...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	for line := range strings.Lines(string(out)) {
		var rows []vroomRow
		require.NoError(t, json.Unmarshal([]byte(line), &rows))
		trees = append(trees, callTree(rows))
	}
	return trees
}

// callTree sums up times by call path, in functions of the calls from the outermost on. For
// lambdas, Sentry has other names in samples than in events, and does not find their callers, so
// paths through one begin behind it.
func callTree(rows []vroomRow) map[string]vroomTimes {
	byStack := map[float64]vroomRow{}
	for _, row := range rows {
		byStack[row.stack] = row
	}
	tree := map[string]vroomTimes{}
	for _, row := range rows {
		var path []string
		for at, known := row, true; known; at, known = byStack[at.parent] {
			name := functionName(at.module, at.function)
			if strings.Contains(name, "$$Lambda") {
				break
			}
			path = append(path, name)
		}
		if len(path) == 0 {
			continue
		}
		slices.Reverse(path)
		key := strings.Join(path, " > ")
		times := tree[key]
		times.calls += row.calls
		times.self += row.self
		times.total += row.total
		tree[key] = times
	}
	return tree
}

// functionName returns class and method. For events, Sentry has the package, and a name with class
// and signature; for samples, it has class and method.
func functionName(module, function string) string {
	name, _, isEvent := strings.Cut(function, "(")
	if isEvent {
		return name
	}
	return strings.TrimSuffix(module+"."+name, ".<init>")
}

// TestAsVroomSeesIt: in the samples that the exporter sends, Sentry's own processing finds the call
// tree that it finds in the events of the trace, with the same times to a period for each call.
func TestAsVroomSeesIt(t *testing.T) {
	python := os.Getenv("VROOMRS_PYTHON")
	if python == "" {
		t.Skip("set VROOMRS_PYTHON to a Python with the package vroomrs")
	}
	traces := golden.AndroidTraces(t)
	data := traces[golden.RecordedTrace]
	if data == nil {
		data = traces[golden.GeneratedTrace]
	}
	trace, err := arttrace.Parse(data)
	require.NoError(t, err)
	chunks := asSamples(t, data)
	require.Len(t, chunks, 1)
	trees := askVroom(t, python, asEvents(trace), chunks[0])
	events, samples := trees[0], trees[1]
	require.Greater(t, len(events), 900)

	long := 0
	for path, want := range events {
		got := samples[path]
		calls := max(want.calls, got.calls)
		bound := (calls + 1) * profile.NominalPeriod
		if got.calls == 0 {
			bound += 10e6
		}
		assert.InDelta(t, want.total, got.total, bound, path)
		if want.total > (want.calls+1)*profile.NominalPeriod {
			long++
			assert.Positive(t, got.calls, "%s: a call is longer than a period", path)
		}
	}
	for path, got := range samples { // of events, Sentry leaves out functions that took less than 10 ms
		assert.LessOrEqual(t, got.total-events[path].total, 10e6+max(got.calls, events[path].calls)*profile.NominalPeriod, path)
	}
	t.Logf("%d call paths in events, %d in samples, %d of them with a call that is longer than a period", len(events), len(samples), long)
}
