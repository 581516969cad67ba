// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

const stackOfGo = "goroutine 1 [running]:\nmain.checkout()\n\t/app/shop.go:7 +0x1\n"

// spanOfGo is a failure on a span of OpenTelemetry's SDK for Go.
func spanOfGo(trace byte) ptrace.Traces {
	traces := failedSpan(trace)
	traces.ResourceSpans().At(0).Resource().Attributes().PutStr("telemetry.sdk.language", "go")
	attrs := traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Events().At(0).Attributes()
	attrs.PutStr("exception.type", "example.com/shop.CheckoutError")
	attrs.PutStr("exception.stacktrace", stackOfGo)
	return traces
}

// logOfGo is the same failure in a log record, which has no stack.
func logOfGo(trace byte) plog.Logs {
	logs := failedLog(trace)
	logs.ResourceLogs().At(0).Resource().Attributes().PutStr("telemetry.sdk.language", "go")
	attrs := logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Attributes()
	attrs.PutStr("exception.type", "shop.CheckoutError")
	attrs.Remove("exception.stacktrace")
	return logs
}

// eventsOf returns the payloads of the events of a trace.
func (e exporters) eventsOf(trace byte) (payloads []string) {
	for _, envelope := range e.taken(sentry.ItemEvent) {
		if envelope.Header.Trace.TraceID == (pcommon.TraceID{trace}).String() {
			payloads = append(payloads, string(envelope.Items[0].Payload))
		}
	}
	return payloads
}

// TestFailuresOfGoInTwoSignals: each failure is one event, with the stack if a span states it, in
// any order of the signals.
func TestFailuresOfGoInTwoSignals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startBoth(t, nil)
		const logFirst, onlyLog, spanFirst = 1, 2, 3
		require.NoError(t, e.logs(logOfGo(logFirst)))
		require.NoError(t, e.logs(logOfGo(onlyLog)))
		require.NoError(t, e.logs(logOfGo(onlyLog)))
		require.NoError(t, e.traces(spanOfGo(spanFirst)))
		require.NoError(t, e.logs(logOfGo(spanFirst)))
		require.NoError(t, e.traces(spanOfGo(logFirst)))
		time.Sleep(holdTime - time.Millisecond)
		for _, trace := range []byte{logFirst, spanFirst} {
			require.Len(t, e.eventsOf(trace), 1)
		}
		assert.Empty(t, e.eventsOf(onlyLog), "it waits for its span")

		time.Sleep(time.Millisecond)
		synctest.Wait()
		require.Len(t, e.eventsOf(onlyLog), 1)
		require.NoError(t, e.traces(spanOfGo(onlyLog)))
		synctest.Wait()
		assert.Equal(t, map[string]int64{"reason=duplicate_exception": 4}, e.counts(discarded))
		for trace, stacks := range map[byte]int{logFirst: 1, onlyLog: 0, spanFirst: 1} {
			require.Len(t, e.eventsOf(trace), 1)
			assert.Equal(t, stacks, strings.Count(e.eventsOf(trace)[0], `"stacktrace"`))
		}
		assert.Len(t, e.taken(sentry.ItemLog), 4)
	})
}

// TestHeldEventIsRetried: it was decided before that it is not a duplicate.
func TestHeldEventIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startBoth(t, nil)
		require.NoError(t, e.logs(logOfGo(1)))
		failures := 0
		e.sentry.Answer(func(r *fakesentry.Request) fakesentry.Answer {
			if r.Envelope.Items[0].Header.Type != sentry.ItemEvent || failures == 2 {
				return fakesentry.Answer{}
			}
			failures++
			return fakesentry.Answer{Status: 500}
		})
		time.Sleep(2 * holdTime)
		assert.Len(t, e.eventsOf(1), 1)
		assert.Empty(t, e.counts(discarded))
	})
}

// TestNothingWaitsBehindHeldEvents: there are more held events than consumers, and another error
// arrives after them.
func TestNothingWaitsBehindHeldEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startBoth(t, func(cfg *Config) { cfg.Errors.MaxPerMinute = 0 })
		const held = 100
		for trace := range byte(held) {
			require.NoError(t, e.logs(logOfGo(trace+1)))
		}
		require.NoError(t, e.logs(failedLog(held+1)))
		synctest.Wait()
		assert.Len(t, e.eventsOf(held+1), 1)
		assert.Len(t, e.taken(sentry.ItemEvent), 1, "the others are not due yet")
		time.Sleep(holdTime)
		synctest.Wait()
		assert.Len(t, e.taken(sentry.ItemEvent), held+1)
		assert.Empty(t, e.counts(discarded))
	})
}

// TestHeldEventsAtShutdown: an exporter that stops sends the events that wait.
func TestHeldEventsAtShutdown(t *testing.T) {
	var held exporters
	t.Run("", func(t *testing.T) {
		held = startBoth(t, nil)
		require.NoError(t, held.logs(logOfGo(1)))
		assert.Empty(t, held.eventsOf(1))
	})
	assert.Len(t, held.eventsOf(1), 1)
}

// TestFailuresOfGoWithoutQueue: nothing waits, so the first record is the event.
func TestFailuresOfGoWithoutQueue(t *testing.T) {
	e := startBoth(t, withoutQueue)
	require.NoError(t, e.logs(logOfGo(1)))
	require.NoError(t, e.traces(spanOfGo(1)))
	assert.Len(t, e.eventsOf(1), 1)
	assert.Equal(t, map[string]int64{"reason=duplicate_exception": 1}, e.counts(discarded))
}
