// SPDX-License-Identifier: Apache-2.0

package toissues

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	sentryevent "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// shopLogs returns a log record before a failure, and the failure as Python's OpenTelemetry SDK
// logs it: the type without its module, and only the first argument as the message.
func shopLogs() (plog.Logs, plog.LogRecord) {
	logs := plog.NewLogs()
	resource := logs.ResourceLogs().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "shop")
	resource.Resource().Attributes().PutStr("service.version", "1.0")
	resource.Resource().Attributes().PutStr("telemetry.sdk.language", "python")
	records := resource.ScopeLogs().AppendEmpty().LogRecords()
	before := records.AppendEmpty()
	before.SetTraceID(pcommon.TraceID{1})
	before.SetTimestamp(1_700_000_000 * second)
	before.Body().SetStr("charging the card")
	record := records.AppendEmpty()
	record.SetTraceID(pcommon.TraceID{1})
	record.SetSpanID(pcommon.SpanID{3})
	record.SetTimestamp(1_700_000_001 * second)
	record.SetSeverityNumber(plog.SeverityNumberError)
	record.Body().SetStr("order failed")
	attrs := record.Attributes()
	attrs.PutStr("exception.type", "PaymentError")
	attrs.PutStr("exception.message", "17")
	attrs.PutStr("exception.stacktrace", python("charge"))
	attrs.PutStr("http.request.method", "POST")
	attrs.PutStr("http.route", "/cart")
	return logs, record
}

func logOptions() Options {
	o := options()
	o.FromLogs = All
	return o
}

func decodeEvent(t *testing.T, e *Event) *sentryevent.ErrorEvent {
	t.Helper()
	require.Empty(t, fakesentry.Verdict(&sentry.Envelope{Header: sentry.EnvelopeHeader{EventID: e.EventID, Trace: e.Trace}, Items: []sentry.Item{e.Item}}))
	out, err := sentryevent.DecodeEvent(e.Item.Payload)
	require.NoError(t, err)
	return out
}

func TestExceptionOfALogRecord(t *testing.T) {
	logs, record := shopLogs()
	export := FromLogs(logs, logOptions())
	require.Empty(t, export.Lost)
	require.Len(t, export.Events, 1)
	out := decodeEvent(t, &export.Events[0])
	assert.Equal(t, "error", out.Level)
	assert.Equal(t, "POST /cart", out.Transaction)
	assert.Equal(t, "order failed", out.Message.Formatted)
	assert.Equal(t, "shop@1.0", out.Release)
	require.Len(t, out.Exceptions, 1)
	assert.Equal(t, "PaymentError", out.Exceptions[0].Type)
	assert.Equal(t, "card of order 17 declined", out.Exceptions[0].Value, "as Sentry's SDK: str(e)")
	assert.False(t, out.Exceptions[0].Mechanism.Handled.Set)
	require.Len(t, out.Breadcrumbs, 1)
	assert.Equal(t, "charging the card", out.Breadcrumbs[0].Message)

	record.SetSeverityNumber(plog.SeverityNumberFatal2)
	export = FromLogs(logs, logOptions())
	out = decodeEvent(t, &export.Events[0])
	assert.Equal(t, "fatal", out.Level)
	assert.True(t, out.Exceptions[0].Mechanism.Handled.Set && !out.Exceptions[0].Mechanism.Handled.Value)
}

// TestLogsDup: the same exception on a span and on a log record is one failure.
func TestLogsDup(t *testing.T) {
	logs, _ := shopLogs()
	traces, spans := shop("python")
	fail(spans[2], "shop.payment.PaymentError", "card of order 17 declined", python("charge"))
	ofLogs, ofSpans := FromLogs(logs, logOptions()), FromTraces(traces, logOptions())
	require.Len(t, ofLogs.Events, 1)
	require.Len(t, ofSpans.Events, 1)
	assert.Equal(t, ofSpans.Events[0].Failure, ofLogs.Events[0].Failure)
	assert.Equal(t, ofSpans.Events[0].Kind, ofLogs.Events[0].Kind)
}

func TestLogRecordsWithoutEvents(t *testing.T) {
	o := logOptions()
	logs, record := shopLogs()
	record.Attributes().PutStr("sentry.item.type", "event")
	assert.Equal(t, Export{}, FromLogs(logs, o), "sent as the item")

	logs, _ = shopLogs()
	logs.ResourceLogs().At(0).Resource().Attributes().PutStr("telemetry.sdk.name", "sentry.python")
	assert.Equal(t, []discard.Loss{{Reason: ReasonSentrySDK, Count: 1}}, FromLogs(logs, o).Lost)
	o.SkipIfSentrySDK = false
	assert.Len(t, FromLogs(logs, o).Events, 1)
	o.FromLogs = None
	assert.Empty(t, FromLogs(logs, o).Events)
}

// TestLogRecordsWithoutATrace: each is a failure of its own, and its event has no trace.
func TestLogRecordsWithoutATrace(t *testing.T) {
	logs, record := shopLogs()
	record.SetTraceID(pcommon.TraceID{})
	record.SetSpanID(pcommon.SpanID{})
	again := logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().AppendEmpty()
	record.CopyTo(again)
	again.SetTimestamp(record.Timestamp() + 1)
	export := FromLogs(logs, logOptions())
	require.Len(t, export.Events, 2)
	for i := range export.Events {
		assert.Nil(t, export.Events[i].Trace)
		assert.Empty(t, decodeEvent(t, &export.Events[i]).Trace.TraceID)
	}
	assert.NotEqual(t, export.Events[0].EventID, export.Events[1].EventID)
}

// Sentry does its own symbolication, so it gets the stack and the type as they were before the
// processor symbolicate.
func TestSymbolicatedLogRecord(t *testing.T) {
	logs, record := shopLogs()
	want := decodeEvent(t, &FromLogs(logs, logOptions()).Events[0])
	attrs := record.Attributes()
	attrs.PutStr("exception.type.original", "PaymentError")
	attrs.PutStr("exception.stacktrace.original", python("charge"))
	attrs.PutStr("symbolication.status", "ok")
	attrs.PutStr("exception.type", "Renamed")
	attrs.PutStr("exception.stacktrace", python("renamed"))
	got := decodeEvent(t, &FromLogs(logs, logOptions()).Events[0])
	assert.Equal(t, want.Exceptions, got.Exceptions)
	assert.Equal(t, want.Extra, got.Extra)
}

// TestNestedClassOfJava: spans of OpenTelemetry's Java SDK state the canonical name of a nested
// class, the stack and log records its binary name, as in events of Sentry's SDK. Both are the same
// failure.
func TestNestedClassOfJava(t *testing.T) {
	var kinds []string
	for _, name := range []string{"com.example.Shop.PaymentError", "com.example.Shop$PaymentError"} {
		logs, record := shopLogs()
		logs.ResourceLogs().At(0).Resource().Attributes().PutStr("telemetry.sdk.language", "java")
		record.Attributes().PutStr("exception.type", name)
		record.Attributes().PutStr("exception.stacktrace", "com.example.Shop$PaymentError: 17\n\tat com.example.Shop.pay(Shop.java:12)\n")
		export := FromLogs(logs, logOptions())
		require.Len(t, export.Events, 1)
		kinds = append(kinds, export.Events[0].Kind)
		thrown := decodeEvent(t, &export.Events[0]).Exceptions[0]
		assert.Equal(t, "Shop$PaymentError", thrown.Type)
		assert.Equal(t, "com.example", thrown.Module)
	}
	assert.Equal(t, kinds[0], kinds[1])
}

// TestOutputOfSmallRecordsIsBounded: every event repeats the names of its resource, in which JSON
// writes a control character as six.
func TestOutputOfSmallRecordsIsBounded(t *testing.T) {
	long := strings.Repeat("\x01", attr.MaxNameBytes)
	for name, fill := range map[string]func(plog.LogRecord, pcommon.Map){
		"resource": func(plog.LogRecord, pcommon.Map) {},
		"trace": func(r plog.LogRecord, _ pcommon.Map) {
			r.SetTraceID(pcommon.TraceID{1})
			r.SetSpanID(pcommon.SpanID{1})
		},
		"tags": func(_ plog.LogRecord, attrs pcommon.Map) { attrs.PutStr(DefaultTags[0], long[:20]) },
		"chain": func(_ plog.LogRecord, attrs pcommon.Map) {
			attrs.PutStr(semconv.ExceptionStacktrace, "E: x\n\tat a."+long+"(c)\n"+strings.Repeat("Caused by: E\n\t... 1 more\n", 49))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			logs := plog.NewLogs()
			resource := logs.ResourceLogs().AppendEmpty()
			for _, key := range []string{
				semconv.ServiceName, semconv.ServiceVersion, semconv.ServiceNamespace, semconv.ServiceInstanceID, semconv.DeploymentEnvironment,
				semconv.HostName, semconv.TelemetrySDKName, semconv.TelemetrySDKLanguage, semconv.ProcessRuntimeName, semconv.ProcessRuntimeVersion,
			} {
				resource.Resource().Attributes().PutStr(key, long)
			}
			records := resource.ScopeLogs().AppendEmpty().LogRecords()
			for i := range scaled(5_000) {
				record := records.AppendEmpty()
				record.Attributes().PutStr(semconv.ExceptionType, strconv.Itoa(i))
				fill(record, record.Attributes())
			}
			o := options()
			o.FromLogs = All
			export := FromLogs(logs, o)
			require.Len(t, export.Events, records.Len())
			require.NotEmpty(t, export.Flaws)
			total, size := 0, new(plog.ProtoMarshaler).LogsSize(logs)
			for _, e := range export.Events {
				total += len(e.Payload)
			}
			t.Logf("%d bytes become %d, %.2f of the bound", size, total, float64(total)/float64(attr.ExportBound(size)))
			assert.LessOrEqual(t, total, attr.ExportBound(size), "%d bytes of %d", total, size)
		})
	}
}
