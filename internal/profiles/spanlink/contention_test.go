// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"fmt"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// benchTraces returns a message with the spans of a transaction: a segment and its children.
func benchTraces(session, trace uint64, count int) ptrace.Traces {
	traces := ptrace.NewTraces()
	resource := traces.ResourceSpans().AppendEmpty()
	for key, value := range map[string]string{
		"sentry.project_id": "42", "service.name": "shop", "telemetry.sdk.name": "sentry.python", "telemetry.sdk.version": "2.68.0",
		"deployment.environment.name": "production", "service.version": "1.2.3",
	} {
		resource.Resource().Attributes().PutStr(key, value)
	}
	spans := resource.ScopeSpans().AppendEmpty().Spans()
	for i := range uint64(count) {
		span := spans.AppendEmpty()
		span.SetTraceID(traceID(trace))
		span.SetSpanID(spanID(i + 1))
		if i > 0 {
			span.SetParentSpanID(spanID(1))
		}
		span.SetStartTimestamp(1)
		span.SetEndTimestamp(2)
		span.SetName("GET /")
		for key, value := range map[string]string{
			"sentry.profiler_id": fmt.Sprintf("%032d", session), "thread.id": fmt.Sprint(trace % 10), "thread.name": "worker",
			"sentry.segment.id": spanID(1).String(), "http.request.method": "GET", "url.path": "/", "sentry.op": "db",
		} {
			span.Attributes().PutStr(key, value)
		}
	}
	return traces
}

// BenchmarkContention: several goroutines add messages of 20 spans, and one in 20 operations links
// a profile. wait-% is the part of the goroutines' time in which they wait for a lock: 100 % would
// be all goroutines, all the time.
func BenchmarkContention(b *testing.B) {
	const spans, messages = 20, 4096
	for _, goroutines := range []int{1, 2, 4, 8} {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) {
			x := NewIndex(Sentry, Limits{Spans: 1_000_000, MaxAge: time.Hour})
			input := make([]ptrace.Traces, messages)
			for i := range input {
				input[i] = benchTraces(uint64(i%100), uint64(i+1), spans)
			}
			profile := benchProfile(1000)
			var working sync.WaitGroup
			before, began := mutexWait(), time.Now()
			for g := range goroutines {
				working.Go(func() {
					for n := g; n < b.N; n += goroutines {
						if n%20 == 0 {
							p := pprofile.NewProfiles()
							profile.CopyTo(p)
							x.Link(p, Options{Now: start, Ambiguous: Skip})
						}
						now := start.Add(time.Duration(n/messages) * 2 * time.Hour) // the same spans again, after they have expired
						x.AddTraces("", input[n%messages], now)
					}
				})
			}
			working.Wait()
			took := time.Since(began)
			b.ReportMetric(float64(b.N*spans)/took.Seconds(), "spans/s")
			b.ReportMetric(100*(mutexWait()-before)/took.Seconds()/float64(goroutines), "wait-%")
		})
	}
}

// mutexWait returns the total time that goroutines have waited for mutexes, in seconds.
func mutexWait() float64 {
	sample := []metrics.Sample{{Name: "/sync/mutex/wait/total:seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64()
}

// BenchmarkAddTraces: read is the part of adding that does not hold the lock.
func BenchmarkAddTraces(b *testing.B) {
	const spans, messages = 20, 4096
	input := make([]ptrace.Traces, messages)
	for i := range input {
		input[i] = benchTraces(uint64(i%100), uint64(i+1), spans)
	}
	b.Run("read", func(b *testing.B) {
		keys := compile(Sentry)
		for n := range b.N {
			count := 0
			for range keys.spans("", input[n%messages]) {
				count++
			}
			if count != spans {
				b.Fatal(count)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/spans, "ns/span")
	})
	b.Run("all", func(b *testing.B) {
		x := NewIndex(Sentry, Limits{Spans: 1_000_000, MaxAge: time.Hour})
		for n := range b.N {
			now := start.Add(time.Duration(n/messages) * 2 * time.Hour)
			if added := x.AddTraces("", input[n%messages], now); added.Indexed != spans {
				b.Fatal(added)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/spans, "ns/span")
	})
}
