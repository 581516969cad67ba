// SPDX-License-Identifier: Apache-2.0

package toissues

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// FuzzFromTraces: any message becomes events that ingest accepts, within the bound, and stays as it
// is. The same message always results in the same events.
func FuzzFromTraces(f *testing.F) {
	random := rand.New(rand.NewPCG(19, 6))
	for _, stack := range recordedStacks(f) {
		traces, spans := shop(stack.language)
		fail(spans[2], "shop.Error", "failed", stack.text)
		fail(spans[1], "Error", "failed", stack.text)
		randomAttributes(random, spans[0].Attributes())
		f.Add([]byte(marshal(f, traces)))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		traces, err := new(ptrace.ProtoUnmarshaler).UnmarshalTraces(message)
		if err != nil {
			return
		}
		before := marshal(t, traces)
		checkEvents(t, FromTraces(traces, fuzzOptions()), FromTraces(traces, fuzzOptions()), len(before))
		require.Equal(t, before, marshal(t, traces), "the input has changed")
	})
}

// FuzzFromLogs is FuzzFromTraces for log records.
func FuzzFromLogs(f *testing.F) {
	random := rand.New(rand.NewPCG(19, 7))
	for _, stack := range recordedStacks(f) {
		logs := plog.NewLogs()
		resource := logs.ResourceLogs().AppendEmpty()
		resource.Resource().Attributes().PutStr("telemetry.sdk.language", stack.language)
		for range 2 {
			record := resource.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
			record.SetTraceID(pcommon.TraceID{1})
			record.Attributes().PutStr("exception.type", "shop.Error")
			record.Attributes().PutStr("exception.stacktrace", stack.text)
			randomAttributes(random, record.Attributes())
		}
		message, err := new(plog.ProtoMarshaler).MarshalLogs(logs)
		require.NoError(f, err)
		f.Add(message)
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		logs, err := new(plog.ProtoUnmarshaler).UnmarshalLogs(message)
		if err != nil {
			return
		}
		before, err := new(plog.ProtoMarshaler).MarshalLogs(logs)
		require.NoError(t, err)
		checkEvents(t, FromLogs(logs, fuzzOptions()), FromLogs(logs, fuzzOptions()), len(before))
		after, err := new(plog.ProtoMarshaler).MarshalLogs(logs)
		require.NoError(t, err)
		require.Equal(t, before, after, "the input has changed")
	})
}

func fuzzOptions() Options {
	o := options()
	o.FromSpans, o.FromLogs, o.IncludePII, o.SkipIfSentrySDK = All, All, true, false
	return o
}

func checkEvents(t *testing.T, export, again Export, input int) {
	require.Equal(t, export, again)
	total := 0
	for _, e := range export.Events {
		decode(t, e)
		require.LessOrEqual(t, len(e.Payload), sentry.MaxOutgoingEvent)
		require.NotEmpty(t, e.Kind)
		total += len(e.Payload)
	}
	require.LessOrEqual(t, total, attr.ExportBound(input))
}
