// SPDX-License-Identifier: Apache-2.0

package arttrace_test

import (
	"math"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace/arttracetest"
)

// The most that reading and observing a trace may allocate: a multiple of its size, as lines and
// records can be short, and a constant. A recorded trace takes six times its size.
const maxGrowth, maxOverhead = 64, 1 << 20

// allocationsOfSpare: each spare observation may be a run, in a list that grows.
const allocationsOfSpare = 64 * spare

// spare of observations, as the receivers have for the first trace of a request.
const spare = 1 << 14

// read parses and observes a trace, and checks what that allocates and what comes out.
func read(t testing.TB, name string, data []byte) (o *arttrace.Observations, err error) {
	most, spent := uint64(maxGrowth*len(data)+allocationsOfSpare+maxOverhead), uint64(math.MaxUint64)
	for attempt := 0; attempt < 3 && spent > most; attempt++ { // the runtime may count what others allocated before
		before := allocated()
		var trace *arttrace.Trace
		if trace, err = arttrace.Parse(data); err == nil {
			o, err = trace.Observe(10*time.Millisecond, spare)
		}
		spent = allocated() - before
	}
	assert.LessOrEqual(t, spent, most, name)
	if o != nil {
		checkOutput(t, name, data, o)
	}
	return o, err
}

// allocated is how many bytes have been allocated so far. Unlike runtime.ReadMemStats, it does not
// stop the world, for the fuzzer's sake.
func allocated() uint64 {
	sample := [...]metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample[:])
	return sample[0].Value.Uint64()
}

// checkOutput checks that every index is in range, and that the size of observations is bounded by
// that of the trace.
func checkOutput(t testing.TB, name string, data []byte, o *arttrace.Observations) {
	count, entries, observed := 0, 0, map[int32]bool{}
	next := make([]uint32, len(o.Threads))
	for _, run := range o.Runs {
		if run.Count == 0 || run.First < next[run.Thread] {
			t.Fatal(name, "run out of order", run)
		}
		next[run.Thread] = run.First + run.Count
		count += int(run.Count)
		if !observed[run.Stack] {
			observed[run.Stack] = true
			entries += len(o.Stacks.At(run.Stack))
		}
	}
	require.Equal(t, o.Count, count, name)
	require.LessOrEqual(t, count, o.Spent+len(data), name)
	require.LessOrEqual(t, entries, o.Spent+2*len(data), name)
	require.LessOrEqual(t, o.Spent, spare, name)
	for i := range int32(o.Stacks.Len()) {
		for _, method := range o.Stacks.At(i) {
			if int(method) >= o.Methods() {
				t.Fatal(name, "odd stack", i)
			}
		}
	}
}

// attack is a trace that tries to use up memory or time.
type attack struct {
	name string
	data []byte
	err  error // nil = it is a legitimate trace
}

func attacks() []attack {
	old := arttrace.Trace{Version: 1, Clock: arttrace.ClockWall, Elapsed: time.Minute} // the smallest records
	trace := arttrace.Trace{Version: 2, Clock: arttrace.ClockWall, Elapsed: time.Minute}
	unending := trace
	unending.Elapsed = math.MaxInt64
	text := func(lines string) []byte {
		return []byte(strings.Replace(string(arttracetest.File(trace, nil)), "*threads\n*methods\n", lines, 1))
	}
	var threads, deep, wide, unknown, exits []arttrace.Event
	for i := range 1 << 16 {
		threads = append(threads, arttrace.Event{Thread: uint16(i), Method: 4})
	}
	for i := range uint32(1000) {
		deep = append(deep, arttrace.Event{Thread: 1, Method: 4 * i})
	}
	exits = append(exits, deep...)
	for i := range uint32(50_000) {
		exits = append(exits, arttrace.Event{Thread: 1, Method: 1 << 20, Action: arttrace.Exit})
		wide = append(wide, arttrace.Event{Thread: 1, Method: 4 * i, Wall: i * 10 * millisecond},
			arttrace.Event{Thread: 1, Method: 4 * i, Action: arttrace.Exit, Wall: (i + 1) * 10 * millisecond})
		unknown = append(unknown, arttrace.Event{Thread: 1, Method: 4 * i})
	}
	fan := unending
	fan.Elapsed = 71 * time.Minute
	return []attack{
		{"64 k threads", arttracetest.File(trace, threads), nil},
		{"a trace without end", arttracetest.File(unending, threads), nil},
		{"exits that match nothing in a deep stack", arttracetest.File(trace, exits), nil},
		{"every observation of another stack", arttracetest.File(fan, wide[:20_000]), nil},
		{"every observation of another deep stack", arttracetest.File(fan, append(deep[:999:999], wide...)), arttrace.ErrTooLarge},
		{"a recursion of unknown methods", arttracetest.File(trace, unknown), nil},
		{"more unknown methods than known ones", arttracetest.File(old, append(unknown, wide[:2]...)), nil},
		{"names of 1 MB", text("*threads\n1\t" + strings.Repeat("n", 1<<20) + "\n*methods\n0x4\t" + strings.Repeat("c", 1<<20) + "\n"), arttrace.ErrEmpty},
		{"empty methods", text("*methods\n" + strings.Repeat("0\n", 1<<19)), arttrace.ErrEmpty},
		{"short methods", text("*methods\n" + strings.Repeat("0\ta\n", 1<<19)), arttrace.ErrTooLarge},
		{"empty threads", text("*threads\n" + strings.Repeat("0\n", 1<<19)), arttrace.ErrTooLarge},
		{"empty lines", text("*threads\n" + strings.Repeat("\n", 1<<20)), arttrace.ErrEmpty},
	}
}

// TestAttacks: what a trace becomes is bounded by it.
func TestAttacks(t *testing.T) {
	for _, a := range attacks() {
		start := time.Now()
		_, err := read(t, a.name, a.data)
		if a.err == nil {
			assert.NoError(t, err, a.name)
		} else {
			assert.ErrorIs(t, err, a.err, a.name)
		}
		t.Logf("%-45s %8d bytes %v", a.name, len(a.data), time.Since(start).Round(time.Millisecond))
	}
}

// TestCoarserGrid: where a trace has too many observations, it is observed less often, and over the
// same time.
func TestCoarserGrid(t *testing.T) {
	trace := arttrace.Trace{Version: 2, Clock: arttrace.ClockWall, Elapsed: time.Minute}
	var events []arttrace.Event
	for i := range 1000 {
		events = append(events, arttrace.Event{Thread: uint16(i), Method: 4})
	}
	got, err := observe(t, trace, 10*time.Millisecond, events...)
	require.NoError(t, err)
	assert.Equal(t, 2560*time.Millisecond, got.Period)
	checkTimes(t, trace, events, got)
}
