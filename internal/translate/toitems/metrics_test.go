// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

var metricOptions = MetricOptions{ExportOptions: options, Exemplars: true}

// verdicts requires that Sentry's ingest accepts all items.
func verdicts(t *testing.T, name string, items []tosentry.Outgoing) {
	t.Helper()
	for i := range items {
		item := &items[i]
		switch item.Header.Type {
		case sentry.ItemLog, sentry.ItemTraceMetric:
			envelope := &sentry.Envelope{Header: sentry.EnvelopeHeader{EventID: item.EventID, Trace: item.Trace}, Items: []sentry.Item{item.Item}}
			require.Empty(t, fakesentry.Verdict(envelope), name)
		}
	}
}

func TestMetricsThereAndBack(t *testing.T) {
	counts := map[string]int{}
	for _, c := range golden.Cases(t) {
		if c.Envelope != nil {
			metricsThereAndBack(t, c.Name, c.Envelope, counts)
		}
	}
	t.Log("cases", counts)
	require.Greater(t, counts["trace_metric"], 3)
}

func TestCorpusMetricsThereAndBack(t *testing.T) {
	counts := map[string]int{}
	for _, request := range golden.Corpus(t) {
		if !strings.HasSuffix(request.Path, "/store/") {
			metricsThereAndBack(t, request.Name, request.Decoded(t), counts)
		}
	}
	t.Log("corpus", counts)
	require.Greater(t, counts["recordings"], 100)
}

// TestRecordingsComeBack: of 30 recordings of one series, those with an exemplar come back with all
// of their attributes, and one element has the rest of the sum, without anybody's.
func TestRecordingsComeBack(t *testing.T) {
	var items []string
	for i := range 30 {
		items = append(items, fmt.Sprintf(`{"timestamp":1795224000,"name":"orders","type":"counter","value":2,"trace_id":"%032x",`+
			`"attributes":{"user.id":{"value":"u%d","type":"string"},"region":{"value":"eu","type":"string"}}}`, i+1, i))
	}
	sent, err := event.DecodeTraceMetrics([]byte(`{"items":[`+strings.Join(items, ",")+`]}`), jsonscan.Optional[int]{})
	require.NoError(t, err)
	out, lost := fromsentry.TraceMetricsToMetrics(sent, fromsentry.Source{ProjectID: "1", ReceivedNano: receivedNano})
	require.Equal(t, 10, lost)
	back := FromMetrics(out, metricOptions)
	verdicts(t, "recordings", back.Items)
	require.Len(t, back.Items, 1)
	c, err := event.DecodeTraceMetrics(back.Items[0].Payload, back.Items[0].Header.ItemCount)
	require.NoError(t, err)
	require.Len(t, c.Metrics, 21)
	sum := 0.0
	for i, m := range c.Metrics {
		sum += m.Value
		user, region := "", ""
		for _, a := range m.Attributes {
			switch a.Key {
			case "user.id":
				user = attr.JsonText(a.Value)
			case "region":
				region = attr.JsonText(a.Value)
			}
		}
		require.Equal(t, "eu", region)
		if i < 20 {
			require.Equal(t, fmt.Sprint("u", i), user)
			require.Equal(t, sent.Metrics[i].TraceID, m.TraceID)
		} else {
			require.Empty(t, user)
		}
	}
	require.InDelta(t, 60, sum, 0)
}

func metricsThereAndBack(t *testing.T, name string, body []byte, counts map[string]int) {
	envelope, err := sentry.ReadEnvelope(body)
	if envelope == nil || err != nil && len(envelope.Items) == 0 {
		return
	}
	src := fromsentry.Source{ProjectID: "1", EventID: envelope.Header.EventID, IncludePII: true, ReceivedNano: receivedNano, Release: "shop@1", Environment: "test"}
	for _, item := range envelope.Items {
		var want, got []string
		switch item.Header.Type {
		case sentry.ItemTraceMetric:
			sent, err := event.DecodeTraceMetrics(item.Payload, item.Header.ItemCount)
			if err != nil {
				continue
			}
			metrics, lost := fromsentry.TraceMetricsToMetrics(sent, src)
			require.Zero(t, lost)
			back := FromMetrics(metrics, metricOptions)
			verdicts(t, name, back.Items)
			require.Empty(t, back.Lost, name)
			want = metricLines(expectedMetrics(sent.Metrics))
			for i := range back.Items {
				c, err := event.DecodeTraceMetrics(back.Items[i].Payload, back.Items[i].Header.ItemCount)
				require.NoError(t, err, name)
				got = append(got, metricLines(c.Metrics)...)
			}
			counts["recordings"] += len(sent.Metrics)
		case sentry.ItemSessions:
			sent, err := event.DecodeSessions(item.Payload)
			if err != nil {
				continue
			}
			back := FromMetrics(fromsentry.SessionsToMetrics(sent, src), metricOptions)
			requireStored(t, name, back)
			for _, a := range sent.Aggregates {
				if !a.Started.Set {
					a.Started.UnixNano = receivedNano - receivedNano%attr.NanosPerMinute
				}
				a.Started = jsonscan.Timestamp{UnixNano: a.Started.UnixNano}
				if a.Exited+a.Errored+a.Abnormal+a.Crashed+a.Unhandled > 0 {
					want = append(want, fmt.Sprint(attr.FirstText(sent.Release, src.Release), attr.FirstText(sent.Environment, src.Environment), a))
				}
			}
			for i := range back.Items {
				require.Equal(t, sentry.ItemSessions, back.Items[i].Header.Type)
				s, err := event.DecodeSessions(back.Items[i].Payload)
				require.NoError(t, err)
				for _, a := range s.Aggregates {
					a.Started = jsonscan.Timestamp{UnixNano: a.Started.UnixNano}
					got = append(got, fmt.Sprint(s.Release, s.Environment, a))
				}
			}
		case sentry.ItemSession:
			sent, err := event.DecodeSession(item.Payload)
			if err != nil {
				continue
			}
			back := FromMetrics(fromsentry.SessionToMetrics(sent, src), metricOptions)
			requireStored(t, name, back)
			state := func(s *event.Session) string {
				return fmt.Sprint(s.ID, s.Init, s.Status, s.Errors, s.AbnormalMechanism, s.Started.UnixNano, s.Timestamp.UnixNano, attr.FirstText(s.Release, src.Release), attr.FirstText(s.Environment, src.Environment))
			}
			if sent.IsWhole() {
				want = append(want, "ended once")
			} else {
				if !sent.Timestamp.Set {
					sent.Timestamp.UnixNano = receivedNano
				}
				want = append(want, state(sent))
			}
			for i := range back.Items {
				if back.Items[i].Header.Type == sentry.ItemSession {
					s, err := event.DecodeSession(back.Items[i].Payload)
					require.NoError(t, err)
					got = append(got, state(s))
					continue
				}
				s, err := event.DecodeSessions(back.Items[i].Payload)
				require.NoError(t, err)
				for _, a := range s.Aggregates {
					require.Equal(t, int64(1), a.Exited+a.Errored+a.Abnormal+a.Crashed+a.Unhandled)
					got = append(got, "ended once")
				}
			}
		case sentry.ItemClientReport:
			sent, err := event.DecodeClientReport(item.Payload)
			if err != nil {
				continue
			}
			back := FromMetrics(fromsentry.ClientReportToMetrics(sent, src), metricOptions)
			requireStored(t, name, back)
			require.Empty(t, back.Lost, name)
			totals := map[string]int64{}
			for _, e := range sent.Events {
				totals[fmt.Sprint(e.Outcome, e.Reason, e.Category)] += e.Quantity
			}
			for i := range back.Items {
				require.Equal(t, sentry.ItemClientReport, back.Items[i].Header.Type)
				r, err := event.DecodeClientReport(back.Items[i].Payload)
				require.NoError(t, err)
				if sent.Timestamp.Set {
					require.Equal(t, sent.Timestamp.UnixNano, r.Timestamp.UnixNano, name)
				}
				for _, e := range r.Events {
					totals[fmt.Sprint(e.Outcome, e.Reason, e.Category)] -= e.Quantity
				}
			}
			for entry, rest := range totals {
				require.Zero(t, rest, "%s: %s", name, entry)
			}
		default:
			continue
		}
		counts[string(item.Header.Type)]++
		slices.Sort(want)
		slices.Sort(got)
		assert.Equal(t, without(want, got), without(got, want), "%s: lines that were sent and did not come back, and vice versa", name)
		assert.Len(t, got, len(want), name)
	}
}

func metricLines(metrics []event.TraceMetric) (lines []string) {
	for _, m := range metrics {
		if slices.ContainsFunc(m.Attributes, func(a event.Attribute) bool { return a.Key == semconv.SentryTraceIDSynthetic }) {
			m.TraceID = ""
		}
		text := fmt.Sprintf("%d %s %s %s %s %v %q", m.Timestamp.UnixNano, m.TraceID, m.SpanID, m.Name, m.Type, m.Value, m.Unit)
		var attributes []string
		for _, a := range m.Attributes {
			switch a.Key {
			case semconv.SentryTraceIDSynthetic, semconv.SentryPlatform, semconv.SentryMetricUnit: // added for Sentry
			default:
				attributes = append(attributes, fmt.Sprintf("%s %s %s", a.Key, a.Type, golden.PlainJSON(a.Value)))
			}
		}
		slices.Sort(attributes)
		lines = append(lines, text+" "+strings.Join(attributes, ", "))
	}
	return lines
}

// expectedMetrics is what was sent, with the listed differences.
func expectedMetrics(sent []event.TraceMetric) (all []event.TraceMetric) {
	for _, m := range sent {
		m.Unit = attr.SentryUnit(attr.UcumUnit(m.Unit))
		if !m.Timestamp.Set {
			m.Timestamp.UnixNano = receivedNano
		}
		if m.TraceID == "" {
			m.SpanID = ""
		}
		all = append(all, m)
	}
	logs := make([]event.Log, len(all))
	for i := range all {
		logs[i] = event.Log{Attributes: all[i].Attributes, TraceID: "-", SpanID: "-"}
	}
	for i, log := range expectedLogs(logs) {
		all[i].Attributes = log.Attributes
		for _, shared := range []struct{ key, value string }{{semconv.SentryRelease, "shop@1"}, {semconv.SentryEnvironment, "test"}} {
			if !slices.ContainsFunc(all[i].Attributes, func(a event.Attribute) bool { return a.Key == shared.key }) {
				all[i].Attributes = append(all[i].Attributes, event.Attribute{Key: shared.key, Type: "string", Value: attr.JsonString(shared.value)})
			}
		}
	}
	return all
}

// elements returns the elements of a message as name, type, value and unit.
func elements(t *testing.T, export tosentry.Export) (all []string) {
	t.Helper()
	verdicts(t, "", export.Items)
	for i := range export.Items {
		c, err := event.DecodeTraceMetrics(export.Items[i].Payload, export.Items[i].Header.ItemCount)
		require.NoError(t, err)
		for _, m := range c.Metrics {
			text := fmt.Sprintf("%s %s %v %s", m.Name, m.Type, m.Value, m.Unit)
			for _, a := range m.Attributes {
				if a.Key == semconv.Le || a.Key == semconv.Quantile {
					text += " " + a.Key + "=" + attr.PlainText(a.Value)
				}
			}
			all = append(all, text)
		}
	}
	return all
}

func newMetric(name, unit string) (pmetric.Metrics, pmetric.Metric) {
	metrics := pmetric.NewMetrics()
	metric := metrics.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	metric.SetName(name)
	metric.SetUnit(unit)
	return metrics, metric
}

func TestForeignMetrics(t *testing.T) {
	delta := pmetric.AggregationTemporalityDelta
	fillHistogram := func(m pmetric.Metric) pmetric.HistogramDataPoint {
		m.SetEmptyHistogram().SetAggregationTemporality(delta)
		data := m.Histogram().DataPoints().AppendEmpty()
		data.SetCount(5)
		data.SetSum(12.5)
		data.SetMin(0.5)
		data.SetMax(6)
		data.ExplicitBounds().FromRaw([]float64{1, 5})
		data.BucketCounts().FromRaw([]uint64{2, 0, 3})
		exemplar := data.Exemplars().AppendEmpty()
		exemplar.SetDoubleValue(4.25)
		exemplar.SetTraceID(pcommon.TraceID{1})
		exemplar.SetSpanID(pcommon.SpanID{2})
		return data
	}
	for _, c := range []struct {
		name    string
		unit    string
		fill    func(pmetric.Metric)
		buckets bool
		want    []string
		lost    []discard.Loss
	}{
		{name: "gauge", unit: "By", fill: func(m pmetric.Metric) { m.SetEmptyGauge().DataPoints().AppendEmpty().SetIntValue(7) }, want: []string{"m gauge 7 byte"}},
		{name: "delta", unit: "{order}", fill: func(m pmetric.Metric) {
			m.SetEmptySum().SetAggregationTemporality(delta)
			m.Sum().SetIsMonotonic(true)
			m.Sum().DataPoints().AppendEmpty().SetDoubleValue(1.5)
			m.Sum().DataPoints().AppendEmpty().SetDoubleValue(-1)
			m.Sum().DataPoints().AppendEmpty().SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
		}, want: []string{"m counter 1.5 order"}, lost: []discard.Loss{{Reason: "metric_negative_counter", Count: 1}, {Reason: "metric_no_value", Count: 1}}},
		{name: "up-down counter", fill: func(m pmetric.Metric) {
			m.SetEmptySum().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
			m.Sum().DataPoints().AppendEmpty().SetIntValue(-3)
		}, want: []string{"m gauge -3 "}},
		{name: "change of an up-down counter", fill: func(m pmetric.Metric) {
			m.SetEmptySum().SetAggregationTemporality(delta)
			m.Sum().DataPoints().AppendEmpty().SetIntValue(-3)
		}, lost: []discard.Loss{{Reason: ReasonTemporality, Count: 1}}},
		{name: "cumulative histogram", fill: func(m pmetric.Metric) {
			fillHistogram(m)
			m.Histogram().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		}, lost: []discard.Loss{{Reason: ReasonCumulative, Count: 1}}},
		{name: "histogram", unit: "s", fill: func(m pmetric.Metric) { fillHistogram(m) }, want: []string{
			"m distribution 4.25 second", "m.count counter 5 ", "m.max gauge 6 second", "m.min gauge 0.5 second", "m.sum counter 12.5 second",
		}},
		{name: "histogram with buckets", unit: "s", buckets: true, fill: func(m pmetric.Metric) { fillHistogram(m) }, want: []string{
			"m distribution 4.25 second", "m.bucket counter 2  le=1", "m.bucket counter 3  le=+Inf",
			"m.count counter 5 ", "m.max gauge 6 second", "m.min gauge 0.5 second", "m.sum counter 12.5 second",
		}},
		{name: "exponential histogram", buckets: true, fill: func(m pmetric.Metric) {
			m.SetEmptyExponentialHistogram().SetAggregationTemporality(delta)
			data := m.ExponentialHistogram().DataPoints().AppendEmpty()
			data.SetCount(6)
			data.SetSum(-1)
			data.SetScale(0) // base 2
			data.SetZeroCount(1)
			data.Positive().SetOffset(1) // (2, 4], (4, 8]
			data.Positive().BucketCounts().FromRaw([]uint64{2, 1})
			data.Negative().SetOffset(0) // [-2, -1)
			data.Negative().BucketCounts().FromRaw([]uint64{2})
		}, want: []string{"m.bucket counter 1  le=0", "m.bucket counter 1  le=8", "m.bucket counter 2  le=-1", "m.bucket counter 2  le=4", "m.count counter 6 "}},
		{name: "summary", unit: "ms", fill: func(m pmetric.Metric) {
			data := m.SetEmptySummary().DataPoints().AppendEmpty()
			data.SetCount(4)
			data.SetSum(10)
			quantile := data.QuantileValues().AppendEmpty()
			quantile.SetQuantile(0.99)
			quantile.SetValue(4)
		}, want: []string{"m.count gauge 4 ", "m.quantile gauge 4 millisecond quantile=0.99", "m.sum gauge 10 millisecond"}},
	} {
		metrics, metric := newMetric("m", c.unit)
		c.fill(metric)
		o := metricOptions
		o.Buckets = c.buckets
		before := pmetric.NewMetrics()
		metrics.CopyTo(before)
		export := FromMetrics(metrics, o)
		got := elements(t, export)
		slices.Sort(got)
		assert.Equal(t, c.want, got, c.name)
		assert.Equal(t, c.lost, export.Lost, c.name)
		assert.Equal(t, before, metrics, "%s: the input has changed", c.name)
	}
}

func TestUnselectedMetrics(t *testing.T) {
	metrics, metric := newMetric("m", "")
	metric.SetEmptyGauge().DataPoints().AppendEmpty().SetIntValue(7)
	metric.Gauge().DataPoints().AppendEmpty().SetIntValue(8)
	o := metricOptions
	o.Selected = func(name string) bool { return name != "m" }
	export := FromMetrics(metrics, o)
	assert.Empty(t, export.Items)
	assert.Equal(t, []discard.Loss{{Reason: ReasonNotSelected, Count: 2}}, export.Lost)
}
