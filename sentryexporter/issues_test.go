// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/toissues"
)

const discarded = "otelcol_exporter_sentry_envelope_exceptions_discarded"

// failedSpan is a span with an exception that left it.
func failedSpan(trace byte) ptrace.Traces {
	traces := someSpan()
	span := traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	span.SetTraceID(pcommon.TraceID{trace})
	span.Status().SetCode(ptrace.StatusCodeError)
	exception := span.Events().AppendEmpty()
	exception.SetName("exception")
	exception.SetTimestamp(span.EndTimestamp())
	exception.Attributes().PutStr("exception.type", "CheckoutError")
	exception.Attributes().PutStr("exception.message", "order 17 failed")
	exception.Attributes().PutStr("exception.stacktrace",
		"Traceback (most recent call last):\n  File \"/app/shop.py\", line 3, in checkout\n    raise CheckoutError\nCheckoutError: order 17 failed\n")
	return traces
}

func handledException() ptrace.Traces {
	traces := failedSpan(1)
	traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Status().SetCode(ptrace.StatusCodeOk)
	return traces
}

// taken returns the envelopes of a type that Sentry has accepted.
func (e exporters) taken(kind sentry.ItemType) (envelopes []*sentry.Envelope) {
	for _, envelope := range e.sentry.Taken() {
		if envelope.Items[0].Header.Type == kind {
			envelopes = append(envelopes, envelope)
		}
	}
	return envelopes
}

// TestExceptionsBecomeEvents: the event is in an envelope of its own, and Sentry accepts all of it.
func TestExceptionsBecomeEvents(t *testing.T) {
	e := startBoth(t, withoutQueue)
	require.NoError(t, e.traces(failedSpan(1)))
	require.Len(t, e.taken(sentry.ItemTransaction), 1)
	events := e.taken(sentry.ItemEvent)
	require.Len(t, events, 1)
	assert.Empty(t, fakesentry.Verdict(events[0]))
	assert.Equal(t, fakesentry.PublicKey, events[0].Header.Trace.PublicKey)
	assert.Equal(t, int64(1), e.counts("otelcol_exporter_sentry_envelope_items")["outcome=sent type=event"])

	require.NoError(t, e.traces(handledException()))
	assert.Len(t, e.taken(sentry.ItemEvent), 1)
	assert.Equal(t, map[string]int64{"reason=exception_handled": 1}, e.counts(discarded))
}

func TestNoEvents(t *testing.T) {
	e := startBoth(t, func(cfg *Config) { withoutQueue(cfg); cfg.Errors.FromSpans = "none" })
	require.NoError(t, e.traces(failedSpan(1)))
	assert.Len(t, e.sentry.Taken(), 1)
	assert.Empty(t, e.counts(discarded))
}

// TestOneFailureInSeveralMessages: outer spans end later, and often arrive in later messages.
func TestOneFailureInSeveralMessages(t *testing.T) {
	for dedupe, want := range map[time.Duration]int{time.Minute: 2, 0: 3} {
		e := startBoth(t, func(cfg *Config) { withoutQueue(cfg); cfg.Errors.Dedupe = dedupe })
		require.NoError(t, e.traces(failedSpan(1)))
		outer := failedSpan(1)
		outer.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).SetSpanID(pcommon.SpanID{9})
		require.NoError(t, e.traces(outer))
		require.NoError(t, e.traces(failedSpan(2))) // another failure
		assert.Len(t, e.taken(sentry.ItemEvent), want)
		if want == 2 {
			assert.Equal(t, map[string]int64{"reason=duplicate_exception": 1}, e.counts(discarded))
		}
	}
}

// TestResentMessage: a message that could not be delivered comes again, and its events with it,
// with the same IDs.
func TestResentMessage(t *testing.T) {
	e := startBoth(t, withoutRetry)
	var ids []string
	e.sentry.Answer(func(r *fakesentry.Request) fakesentry.Answer {
		if r.Envelope.Items[0].Header.Type != sentry.ItemEvent {
			return fakesentry.Answer{}
		}
		ids = append(ids, r.Envelope.Header.EventID)
		return fakesentry.Answer{Status: []int{500, 200}[min(len(ids), 2)-1]}
	})
	require.Error(t, e.traces(failedSpan(1)))
	require.NoError(t, e.traces(failedSpan(1)))
	require.NoError(t, e.traces(failedSpan(1)), "now it is a duplicate")
	require.Len(t, ids, 2)
	assert.Equal(t, ids[0], ids[1])
	assert.Equal(t, map[string]int64{"reason=duplicate_exception": 1}, e.counts(discarded))
}

// TestFlood: a loop of exceptions yields a bounded number of events. All others are counted, and
// reported to Sentry.
func TestFlood(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 60
		messages, spans := 20, 500
		if !testsize.Full() {
			messages, spans = 5, 100
		}
		e := startBoth(t, func(cfg *Config) { withoutQueue(cfg); cfg.ReportLosses = true; cfg.Errors.MaxPerMinute = limit })
		for m := range messages {
			traces := failedSpan(1)
			scope := traces.ResourceSpans().At(0).ScopeSpans().At(0)
			for i := range spans - 1 {
				scope.Spans().At(0).CopyTo(scope.Spans().AppendEmpty())
				scope.Spans().At(i + 1).SetTraceID(pcommon.TraceID{byte(m), byte(i), byte(i >> 8), 1})
			}
			scope.Spans().At(0).SetTraceID(pcommon.TraceID{byte(m), 0, 0, 2})
			require.NoError(t, e.traces(traces))
		}
		assert.Len(t, e.taken(sentry.ItemEvent), limit)
		assert.Equal(t, map[string]int64{"reason=sampled": int64(messages*spans - limit)}, e.counts(discarded))

		require.NotEmpty(t, e.taken(sentry.ItemClientReport))
		var report struct {
			Discarded []struct {
				Reason, Category string
				Quantity         int
			} `json:"discarded_events"`
		}
		require.NoError(t, json.Unmarshal(e.taken(sentry.ItemClientReport)[0].Items[0].Payload, &report))
		require.Len(t, report.Discarded, 1)
		assert.Equal(t, "sample_rate", report.Discarded[0].Reason)
		assert.Equal(t, "error", report.Discarded[0].Category)
		assert.Positive(t, report.Discarded[0].Quantity)
	})
}

func TestFloodOfKinds(t *testing.T) {
	var f flood
	minute := time.Unix(1_700_000_040, 0)
	for i := range maxKinds {
		require.True(t, f.allow(fmt.Sprint(i), 1, minute))
		require.False(t, f.allow(fmt.Sprint(i), 1, minute))
	}
	assert.True(t, f.allow("another", 1, minute))
	assert.False(t, f.allow("one more", 1, minute), "further kinds have one limit")
	assert.Len(t, f.counts, maxKinds+1)
	assert.True(t, f.allow("0", 1, minute.Add(time.Minute)))
	assert.True(t, f.allow("0", 0, minute.Add(time.Minute)), "no limit")
}

// failedLog is the exception of failedSpan in a log record.
func failedLog(trace byte) plog.Logs {
	logs := plog.NewLogs()
	resource := logs.ResourceLogs().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "shop")
	record := resource.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	record.SetTraceID(pcommon.TraceID{trace})
	record.SetSpanID(pcommon.SpanID{1})
	record.SetTimestamp(1_700_000_000_000_000_000)
	record.Body().SetStr("order 17 failed")
	span := failedSpan(trace).ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	span.Events().At(0).Attributes().CopyTo(record.Attributes())
	return logs
}

// TestOneFailureInTwoSignals: instrumentations with logs/dup record an exception on the span and in
// a log record. The record is also sent as a log.
func TestOneFailureInTwoSignals(t *testing.T) {
	e := startBoth(t, withoutQueue)
	require.NoError(t, e.logs(failedLog(1)))
	require.NoError(t, e.traces(failedSpan(1)))
	require.NoError(t, e.logs(failedLog(2)))
	assert.Len(t, e.taken(sentry.ItemEvent), 2)
	assert.Len(t, e.taken(sentry.ItemLog), 2)
	assert.Equal(t, map[string]int64{"reason=duplicate_exception": 1}, e.counts(discarded))
}

// TestFloodOfAMillion: a loop of exceptions yields a bounded number of events, and every other one
// is counted. Their traces differ, so they are not duplicates.
func TestFloodOfAMillion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		total := 1_000_000
		if !testsize.Full() {
			total = 5_000
		}
		h := &harness{t: t, metrics: componenttest.NewTelemetry()}
		e := newTestExporter(t, testConfig(fakesentry.StartInMemory(t), func(cfg *Config) { cfg.Errors.MaxPerMinute = 10 }), h.settings())
		created := 0
		const each = 1000
		logs := plog.NewLogs()
		records := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
		for i := range each {
			record := records.AppendEmpty()
			record.SetTraceID(pcommon.TraceID{byte(i), byte(i >> 8), 1})
			record.SetSpanID(pcommon.SpanID{1})
			record.SetTimestamp(1_700_000_000_000_000_000)
			record.Attributes().PutStr("exception.type", "CheckoutError")
			record.Attributes().PutStr("exception.message", "order failed")
		}
		export := toissues.FromLogs(logs, toissues.Options{FromLogs: toissues.All})
		require.Len(t, export.Events, each)
		for first := 0; first < total; first += each {
			for i := range export.Events { // as those of other traces
				binary.LittleEndian.PutUint32(export.Events[i].Failure[:], uint32(first+i))
			}
			issues, err := e.convertIssues(t.Context(), export)
			require.NoError(t, err)
			issues.finish(t.Context(), nil)
			created += len(issues.requests)
		}
		assert.Equal(t, 10, created)
		assert.Equal(t, int64(total-created), h.counts(discarded)["reason=sampled"])
		assert.Equal(t, total-created, e.losses.counts[loss{lossSampled, sentry.CategoryError}])
		require.NoError(t, h.metrics.Shutdown(t.Context()))
	})
}
