// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace/arttracetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/perfetto/perfettotest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// Android traces: binary data in which few bytes can represent a lot of output.
var artAttacks = []attack{
	{name: "65,536 threads for a minute", status: 200, observations: 786_432, memory: memoryLarge,
		request: func() harness.Request { return artRequest(1, artThreads(1<<16)) }},
	{name: "3 million method entries without an exit", status: 413, reason: "too_much_memory", memory: memoryLarge,
		request: func() harness.Request {
			return artRequest(1, artEvents(3*million, func(i uint32) arttrace.Event { return arttrace.Event{Thread: 1, Method: 4 * i} }))
		}},
	{name: "3 million method exits in a stack of 1,000 methods", status: 413, reason: "too_much_memory", memory: memoryLarge,
		request: func() harness.Request {
			return artRequest(1, artEvents(3*million, func(i uint32) arttrace.Event {
				if i < 1000 {
					return arttrace.Event{Thread: 1, Method: 4 * i}
				}
				return arttrace.Event{Thread: 1, Method: 1 << 30, Action: arttrace.Exit}
			}))
		}},
	{name: "a different stack of 1,000 methods at each observation", status: 413, reason: "profiling_exceed_size_limit", memory: memoryLarge,
		request: func() harness.Request {
			return artRequest(1, artEvents(13_000, func(i uint32) arttrace.Event {
				if i < 999 {
					return arttrace.Event{Thread: 1, Method: 4 * i}
				}
				return arttrace.Event{Thread: 1, Method: 4 * (1000 + (i+1)/2), Action: arttrace.Action(1 - i%2), Wall: i * 5000}
			}))
		}},
	{name: "times that wrap around", status: 200, observations: 6061, memory: memorySmall,
		request: func() harness.Request {
			return artRequest(1, artEvents(1000, func(i uint32) arttrace.Event { return arttrace.Event{Thread: 1, Method: 4, Wall: i << 31} }))
		}},
	{name: "a class name of 30 MiB", status: 413, reason: "too_much_memory", memory: memoryLarge,
		request: func() harness.Request {
			trace := artTrace()
			trace.Methods = []arttrace.Method{{ID: 4, Class: strings.Repeat("x", 30<<20)}}
			return artRequestOf(1, arttracetest.File(trace, []arttrace.Event{{Thread: 1, Method: 4}}))
		}},
	{name: "1,000 one-minute traces with 50 waiting threads", status: 200, observations: 862_300, memory: memoryLarge,
		request: func() harness.Request { return artRequest(1000, artThreads(50)) }},
}

// The Perfetto traces are those of Relay's tests (relay-profiling, perfetto/convert/attacks.rs).
var perfettoAttacks = []attack{
	{name: "a name of 4 MiB shared by 100,000 frames", status: 200, observations: 1, memory: memorySmall,
		request: func() harness.Request {
			return perfettoRequest(perfettotest.Trace(perfettotest.Snapshot(), perfettotest.Interned(5, perfettotest.Text(1, strings.Repeat("x", 4<<20-100))),
				perfettoFrames(100_000), perfettotest.Interned(7, perfettotest.Callstack(1, ids(1000)...)), perfettotest.Sample(0, 40, 1)))
		}},
	{name: "a path of 4 MiB shared by 1,000 mappings", status: 413, reason: "profiling_exceed_size_limit", memory: memorySmall,
		request: func() harness.Request {
			var mappings []any
			for id := 1; id <= 1000; id++ {
				mappings = append(mappings, 19, perfettotest.Mapping(id, 1, id<<16, id<<16+4096, 0, 1))
			}
			return perfettoRequest(perfettotest.Trace(perfettotest.Snapshot(), perfettotest.Interned(17, perfettotest.Text(1, strings.Repeat("x", 4<<20-100))),
				perfettotest.Interned(mappings...), perfettoFrames(1000), perfettotest.Interned(7, perfettotest.Callstack(1, ids(1000)...)), perfettotest.Sample(0, 40, 1)))
		}},
	{name: "a million interned names", status: 413, reason: "profiling_exceed_size_limit", memory: memoryLimit,
		request: func() harness.Request {
			var packets [][]byte
			for i := range 100 {
				var names []any
				for id := range 10_000 {
					names = append(names, 5, perfettotest.Message(1, i*10_000+id+1))
				}
				packets = append(packets, perfettotest.Interned(names...))
			}
			return perfettoRequest(perfettotest.Trace(packets...))
		}},
	{name: "50,000 sequences", status: 413, reason: "profiling_exceed_size_limit", memory: memorySmall,
		request: func() harness.Request {
			var packets [][]byte
			for i := range 50_000 {
				packets = append(packets, perfettotest.Message(10, i+1, 13, 1, 12, perfettotest.Message(5, perfettotest.Text(1, "f"))))
			}
			return perfettoRequest(perfettotest.Trace(packets...))
		}},
	{name: "a call stack of a million frames that no sample uses", status: 413, reason: "profiling_exceed_size_limit", memory: memorySmall,
		request: func() harness.Request {
			return perfettoRequest(perfettotest.Trace(perfettotest.Snapshot(), perfettoFrames(1),
				perfettotest.Interned(7, perfettotest.Callstack(1, 1)), perfettotest.Sample(0, 40, 1), perfettotest.Interned(7, perfettotest.Callstack(2, ids(million)...))))
		}},
	{name: "50,000 samples with a call stack that changes each time", status: 413, reason: "profiling_exceed_size_limit", memory: memoryLimit,
		request: func() harness.Request {
			packets := [][]byte{perfettotest.Snapshot(), perfettoFrames(1000), perfettotest.Interned(7, perfettotest.Callstack(1, ids(1000)...))}
			for i := range 50_000 {
				packets = append(packets, perfettotest.Interned(5, perfettotest.Text(1, "f")), perfettotest.Sample(i, 40, 1))
			}
			return perfettoRequest(perfettotest.Trace(packets...))
		}},
}

func artTrace() arttrace.Trace {
	return arttrace.Trace{Version: 2, Clock: arttrace.ClockWall, Elapsed: 60 * time.Second}
}

func artEvents(n uint32, event func(i uint32) arttrace.Event) (events []arttrace.Event) {
	for i := range n {
		events = append(events, event(i))
	}
	return events
}

func artThreads(n uint32) []arttrace.Event {
	return artEvents(n, func(i uint32) arttrace.Event { return arttrace.Event{Thread: uint16(i), Method: 4} })
}

func artRequest(times int, events []arttrace.Event) harness.Request {
	return artRequestOf(times, arttracetest.File(artTrace(), events))
}

// artRequestOf returns an envelope with this number of chunks, each with the trace.
func artRequestOf(times int, trace []byte) harness.Request {
	encoded := base64.RawStdEncoding.EncodeToString(trace)
	body := []byte("{}\n")
	for range times {
		body = fmt.Appendf(body, "{\"type\":\"profile_chunk\"}\n{\"platform\":\"android\",\"chunk_id\":\"%s\",\"timestamp\":1700000000.5,\"sampled_profile\":\"%s\"}\n",
			harness.NewID(), encoded)
	}
	return harness.EnvelopeRequest(body)
}

func perfettoRequest(trace []byte) harness.Request {
	meta := fmt.Sprintf(`{"version":"2","platform":"android","chunk_id":"%s"}`, harness.NewID())
	return harness.EnvelopeRequest(fmt.Appendf(nil, "{}\n{\"type\":\"profile_chunk\",\"meta_length\":%d,\"length\":%d}\n%s%s\n", len(meta), len(meta)+len(trace), meta, trace))
}

// perfettoFrames returns a packet with n frames of function 1, each in its own mapping.
func perfettoFrames(n int) []byte {
	var frames []any
	for id := 1; id <= n; id++ {
		frames = append(frames, 6, perfettotest.Frame(id, 1, id, 0x1000+id))
	}
	return perfettotest.Interned(frames...)
}

func ids(n int) (ids []int) {
	for id := range n {
		ids = append(ids, id+1)
	}
	return ids
}
