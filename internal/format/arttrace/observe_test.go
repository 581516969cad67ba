// SPDX-License-Identifier: Apache-2.0

package arttrace_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace/arttracetest"
)

const millisecond = 1000 // in the unit of records

// observe writes and reads a trace.
func observe(t testing.TB, trace arttrace.Trace, period time.Duration, events ...arttrace.Event) (*arttrace.Observations, error) {
	parsed, err := arttrace.Parse(arttracetest.File(trace, events))
	require.NoError(t, err)
	return parsed.Observe(period, spare)
}

// table lists observations as "thread point stack", callers first.
func table(o *arttrace.Observations) (lines []string) {
	for _, run := range o.Runs {
		for i := range run.Count {
			lines = append(lines, fmt.Sprintf("%d %d %s", o.Threads[run.Thread].ID, run.First+i, path(o, run.Stack)))
		}
	}
	slices.Sort(lines)
	return lines
}

func path(o *arttrace.Observations, stack int32) (text string) {
	for _, method := range o.Stacks.At(stack) {
		text += fmt.Sprintf("/%x", o.Method(method).ID)
	}
	return text
}

// slowTable is table by the definition: for each point of the grid, the stack after all records up
// to that instant.
func slowTable(trace arttrace.Trace, events []arttrace.Event, period time.Duration) (lines []string) {
	for _, thread := range trace.Threads {
		var own []arttrace.Event
		for _, e := range events {
			if uint32(e.Thread) == thread.ID {
				e.Wall = min(e.Wall, uint32(trace.Elapsed.Microseconds()))
				if len(own) > 0 {
					e.Wall = max(e.Wall, own[len(own)-1].Wall)
				}
				own = append(own, e)
			}
		}
		if len(own) == 0 {
			continue
		}
		end := time.Duration(own[len(own)-1].Wall) * time.Microsecond
		if len(stackAfter(own)) > 0 {
			end = trace.Elapsed
		}
		for point := 0; time.Duration(point)*period < end; point++ {
			now := time.Duration(point) * period
			before := slices.DeleteFunc(slices.Clone(own), func(e arttrace.Event) bool {
				return time.Duration(e.Wall)*time.Microsecond > now
			})
			if len(before) > 0 {
				lines = append(lines, fmt.Sprintf("%d %d %s", thread.ID, point, strings.Join(stackAfter(before), "")))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func stackAfter(events []arttrace.Event) (stack []string) {
	for _, e := range events {
		method := fmt.Sprintf("/%x", e.Method)
		if e.Action == arttrace.Enter {
			stack = append(stack, method)
			continue
		}
		for i := len(stack) - 1; i >= 0; i-- {
			if stack[i] == method {
				stack = stack[:i]
				break
			}
		}
	}
	return stack
}

// TestObserveByDefinition compares with the definition, over random traces: methods that are never
// left, exits without an enter, time that stands still, threads that are idle in between.
func TestObserveByDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 17))
	for range 100 {
		trace, events := random(r)
		period := time.Duration(1+r.IntN(20)) * time.Millisecond
		want := slowTable(trace, events, period)
		got, err := observe(t, trace, period, events...)
		if err != nil {
			require.ErrorIs(t, err, arttrace.ErrEmpty)
			require.NotContains(t, strings.Join(want, "\n"), "/")
			continue
		}
		require.Equal(t, want, table(got))
		require.Equal(t, len(want), got.Count)
		require.Equal(t, period, got.Period)
	}
}

// TestRunsAreShort: what is observed in one stack is one run, however long it lasts.
func TestRunsAreShort(t *testing.T) {
	trace := arttrace.Trace{Version: 2, Clock: arttrace.ClockWall, Elapsed: time.Minute}
	got, err := observe(t, trace, 10*time.Millisecond,
		arttrace.Event{Thread: 1, Method: 4, Wall: 25 * millisecond},
		arttrace.Event{Thread: 1, Method: 8, Wall: 30*millisecond + 1},
		arttrace.Event{Thread: 1, Method: 8, Action: arttrace.Exit, Wall: 39 * millisecond},
		arttrace.Event{Thread: 2, Method: 8, Wall: 50 * millisecond},
		arttrace.Event{Thread: 2, Method: 8, Action: arttrace.Exit, Wall: 70 * millisecond},
	)
	require.NoError(t, err)
	assert.Equal(t, []arttrace.Run{{Thread: 1, Stack: 2, First: 5, Count: 2}, {Thread: 0, Stack: 1, First: 3, Count: 5997}}, sorted(got.Runs))
	assert.Equal(t, []arttrace.Thread{{ID: 1}, {ID: 2}}, got.Threads)
}

func sorted(runs []arttrace.Run) []arttrace.Run {
	slices.SortFunc(runs, func(a, b arttrace.Run) int { return int(b.Thread) - int(a.Thread) })
	return runs
}

// TestTimeOfAThread: observations × period is the time of a thread from its first record on, to one
// period.
func TestTimeOfAThread(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for range 200 {
		trace, events := random(r)
		period := time.Duration(1+r.IntN(20)) * time.Millisecond
		got, err := observe(t, trace, period, events...)
		if err != nil {
			continue
		}
		checkTimes(t, trace, events, got)
	}
}

// checkTimes compares the observed time of each thread with that between its first record and its
// end.
func checkTimes(t testing.TB, trace arttrace.Trace, events []arttrace.Event, got *arttrace.Observations) {
	points := map[uint16]time.Duration{}
	for _, run := range got.Runs {
		points[uint16(got.Threads[run.Thread].ID)] += time.Duration(run.Count)
	}
	of := map[uint16][]arttrace.Event{}
	for _, e := range events {
		of[e.Thread] = append(of[e.Thread], e)
	}
	for thread, own := range of {
		first, last := time.Duration(own[0].Wall)*time.Microsecond, time.Duration(own[len(own)-1].Wall)*time.Microsecond
		if len(stackAfter(own)) > 0 {
			last = trace.Elapsed
		}
		require.InDelta(t, last-first, points[thread]*got.Period, float64(got.Period), "thread %d", thread)
	}
}

// TestBeforeTheStart: a record from before the start of the trace has a negative time of 32 bits.
// It does not cost the later records of its thread, nor make a trace without an end longer.
func TestBeforeTheStart(t *testing.T) {
	for _, clock := range []arttrace.Clock{arttrace.ClockWall, arttrace.ClockThreadCPU} {
		for name, trace := range map[string]arttrace.Trace{
			"complete": {Elapsed: 60 * time.Millisecond}, "overflow": {Elapsed: time.Minute, Overflow: true}, "no elapsed time": {},
		} {
			trace.Version, trace.Clock = 2, clock
			got, err := observe(t, trace, 10*time.Millisecond,
				arttrace.Event{Thread: 1, Method: 4, Wall: 0xFFFFFFF0, CPU: 0xFFFFFFF0},
				arttrace.Event{Thread: 1, Method: 8, Wall: 20 * millisecond, CPU: 20 * millisecond},
				arttrace.Event{Thread: 1, Method: 8, Action: arttrace.Exit, Wall: 40 * millisecond, CPU: 40 * millisecond},
				arttrace.Event{Thread: 1, Method: 4, Action: arttrace.Exit, Wall: 50 * millisecond, CPU: 50 * millisecond},
			)
			require.NoError(t, err, name)
			assert.Equal(t, []string{"1 0 /4", "1 1 /4", "1 2 /4/8", "1 3 /4/8", "1 4 /4"}, table(got), name)
		}
	}
	// In a trace that lasted as long, such a number is a time.
	long := arttrace.Trace{Version: 2, Clock: arttrace.ClockWall, Elapsed: 40 * time.Minute}
	got, err := observe(t, long, 10*time.Minute, arttrace.Event{Thread: 1, Method: 4, Wall: 36 * 60_000 * millisecond})
	require.ErrorIs(t, err, arttrace.ErrEmpty, "no point of the grid between 36 and 40 minutes")
	require.Nil(t, got)
}

// TestClockSteps: a clock that steps back stands still, and none goes beyond the end of the trace.
func TestClockSteps(t *testing.T) {
	trace := arttrace.Trace{Version: 2, Clock: arttrace.ClockWall, Elapsed: 100 * time.Millisecond}
	got, err := observe(t, trace, 10*time.Millisecond,
		arttrace.Event{Thread: 1, Method: 4, Wall: 50 * millisecond},
		arttrace.Event{Thread: 1, Method: 8, Wall: 20 * millisecond},
		arttrace.Event{Thread: 1, Method: 12, Wall: 200 * millisecond},
	)
	require.NoError(t, err)
	assert.Equal(t, []string{"1 5 /4/8", "1 6 /4/8", "1 7 /4/8", "1 8 /4/8", "1 9 /4/8"}, table(got))
}

// TestEndOfATrace: threads that are still in a method are observed to the end, of which a trace
// that overflowed knows nothing, and the CPU time of a thread neither.
func TestEndOfATrace(t *testing.T) {
	wall := []arttrace.Event{{Thread: 1, Method: 4}, {Thread: 2, Method: 4, Wall: 30 * millisecond}}
	cpu := []arttrace.Event{{Thread: 1, Method: 4}, {Thread: 1, Method: 8, CPU: 20 * millisecond}}
	full := arttrace.Trace{Version: 2, Clock: arttrace.ClockWall, Elapsed: 50 * time.Millisecond}
	overflow, unknown, onCPU := full, full, full
	overflow.Overflow, unknown.Elapsed, onCPU.Clock = true, 0, arttrace.ClockThreadCPU
	for _, c := range []struct {
		name   string
		trace  arttrace.Trace
		events []arttrace.Event
		want   []string
	}{
		{"to the end", full, wall, []string{"1 0 /4", "1 1 /4", "1 2 /4", "1 3 /4", "1 4 /4", "2 3 /4", "2 4 /4"}},
		{"overflow", overflow, wall, []string{"1 0 /4", "1 1 /4", "1 2 /4"}},
		{"no elapsed time", unknown, wall, []string{"1 0 /4", "1 1 /4", "1 2 /4"}},
		{"CPU time", onCPU, cpu, []string{"1 0 /4", "1 1 /4"}},
	} {
		got, err := observe(t, c.trace, 10*time.Millisecond, c.events...)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, table(got), c.name)
	}
}

// TestDepth: calls beyond the depth that is observed are paired with their exits all the same.
func TestDepth(t *testing.T) {
	const depth = 100_000
	trace := arttrace.Trace{Version: 2, Clock: arttrace.ClockWall, Elapsed: time.Second}
	events := make([]arttrace.Event, 0, 2*depth)
	for range depth {
		events = append(events, arttrace.Event{Thread: 1, Method: 8})
	}
	for range depth {
		events = append(events, arttrace.Event{Thread: 1, Method: 8, Action: arttrace.Exit, Wall: 10 * millisecond})
	}
	events = append(events, arttrace.Event{Thread: 1, Method: 4, Wall: 10 * millisecond})
	got, err := observe(t, trace, 10*time.Millisecond, events...)
	require.NoError(t, err)
	require.Len(t, got.Runs, 2)
	assert.Equal(t, strings.Repeat("/8", 1000), path(got, got.Runs[0].Stack))
	assert.Equal(t, "/4", path(got, got.Runs[1].Stack))
	assert.Equal(t, depth-1000, got.TooDeep)
	assert.Zero(t, got.Unmatched)
}

func TestUnmatchedExits(t *testing.T) {
	trace := arttrace.Trace{Version: 2, Clock: arttrace.ClockWall, Elapsed: time.Second}
	got, err := observe(t, trace, 500*time.Millisecond,
		arttrace.Event{Thread: 1, Method: 4, Action: arttrace.Exit},
		arttrace.Event{Thread: 1, Method: 4},
		arttrace.Event{Thread: 1, Method: 8},
		arttrace.Event{Thread: 1, Method: 12, Action: arttrace.Unwind},
		arttrace.Event{Thread: 1, Method: 16},
		arttrace.Event{Thread: 1, Method: 8, Action: arttrace.Exit}, // and 16 with it
	)
	require.NoError(t, err)
	assert.Equal(t, []string{"1 0 /4", "1 1 /4"}, table(got))
	assert.Equal(t, 2, got.Unmatched)
}

func TestNothingToObserve(t *testing.T) {
	trace := arttrace.Trace{Version: 2, Clock: arttrace.ClockWall, Elapsed: time.Second}
	for name, events := range map[string][]arttrace.Event{
		"no records":     nil,
		"exits only":     {{Thread: 1, Method: 4, Action: arttrace.Exit}, {Thread: 1, Method: 4, Action: arttrace.Exit, Wall: 100 * millisecond}},
		"between points": {{Thread: 1, Method: 4, Wall: 1 * millisecond}, {Thread: 1, Method: 4, Action: arttrace.Exit, Wall: 9 * millisecond}},
	} {
		_, err := observe(t, trace, 10*time.Millisecond, events...)
		assert.ErrorIs(t, err, arttrace.ErrEmpty, name)
	}
}
