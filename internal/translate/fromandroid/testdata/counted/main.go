// SPDX-License-Identifier: Apache-2.0

// Command counted measures how the work of translating ART traces grows.
package main

import (
	"fmt"
	"log"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace/arttracetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/counted"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromandroid"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

const period = 10 * time.Millisecond

// events are n calls and returns of each shape. A call lasts a period.
var events = map[string]func(n int) []arttrace.Event{
	"one method": func(n int) []arttrace.Event { return calls(n, func(int) (thread, method int) { return 1, 1 }) },
	"different methods": func(n int) []arttrace.Event {
		return calls(n, func(i int) (thread, method int) { return 1, 1 + i })
	},
	"different threads": func(n int) []arttrace.Event {
		return calls(n, func(i int) (thread, method int) { return 1 + i, 1 })
	},
	"exits without a call": func(n int) (all []arttrace.Event) {
		all = append(all, at(0, 1, 1, arttrace.Enter))
		for i := range n {
			all = append(all, at(i, 1, 2, arttrace.Exit))
		}
		return all
	},
	"within a deep stack": func(n int) (all []arttrace.Event) {
		for i := range 100 {
			all = append(all, at(0, 1, 1+i, arttrace.Enter))
		}
		return append(all, calls(n, func(i int) (thread, method int) { return 1, 200 + i%2 })...)
	},
	"recursion": func(n int) (all []arttrace.Event) { // which is observed once, at its deepest
		for range n {
			all = append(all, at(0, 1, 1, arttrace.Enter))
		}
		for range n {
			all = append(all, at(1, 1, 1, arttrace.Exit))
		}
		return all
	},
}

func at(i, thread, method int, action arttrace.Action) arttrace.Event {
	return arttrace.Event{Thread: uint16(thread), Method: uint32(4 * method), Action: action, Wall: uint32(i) * uint32(period/time.Microsecond)}
}

func calls(n int, of func(i int) (thread, method int)) (all []arttrace.Event) {
	for i := range n {
		thread, method := of(i)
		all = append(all, at(i, thread, method, arttrace.Enter), at(i+1, thread, method, arttrace.Exit))
	}
	return all
}

func main() {
	operations := map[string]counted.Operation{}
	for name, shape := range events {
		for format, file := range map[string]func(arttrace.Trace, []arttrace.Event) []byte{"file": arttracetest.File, "stream": arttracetest.Streaming} {
			operations[name+", "+format] = func(n int) func() {
				trace := arttrace.Trace{Version: 2, Clock: arttrace.ClockWall, Elapsed: time.Duration(n+1) * period}
				for i := range n {
					trace.Threads = append(trace.Threads, arttrace.Thread{ID: uint32(1 + i), Name: fmt.Sprint("thread ", i)})
					trace.Methods = append(trace.Methods, arttrace.Method{ID: uint32(4 * (1 + i)), Class: fmt.Sprint("c", i), Name: "m", Signature: "()V"})
				}
				data := file(trace, shape(n))
				return func() {
					read, err := fromandroid.MethodTrace(data, period, 1<<20)
					if err != nil {
						log.Fatal(name, ": ", err)
					}
					b := dictionary.NewBuilder(pprofile.NewProfiles().Dictionary())
					read.AddTo(pprofile.NewProfile(), b, 1)
					b.Finish()
					b.Release()
				}
			}
		}
	}
	counted.Main(1500, operations)
}
