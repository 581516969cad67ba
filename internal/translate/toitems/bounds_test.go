// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// TestOutputIsBounded: one long text, repeated by many small elements, stays within the bound of
// package attr.
func TestOutputIsBounded(t *testing.T) {
	long, many := strings.Repeat("\x01", 1<<20), 50_000
	for name, edit := range map[string]func(resource pcommon.Map, scope pcommon.InstrumentationScope, fromSentry *bool){
		"resource":   func(r pcommon.Map, _ pcommon.InstrumentationScope, _ *bool) { r.PutStr("k8s.note", long) },
		"release":    func(r pcommon.Map, _ pcommon.InstrumentationScope, _ *bool) { r.PutStr(semconv.SentryRelease, long) },
		"scope":      func(_ pcommon.Map, s pcommon.InstrumentationScope, _ *bool) { s.SetName(long) },
		"attributes": func(r pcommon.Map, _ pcommon.InstrumentationScope, _ *bool) { putMany(r, 5_000) },
		"sentry": func(r pcommon.Map, _ pcommon.InstrumentationScope, fromSentry *bool) {
			*fromSentry = true
			r.PutStr(semconv.SentryProjectID, "1")
			r.PutStr(semconv.OSName, long)
		},
	} {
		t.Run(name, func(t *testing.T) {
			logs := plog.NewLogs()
			resource := logs.ResourceLogs().AppendEmpty()
			scope := resource.ScopeLogs().AppendEmpty()
			fromSentry := false
			edit(resource.Resource().Attributes(), scope.Scope(), &fromSentry)
			for i := range many {
				record := scope.LogRecords().AppendEmpty()
				record.Body().SetStr("a")
				if fromSentry && i < 10_000 {
					record.Attributes().PutStr(semconv.SentryItemType, "event")
				}
			}
			requireBound(t, FromLogs(logs, LogOptions{ExportOptions: options}), new(plog.ProtoMarshaler).LogsSize(logs))

			metrics := pmetric.NewMetrics()
			ofMetrics := metrics.ResourceMetrics().AppendEmpty()
			scopeMetrics := ofMetrics.ScopeMetrics().AppendEmpty()
			edit(ofMetrics.Resource().Attributes(), scopeMetrics.Scope(), &fromSentry)
			gauge := scopeMetrics.Metrics().AppendEmpty()
			gauge.SetName(long)
			gauge.SetUnit(long)
			points := gauge.SetEmptyGauge().DataPoints()
			for range many {
				points.AppendEmpty().SetIntValue(1)
			}
			ofMetricsToItems := FromMetrics(metrics, metricOptions)
			require.NotContains(t, string(ofMetricsToItems.Items[0].Payload), strings.Repeat(`\u0001`, attr.MaxNameBytes), "a name or unit")
			requireBound(t, ofMetricsToItems, new(pmetric.ProtoMarshaler).MetricsSize(metrics))
		})
	}
}

func putMany(m pcommon.Map, n int) {
	m.EnsureCapacity(n)
	raw := map[string]any{}
	for i := range n {
		raw["key."+strings.Repeat("x", i%7)+string(rune('a'+i%26))+attr.HashID(string(rune(i)))] = i
	}
	_ = m.FromRaw(raw)
}

// TestSmallEventsAreBounded: the smallest records repeat the names of their resource in the events.
func TestSmallEventsAreBounded(t *testing.T) {
	for _, item := range []string{"event", "check_in"} {
		logs := plog.NewLogs()
		resource := logs.ResourceLogs().AppendEmpty()
		resource.Resource().Attributes().PutStr(semconv.SentryProjectID, "1")
		for _, key := range []string{
			semconv.SentryRelease, semconv.SentryDist, semconv.DeploymentEnvironmentName, semconv.TelemetrySDKName, semconv.TelemetrySDKVersion,
		} {
			resource.Resource().Attributes().PutStr(key, strings.Repeat("\x01", attr.MaxNameBytes))
		}
		records := resource.ScopeLogs().AppendEmpty().LogRecords()
		for range 5000 {
			records.AppendEmpty().Attributes().PutStr(semconv.SentryItemType, item)
		}
		export := FromLogs(logs, LogOptions{ExportOptions: options})
		require.Len(t, export.Items, records.Len())
		requireBound(t, export, new(plog.ProtoMarshaler).LogsSize(logs))
	}
}

func requireBound(t *testing.T, export tosentry.Export, input int) {
	t.Helper()
	output := 0
	for i := range export.Items {
		output += len(export.Items[i].Payload)
		require.LessOrEqual(t, len(export.Items[i].Payload), sentry.MaxOutgoingElements, "bytes of an item")
		most := map[sentry.ItemType]int{sentry.ItemLog: 100, sentry.ItemTraceMetric: 1000}[export.Items[i].Header.Type]
		require.LessOrEqual(t, export.Items[i].Header.ItemCount.Value, max(1, most))
	}
	t.Logf("%d bytes become %d, %.2f of the bound", input, output, float64(output)/float64(attr.ExportBound(input)))
	assert.LessOrEqual(t, output, attr.ExportBound(input))
	require.NotEmpty(t, export.Items)
}

// FuzzFromLogs: any message becomes items that ingest accepts, within the bound, and stays as it
// is.
func FuzzFromLogs(f *testing.F) {
	logs := plog.NewLogs()
	scope := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty()
	scope.LogRecords().AppendEmpty().Body().SetEmptyMap().PutStr("a", "b")
	for _, kind := range []string{"event", "feedback", "check_in", "user_report", "attachment"} {
		record := scope.LogRecords().AppendEmpty()
		record.Attributes().PutStr(semconv.SentryItemType, kind)
		record.Attributes().PutEmptySlice(semconv.SentryExceptions).AppendEmpty().SetEmptyMap().PutStr("type", "E")
		record.Attributes().PutEmptySlice(semconv.SentryTags).AppendEmpty().SetStr("a")
	}
	seed, _ := new(plog.ProtoMarshaler).MarshalLogs(logs)
	f.Add(seed)
	f.Fuzz(func(t *testing.T, message []byte) {
		logs, err := new(plog.ProtoUnmarshaler).UnmarshalLogs(message)
		if err != nil {
			return
		}
		before, err := new(plog.ProtoMarshaler).MarshalLogs(logs)
		require.NoError(t, err)
		export := FromLogs(logs, LogOptions{ExportOptions: options})
		after, err := new(plog.ProtoMarshaler).MarshalLogs(logs)
		require.NoError(t, err)
		require.Equal(t, before, after, "the input has changed")
		verdicts(t, "", export.Items)
		size := 0
		for i := range export.Items {
			size += len(export.Items[i].Payload)
		}
		require.LessOrEqual(t, size, attr.ExportBound(len(before)))
	})
}

// FuzzFromMetrics is FuzzFromLogs for metrics.
func FuzzFromMetrics(f *testing.F) {
	metrics, metric := newMetric("m", "s")
	metric.SetEmptyExponentialHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	metric.ExponentialHistogram().DataPoints().AppendEmpty().Positive().BucketCounts().FromRaw([]uint64{1})
	seed, _ := new(pmetric.ProtoMarshaler).MarshalMetrics(metrics)
	f.Add(seed)
	f.Fuzz(func(t *testing.T, message []byte) {
		metrics, err := new(pmetric.ProtoUnmarshaler).UnmarshalMetrics(message)
		if err != nil {
			return
		}
		o := metricOptions
		o.Buckets = true
		before, err := new(pmetric.ProtoMarshaler).MarshalMetrics(metrics)
		require.NoError(t, err)
		export := FromMetrics(metrics, o)
		verdicts(t, "", export.Items)
		size := 0
		for i := range export.Items {
			size += len(export.Items[i].Payload)
		}
		require.LessOrEqual(t, size, attr.ExportBound(len(before)))
	})
}
