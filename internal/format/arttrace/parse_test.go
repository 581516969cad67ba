// SPDX-License-Identifier: Apache-2.0

package arttrace_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace/arttracetest"
)

// shop is a trace of every version, clock and variant: tables, and records that use the fields of
// its clock.
func shop(version int, clock arttrace.Clock) (arttrace.Trace, []arttrace.Event) {
	trace := arttrace.Trace{
		Version: version, Clock: clock, Elapsed: 2 * time.Second, SinceBoot: 8 * 24 * time.Hour, VM: "art", PID: "41",
		Threads: []arttrace.Thread{{ID: 41, Name: "main"}, {ID: 57, Name: "OkHttp Dispatcher\tof two parts"}},
		Methods: []arttrace.Method{
			{ID: 0, Class: "com.example.Shop", Name: "open", Signature: "(I)V", File: "Shop.java", Line: 12},
			{ID: 0x10, Class: "com.example.Shop$Cart", Name: "<init>", Signature: "()V", File: "Shop.java"},
			{ID: 0xFFFFFFF4, Class: "a.b", Name: "c"},
		},
	}
	events := []arttrace.Event{
		{Thread: 41, Method: 0, Action: arttrace.Enter, Wall: 1, CPU: 2},
		{Thread: 57, Method: 0xFFFFFFF4, Action: arttrace.Enter, Wall: 3, CPU: 1},
		{Thread: 41, Method: 0x10, Action: arttrace.Enter, Wall: 0xFFFFFFFF, CPU: 4},
		{Thread: 41, Method: 0x10, Action: arttrace.Unwind, Wall: 6, CPU: 5},
		{Thread: 41, Method: 0, Action: arttrace.Exit, Wall: 7, CPU: 6},
	}
	for i := range events {
		if clock != arttrace.ClockDual && clock != arttrace.ClockThreadCPU {
			events[i].CPU = 0
		}
		if clock == arttrace.ClockThreadCPU {
			events[i].Wall = 0
		}
	}
	return trace, events
}

// shape is a kind of trace.
type shape struct {
	version int
	clock   arttrace.Clock
	write   func(arttrace.Trace, []arttrace.Event) []byte
}

func (s shape) String() string {
	return fmt.Sprintf("version %d, clock %d, streaming %t", s.version, s.clock, s.streaming())
}

func (s shape) streaming() bool { return s.write(arttrace.Trace{Version: 3}, nil)[0] == 'S' }

func shapes() (all []shape) {
	for _, write := range []func(arttrace.Trace, []arttrace.Event) []byte{arttracetest.File, arttracetest.Streaming} {
		for _, clock := range []arttrace.Clock{arttrace.ClockGlobal, arttrace.ClockWall, arttrace.ClockThreadCPU} {
			for version := 1; version <= 3; version++ {
				all = append(all, shape{version, clock, write})
			}
		}
		all = append(all, shape{3, arttrace.ClockDual, write})
	}
	return all
}

// TestThereAndBack: what was written is read, in every version, clock and variant.
func TestThereAndBack(t *testing.T) {
	for _, shape := range shapes() {
		trace, events := shop(shape.version, shape.clock)
		got, err := arttrace.Parse(shape.write(trace, events))
		require.NoError(t, err, shape)
		assert.Equal(t, events, slices.Collect(got.Events()), shape)
		assert.ElementsMatch(t, trace.Threads, got.Threads, shape)
		assert.ElementsMatch(t, trace.Methods, got.Methods, shape)
		assert.Equal(t, []any{trace.Version, trace.Clock, trace.Elapsed, trace.SinceBoot, trace.VM, trace.PID, shape.streaming()},
			[]any{got.Version, got.Clock, got.Elapsed, got.SinceBoot, got.VM, got.PID, got.Streaming}, shape)
	}
}

// TestCutAnywhere: a trace that ends early, as when the buffer of an SDK is full, has the records
// that are complete. One that ends before its records is none.
func TestCutAnywhere(t *testing.T) {
	for _, shape := range shapes() {
		trace, events := shop(shape.version, shape.clock)
		data := shape.write(trace, events)
		for end := range data {
			got, err := arttrace.Parse(data[:end])
			if err != nil {
				require.ErrorIs(t, err, arttrace.ErrMalformed, shape)
				continue
			}
			if !shape.streaming() || shape.version == 3 { // else the clock, and with it the field of the time, is in the part that is missing
				read := slices.Collect(got.Events())
				for i, event := range read {
					if shape.streaming() && shape.clock != arttrace.ClockDual {
						event.Wall, event.CPU = events[i].Wall, events[i].CPU
					}
					require.Equal(t, events[i], event, "%v, %d bytes", shape, end)
				}
			}
		}
	}
}

func TestMalformed(t *testing.T) {
	trace, events := shop(3, arttrace.ClockDual)
	file, stream := arttracetest.File(trace, events), arttracetest.Streaming(trace, events)
	change := func(data []byte, offsetOfMagic int, to ...byte) []byte {
		magic := len(data) - 32 - 14*len(events)
		if offsetOfMagic < 0 {
			magic = -offsetOfMagic
		}
		return slices.Replace(slices.Clone(data), magic+offsetOfMagic, magic+offsetOfMagic+len(to), to...)
	}
	for name, data := range map[string][]byte{
		"nothing":             nil,
		"text":                []byte("hello"),
		"no end":              []byte("*version\n3\n*threads\n*methods\n"),
		"no records":          []byte("*version\n3\n*end\n"),
		"another magic":       change(file, 0, 'F'),
		"version 4":           change(file, 4, 4),
		"header of 0 bytes":   change(file, 6, 0, 0),
		"header beyond data":  change(file, 6, 0xFF, 0xFF),
		"records of 0 bytes":  change(file, 16, 0),
		"records of 9 bytes":  change(file, 16, 9),
		"streaming in a file": change(file, 4, 0xF3),
		"a file in streaming": slices.Replace(slices.Clone(stream), 4, 5, 3),
	} {
		_, err := arttrace.Parse(data)
		assert.ErrorIs(t, err, arttrace.ErrMalformed, name)
	}
}

// TestLenientText: lines that cannot be read, unknown keys and repeated ids cost nothing else.
func TestLenientText(t *testing.T) {
	trace, events := shop(3, arttrace.ClockDual)
	data := arttracetest.File(trace, events)
	text, binary := data[:len(data)-32-14*len(events)], data[len(data)-32-14*len(events):]
	odd := "*version\n3\nalloc-count=5\nclock=sundial\nclock=dual\nelapsed-time-usec=99999999999999999999\nno equals sign\n" +
		"*threads\n\nmain\n41\n99999999999\tx\n41\tsecond\n*methods\nno id\n0xfffffffffff\ta\tb\n0x10\n0x10\tc\td\te\tf\tno line\n*odd\nx\n*end\n"
	require.NotEqual(t, string(text), odd)
	got, err := arttrace.Parse(append([]byte(odd), binary...))
	require.NoError(t, err)
	assert.Equal(t, events, slices.Collect(got.Events()))
	assert.Equal(t, []arttrace.Thread{{ID: 41}, {ID: 41, Name: "second"}}, got.Threads)
	assert.Equal(t, []arttrace.Method{{ID: 0x10, Class: "c", Name: "d", Signature: "e", File: "f"}}, got.Methods)
	assert.Zero(t, got.Elapsed)
}

// TestRecordsOfALaterVersion: records may be longer than those known; what is behind is skipped.
func TestRecordsOfALaterVersion(t *testing.T) {
	trace, events := shop(3, arttrace.ClockDual)
	data := arttracetest.File(trace, nil)
	data[len(data)-16] = 20
	for _, e := range events {
		record := arttracetest.File(trace, []arttrace.Event{e})
		data = append(append(data, record[len(record)-14:]...), 1, 2, 3, 4, 5, 6)
	}
	got, err := arttrace.Parse(data)
	require.NoError(t, err)
	assert.Equal(t, events, slices.Collect(got.Events()))
}

// random makes a trace in which some exits are missing and some have no enter, for tests of
// properties.
func random(r *rand.Rand) (arttrace.Trace, []arttrace.Event) {
	trace := arttrace.Trace{Version: 3, Clock: arttrace.ClockDual, VM: "art"}
	for i := range 1 + r.IntN(5) {
		trace.Threads = append(trace.Threads, arttrace.Thread{ID: uint32(100 + i), Name: fmt.Sprint("thread ", i)})
	}
	for i := range 1 + r.IntN(12) {
		trace.Methods = append(trace.Methods, arttrace.Method{ID: uint32(4 * i), Class: "C", Name: fmt.Sprint("m", i)})
	}
	var events []arttrace.Event
	now := uint32(r.IntN(30_000))
	for range r.IntN(200) {
		if r.IntN(3) == 0 {
			now += uint32(r.ExpFloat64() * 8_000)
		}
		events = append(events, arttrace.Event{
			Thread: uint16(100 + r.IntN(len(trace.Threads))), Method: uint32(4 * r.IntN(len(trace.Methods))),
			Action: arttrace.Action(r.IntN(10) / 4 % 3), Wall: now, CPU: now / 2,
		})
	}
	trace.Elapsed = time.Duration(now+uint32(r.IntN(50_000))+1) * time.Microsecond
	return trace, events
}
