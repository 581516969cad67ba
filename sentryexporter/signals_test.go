// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
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

// TestCumulativeMetrics: the error says what to do, and the other points are sent.
func TestCumulativeMetrics(t *testing.T) {
	e := startBoth(t, withoutQueue)
	err := e.points(cumulative())
	require.ErrorContains(t, err, "1 data points are cumulative")
	require.ErrorContains(t, err, "cumulativetodelta")
	assert.True(t, consumererror.IsPermanent(err))
	taken := e.taken(sentry.ItemTraceMetric)
	require.Len(t, taken, 1)
	assert.Empty(t, fakesentry.Verdict(taken[0]))
	assert.Equal(t, map[string]int64{"reason=metric_cumulative": 1}, e.counts("otelcol_exporter_sentry_envelope_metric_points_discarded"))
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
