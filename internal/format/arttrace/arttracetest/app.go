// SPDX-License-Identifier: Apache-2.0

package arttracetest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
)

// The shape of App, which is that of two recorded traces of an app that starts.
const (
	appThreads = 60
	appMethods = 2000
	appUnknown = 60 // methods that the trace does not describe, because they were unloaded
	appRecords = 20_000
	appDepth   = 60
)

// App returns the trace of an app: few threads work, others wait in a method; calls are nested, and
// many are still open at the end. The result is always the same.
func App() (arttrace.Trace, []arttrace.Event) {
	r := rand.New(rand.NewPCG(1, 1))
	trace := arttrace.Trace{Version: 3, Clock: arttrace.ClockDual, VM: "art", PID: "4711", SinceBoot: 90 * time.Second}
	for i := range appThreads {
		thread := arttrace.Thread{ID: 4711, Name: "main"}
		if i > 0 {
			thread = arttrace.Thread{ID: uint32(4720 + i), Name: fmt.Sprintf("pool-%d-thread-%d", i/7, i%7)}
		}
		trace.Threads = append(trace.Threads, thread)
	}
	packages := []string{"android.os", "java.util.concurrent", "kotlinx.coroutines", "com.example.shop", "com.example.shop.cart"}
	for i := range appMethods {
		class := fmt.Sprintf("%s.Class%d", packages[i%len(packages)], i/17)
		trace.Methods = append(trace.Methods, arttrace.Method{ID: uint32(0x1000 + 4*i), Class: class, Name: fmt.Sprintf("method%d", i),
			Signature: "(Ljava/lang/Object;)V", File: fmt.Sprintf("Class%d.java", i/17), Line: uint32(1 + i%900)})
	}
	var events []arttrace.Event
	stacks := make([][]uint32, appThreads)
	cpu := make([]uint32, appThreads)
	now := uint32(300)
	for range appRecords {
		thread := min(int(r.ExpFloat64()*5), appThreads-1) // most records are those of the first threads
		took := uint32(r.ExpFloat64() * 150)
		now += took
		cpu[thread] += took * uint32(r.IntN(3)) / 2
		e := arttrace.Event{Thread: uint16(trace.Threads[thread].ID), Wall: now, CPU: cpu[thread]}
		if depth := len(stacks[thread]); depth > 0 && (depth >= appDepth || r.IntN(100) < 48) {
			e.Method, e.Action = stacks[thread][depth-1], arttrace.Exit
			if r.IntN(50) == 0 {
				e.Action = arttrace.Unwind
			}
			stacks[thread] = stacks[thread][:depth-1]
		} else {
			e.Method = uint32(0x1000 + 4*r.IntN(appMethods+appUnknown))
			stacks[thread] = append(stacks[thread], e.Method)
		}
		events = append(events, e)
	}
	trace.Elapsed = time.Duration(now+5_000) * time.Microsecond
	return trace, events
}
