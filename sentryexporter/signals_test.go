// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// cumulative has a counter since a start and a gauge.
func cumulative() pmetric.Metrics {
	metrics := pmetric.NewMetrics()
	scope := metrics.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty()
	counter := scope.Metrics().AppendEmpty()
	counter.SetName("orders")
	counter.SetEmptySum().SetIsMonotonic(true)
	counter.Sum().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	counter.Sum().DataPoints().AppendEmpty().SetIntValue(17)
	gauge := scope.Metrics().AppendEmpty()
	gauge.SetName("queue.length")
	gauge.SetEmptyGauge().DataPoints().AppendEmpty().SetDoubleValue(2.5)
	return metrics
}

// TestLogs: a message becomes containers of at most a hundred records, in queues of their own.
func TestLogs(t *testing.T) {
	e := startBoth(t, withoutQueue)
	logs := plog.NewLogs()
	resource := logs.ResourceLogs().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "shop")
	records := resource.ScopeLogs().AppendEmpty().LogRecords()
	for range 250 {
		records.AppendEmpty().Body().SetStr("order placed")
	}
	require.NoError(t, e.logs(logs))
	var counts []int
	for _, envelope := range e.taken(sentry.ItemLog) {
		assert.Empty(t, fakesentry.Verdict(envelope))
		c, err := event.DecodeLogs(envelope.Items[0].Payload, envelope.Items[0].Header.ItemCount)
		require.NoError(t, err)
		counts = append(counts, len(c.Logs))
	}
	assert.Equal(t, []int{100, 100, 50}, counts)
}

// TestCumulativeMetrics: the log says what to do, and the other points are sent.
func TestCumulativeMetrics(t *testing.T) {
	e := startBoth(t, withoutQueue)
	require.NoError(t, e.points(cumulative()))
	assert.Equal(t, 1, e.harness.logs.FilterMessageSnippet("cumulativetodelta").Len())
	taken := e.taken(sentry.ItemTraceMetric)
	require.Len(t, taken, 1)
	assert.Empty(t, fakesentry.Verdict(taken[0]))
	assert.Equal(t, map[string]int64{"reason=metric_cumulative": 1}, e.counts("otelcol_exporter_sentry_envelope_metric_points_discarded"))
}

// TestLargeEvents: all events that Sentry accepts are sent.
func TestLargeEvents(t *testing.T) {
	e := startBoth(t, withoutQueue)
	size := 0 // of an event without text
	for _, want := range []int{0, 1_000_000, 1_000_001, 1 << 20, 1<<20 + 1} {
		logs := plog.NewLogs()
		record := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		record.SetTimestamp(1_795_755_600_000_000_000)
		record.Body().SetStr("large")
		record.Attributes().PutStr("sentry.item.type", "event")
		record.Attributes().PutStr("sentry.event_id", "c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7")
		record.Attributes().PutEmptyMap("sentry.extra").PutStr("text", strings.Repeat("x", max(0, want-size)))
		require.NoError(t, e.logs(logs))
		switch taken := e.taken(sentry.ItemEvent); {
		case want == 0:
			size = len(taken[0].Items[0].Payload)
		case want <= 1<<20:
			require.Equal(t, want, len(taken[len(taken)-1].Items[0].Payload))
			assert.Empty(t, fakesentry.Verdict(taken[len(taken)-1]))
		default:
			require.Equal(t, 4, len(taken))
		}
	}
	assert.Equal(t, map[string]int64{"reason=item_too_large": 1}, e.counts("otelcol_exporter_sentry_envelope_log_records_discarded"))
	assert.Equal(t, 1, e.harness.logs.FilterMessageSnippet("1048576 bytes").Len(), "the limit")
}

// TestUnknownDialect: profiles that only another exporter can use are counted.
func TestUnknownDialect(t *testing.T) {
	encoded, err := os.ReadFile(filepath.Join(golden.Root(t), "internal", "profiles", "dialect", "testdata", "otlp-1.9", "large.pb"))
	require.NoError(t, err)
	profiles, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(encoded)
	require.NoError(t, err)
	e := startBoth(t, withoutQueue)
	require.NoError(t, e.profiles(profiles))
	assert.Equal(t, map[string]int64{"reason=unknown_dialect": int64(profiles.SampleCount())}, e.counts("otelcol_exporter_sentry_envelope_samples_discarded"))
}

func TestSelectedMetrics(t *testing.T) {
	for _, c := range []struct {
		include, exclude []string
		want             bool
	}{
		{nil, nil, true}, {[]string{"queue.*"}, nil, true}, {[]string{"queue"}, nil, false}, {nil, []string{"*length"}, false},
		{[]string{"queue.length", "other"}, []string{"queueXlength"}, true}, {[]string{"*"}, []string{"*"}, false},
	} {
		selected := (&MetricsConfig{Include: c.include, Exclude: c.exclude}).selector()
		assert.Equal(t, c.want, selected("queue.length"), c)
	}
}

// TestLossesOfContainers: Sentry counts logs and metrics by number and by size.
func TestLossesOfContainers(t *testing.T) {
	h := start(t, withoutQueue)
	refused := envelope{Item: sentry.Item{Header: sentry.ItemHeader{Type: sentry.ItemLog}, Payload: []byte(`{"items":[]}`)}}
	refused.Item.Header.ItemCount.Set, refused.Item.Header.ItemCount.Value = true, 7
	h.started.losses.add(&refused, lossRejected)
	assert.Equal(t, map[loss]int{{lossRejected, sentry.CategoryLogItem}: 7, {lossRejected, sentry.CategoryLogByte}: 12}, h.started.losses.counts)
}

// TestSessionsShareEnvelopes: updates of sessions are sent together, in their order, as many as
// ingest accepts; other items and updates of another clock are sent apart.
func TestSessionsShareEnvelopes(t *testing.T) {
	h := start(t, withoutQueue)
	var export tosentry.Export
	update := func(n int, driftMilli int64) {
		payload := fmt.Appendf(nil, `{"sid":"7c7b6585-f901-4351-bf8d-%012d","started":"2026-05-01T10:00:00Z","timestamp":"2026-05-01T10:00:00Z","status":"ok","attrs":{"release":"shop@1"}}`, n)
		export.Items = append(export.Items, tosentry.Outgoing{Item: sentry.Item{Header: sentry.ItemHeader{Type: sentry.ItemSession}, Payload: payload}, Count: 1, DriftMilli: driftMilli})
	}
	for n := range 250 {
		update(n, 0)
	}
	aggregates := []byte(`{"aggregates":[{"started":"2026-05-01T10:00:00Z","exited":2}],"attrs":{"release":"shop@1"}}`)
	export.Items = append(export.Items, tosentry.Outgoing{Item: sentry.Item{Header: sentry.ItemHeader{Type: sentry.ItemSessions}, Payload: aggregates}, Count: 1})
	update(250, 0)
	update(251, 4_000_000)
	sizes, count := []int{}, 0
	for _, r := range h.started.newRequests(253, &export, sentry.MaxOutgoingElements) {
		count += r.Count
		sizes = append(sizes, len(r.Envelopes[0].items()))
		require.NoError(t, h.send(r.Envelopes...))
	}
	assert.Equal(t, []int{100, 100, 50, 1, 1, 1}, sizes)
	assert.Equal(t, 253, count)
	var sent [][]byte
	for _, request := range h.sentry.Requests() {
		for _, item := range request.Envelope.Items {
			sent = append(sent, item.Payload)
		}
	}
	for i, item := range export.Items {
		assert.Equal(t, string(item.Payload), string(sent[i]))
	}
	assert.Equal(t, map[string]int64{"outcome=sent type=session": 252, "outcome=sent type=sessions": 1}, h.counts("otelcol_exporter_sentry_envelope_items"))
}

// TestQueuesHaveTheirOwnStorage: a storage is found by the name of the queue and its signal.
func TestQueuesHaveTheirOwnStorage(t *testing.T) {
	h := &harness{t: t, sentry: fakesentry.StartInMemory(t), metrics: componenttest.NewTelemetry()}
	cfg, known := testConfig(h.sentry, nil), map[string]bool{}
	profiles, err := createProfiles(t.Context(), h.settings(), cfg)
	require.NoError(t, err)
	traces, err := createTraces(t.Context(), h.settings(), cfg)
	require.NoError(t, err)
	logs, err := createLogs(t.Context(), h.settings(), cfg)
	require.NoError(t, err)
	metrics, err := createMetrics(t.Context(), h.settings(), cfg)
	require.NoError(t, err)
	for _, e := range []*sentryExporter{profiles.(profilesExporter).projects[0], traces.(tracesExporter).projects[0], logs.(logsExporter).projects[0], metrics.(metricsExporter).projects[0]} {
		for i, q := range e.queues {
			if i > 0 { // the first has the name of the exporter
				name := q.queueSettings().ID.String()
				assert.False(t, known[name], name)
				known[name] = true
			}
		}
	}
	assert.Len(t, known, 8)
	require.NoError(t, h.metrics.Shutdown(t.Context()))
}
