// SPDX-License-Identifier: Apache-2.0

package arttrace_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// What Firefox Profiler's importer reads agrees too: the numbers below, and the stack of every
// thread at every millisecond of both traces.

// ofTheRustCrate has checksums of what the Rust crate android_trace_log 0.3.0, Relay's parser,
// reads from the traces: threads, methods and events, in the lines of checksum. The crate does not
// read streaming traces, and the generated one only with the number of method calls, which we
// ignore, in its header.
var ofTheRustCrate = map[string]string{
	"generated": "129f8a42f892e93be2bc439f7fdf2ce9733741b12d5cf8a01729b023210bee09",
	"recorded":  "c6bf61614d8be8f1d4729d0f5f647890311e2a3409ad77ad2ef3872bd2e2378c",
}

// TestCorpus reads a generated trace as it was written, and recorded traces as Relay's parser does.
func TestCorpus(t *testing.T) {
	want := map[string]struct{ threads, methods, records, unknown int }{
		"generated":           {60, 2000, 20000, 605},
		"generated streaming": {60, 2000, 20000, 605},
		"recorded":            {66, 2067, 13295, 62},
		"recorded streaming":  {52, 3963, 39377, 38},
	}
	for name, data := range golden.AndroidTraces(t) {
		trace, err := arttrace.Parse(data)
		require.NoError(t, err, name)
		known := map[uint32]bool{}
		for _, m := range trace.Methods {
			known[m.ID] = true
		}
		records, unknown := 0, 0
		for e := range trace.Events() {
			records++
			if !known[e.Method] {
				unknown++
			}
		}
		got := want[name]
		got.threads, got.methods, got.records, got.unknown = len(trace.Threads), len(trace.Methods), records, unknown
		assert.Equal(t, want[name], got, name)
		assert.Equal(t, arttrace.ClockDual, trace.Clock, name)
		if want, read := ofTheRustCrate[name]; read {
			assert.Equal(t, want, checksum(trace), name)
		}
	}
}

func checksum(trace *arttrace.Trace) string {
	h := sha256.New()
	write(h, trace)
	return hex.EncodeToString(h.Sum(nil))
}

// write prints a trace as the Rust program of internal/testkit/bench/rival/androidtracelog does.
func write(w io.Writer, trace *arttrace.Trace) {
	for _, t := range trace.Threads {
		fmt.Fprintf(w, "T\t%d\t%s\n", t.ID, t.Name)
	}
	for _, m := range trace.Methods {
		fmt.Fprintf(w, "M\t%x\t%s\t%s\t%s\t%s\t%d\n", m.ID>>2, m.Class, m.Name, m.Signature, m.File, m.Line)
	}
	for e := range trace.Events() {
		fmt.Fprintf(w, "E\t%d\t%d\t%x\t%d\t%d\n", e.Action, e.Thread, e.Method>>2, e.Wall, e.CPU)
	}
}

// TestCorpusObserved: the time of each thread is that between its first record and its end, to one
// period.
func TestCorpusObserved(t *testing.T) {
	for name, data := range golden.AndroidTraces(t) {
		trace, err := arttrace.Parse(data)
		require.NoError(t, err)
		var events []arttrace.Event
		for e := range trace.Events() {
			events = append(events, e)
		}
		got, err := read(t, name, data)
		require.NoError(t, err, name)
		checkTimes(t, *trace, events, got)
		compare(t, data, trace, got)
		assert.Zero(t, got.Unmatched+got.TooDeep, name)
	}
}
