// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/histogramtest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

var metricSource = Source{ProjectID: "4507", ReceivedNano: 1_795_225_000_000_000_000, SDK: sentry.ClientSDK{Name: "sentry.go", Version: "0.50.0"}}

// metricsByName gives the metrics of a message, which has one resource and one scope.
func metricsByName(t *testing.T, out pmetric.Metrics) map[string]pmetric.Metric {
	t.Helper()
	require.Equal(t, 1, out.ResourceMetrics().Len())
	require.Equal(t, 1, out.ResourceMetrics().At(0).ScopeMetrics().Len())
	all := map[string]pmetric.Metric{}
	for _, m := range out.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
		all[m.Name()+"|"+m.Unit()] = m
	}
	return all
}

func translateMetrics(t *testing.T, payload string, src Source) pmetric.Metrics {
	t.Helper()
	c, err := event.DecodeTraceMetrics([]byte(payload), jsonscan.Optional[int]{})
	require.NoError(t, err)
	return traceMetrics(c, src)
}

const threeKinds = `{"version":2,"items":[
{"timestamp":1795224000.5,"trace_id":"696c4beb19eb05c04872299e75f198a8","span_id":"1d6f40cf57abc4ca","type":"counter","name":"orders","value":1,
 "attributes":{"region":{"value":"eu","type":"string"},"n":{"value":"7","type":"integer"},"sentry.timestamp.sequence":{"value":0,"type":"integer"},
 "sentry.release":{"value":"shop@1.2","type":"string"},"user.email":{"value":"jane@example.com","type":"string"}}},
{"timestamp":1795224001.5,"type":"distribution","name":"total","value":129.5,"unit":"euro"},
{"timestamp":1795224002,"type":"gauge","name":"cart","value":3,"unit":"none"},
{"timestamp":1795224003.25,"trace_id":"796c4beb19eb05c04872299e75f198a8","type":"counter","name":"orders","value":2.5,
 "attributes":{"n":{"value":7,"type":"integer"},"sentry.timestamp.sequence":{"value":1,"type":"integer"},"region":{"value":"eu","type":"string"},"sentry.release":{"value":"shop@1.2","type":"string"}}},
{"timestamp":1795224004,"type":"gauge","name":"cart","value":4,"unit":"none"},
{"timestamp":1795224005,"type":"distribution","name":"total","value":129.5,"unit":"euro"},
{"timestamp":1795224006,"type":"distribution","name":"total","value":1,"unit":"second"},
{"type":"counter","name":"orders","value":1,"attributes":{"region":{"value":"us","type":"string"}}}]}`

func TestTraceMetrics(t *testing.T) {
	out := translateMetrics(t, threeKinds, metricSource)
	resource := out.ResourceMetrics().At(0)
	require.Subset(t, resource.Resource().Attributes().AsRaw(), map[string]any{
		"service.name": "shop", "service.version": "1.2", "sentry.release": "shop@1.2", "sentry.project_id": "4507",
		"telemetry.sdk.name": "sentry.go", "telemetry.sdk.version": "0.50.0",
	})
	require.Equal(t, "sentry.go", resource.ScopeMetrics().At(0).Scope().Name())
	all := metricsByName(t, out)
	require.Len(t, all, 4)

	orders := all["orders|"].Sum()
	require.True(t, orders.IsMonotonic())
	require.Equal(t, pmetric.AggregationTemporalityDelta, orders.AggregationTemporality())
	require.Equal(t, 2, orders.DataPoints().Len(), "equal attributes in another order are the same point")
	point := orders.DataPoints().At(0)
	require.InDelta(t, 3.5, point.DoubleValue(), 0)
	require.Equal(t, map[string]any{"region": "eu", "n": int64(7)}, point.Attributes().AsRaw(), "no PII, no number of the recording")
	require.EqualValues(t, 1795224000500000000, point.StartTimestamp())
	require.EqualValues(t, 1795224003250000000, point.Timestamp())
	require.Equal(t, 2, point.Exemplars().Len())
	exemplar := point.Exemplars().At(0)
	require.Equal(t, "696c4beb19eb05c04872299e75f198a8/1d6f40cf57abc4ca", exemplar.TraceID().String()+"/"+exemplar.SpanID().String())
	require.InDelta(t, 1, exemplar.DoubleValue(), 0)
	require.EqualValues(t, 1795224000500000000, exemplar.Timestamp())
	require.Equal(t, map[string]any{"sentry.timestamp.sequence": int64(0)}, exemplar.FilteredAttributes().AsRaw())
	require.EqualValues(t, metricSource.ReceivedNano, orders.DataPoints().At(1).Timestamp(), "no time: that of receipt")
	require.Zero(t, orders.DataPoints().At(1).Exemplars().Len())

	total := all["total|{euro}"].ExponentialHistogram()
	require.Equal(t, pmetric.AggregationTemporalityDelta, total.AggregationTemporality())
	require.Equal(t, 1, total.DataPoints().Len())
	histogramtest.Check(t, total.DataPoints().At(0), []float64{129.5, 129.5})
	require.InDelta(t, 259, total.DataPoints().At(0).Sum(), 0)
	require.Equal(t, 1, all["total|s"].ExponentialHistogram().DataPoints().Len())

	cart := all["cart|"].Gauge().DataPoints()
	require.Equal(t, 2, cart.Len())
	require.InDelta(t, 4, cart.At(1).DoubleValue(), 0)

	withPII := metricSource
	withPII.IncludePII = true
	require.Contains(t, metricsByName(t, translateMetrics(t, threeKinds, withPII))["orders|"].Sum().DataPoints().At(0).Exemplars().At(0).FilteredAttributes().AsRaw(), "user.email")
}

func TestUnits(t *testing.T) {
	for unit, want := range map[string]string{
		"": "", "none": "", "nanosecond": "ns", "microsecond": "us", "millisecond": "ms", "second": "s", "minute": "min", "hour": "h", "day": "d",
		"week": "wk", "byte": "By", "kibibyte": "KiBy", "megabyte": "MBy", "ratio": "1", "percent": "%", "hertz": "Hz", "hz": "Hz", "nanojoule": "nJ",
		"ms": "ms", "MiB": "MiBy", "euro": "{euro}", "a b": "", "{x}": "", "größe": "",
	} {
		require.Equal(t, want, attr.UcumUnit(unit), unit)
	}
}

func TestSessionMetrics(t *testing.T) {
	for _, test := range []struct{ payload, want string }{
		{ // it goes on: nothing to count but its beginning
			`{"sid":"a","init":true,"status":"ok","errors":0,"timestamp":1795224001}`,
			`{"sentry.session.started|{session}":{"":1},"sentry.session.updates|{update}":{"ok":1}}`,
		},
		{`{"sid":"a","status":"ok","errors":2}`, `{"sentry.session.updates|{update}":{"ok":1}}`},
		{
			`{"sid":"a","status":"exited","errors":0,"duration":2.5}`,
			`{"sentry.session.count|{session}":{"exited":1},"sentry.session.duration|s":{"exited":2.5},"sentry.session.errors|{error}":{"exited":0},"sentry.session.updates|{update}":{"exited":1}}`,
		},
		{
			`{"sid":"a","status":"exited","errors":3}`,
			`{"sentry.session.count|{session}":{"errored":1},"sentry.session.errors|{error}":{"errored":3},"sentry.session.updates|{update}":{"exited":1}}`,
		},
		{ // node: the only update of its session
			`{"sid":"a","init":true,"status":"crashed","duration":78.5}`,
			`{"sentry.session.count|{session}":{"crashed":1},"sentry.session.duration|s":{"crashed":78.5},"sentry.session.errors|{error}":{"crashed":1},"sentry.session.started|{session}":{"":1},"sentry.session.updates|{update}":{"crashed":1}}`,
		},
	} {
		s, err := event.DecodeSession([]byte(test.payload))
		require.NoError(t, err)
		requireMetrics(t, test.want, SessionToMetrics(s, metricSource), semconv.SentrySessionStatus)
	}
}

func TestSessionAggregateMetrics(t *testing.T) {
	s, err := event.DecodeSessions([]byte(`{"attrs":{"release":"shop@2"},"aggregates":[
{"started":1795224960,"exited":21,"crashed":1,"errored":2},{"started":1795224840,"exited":36},{"started":1795224960,"exited":1}]}`))
	require.NoError(t, err)
	out := SessionsToMetrics(s, metricSource)
	requireMetrics(t, `{"sentry.session.count|{session}":{"crashed":1,"errored":2,"exited":58},"sentry.session.started|{session}":{"":61}}`, out, semconv.SentrySessionStatus)
	started := metricsByName(t, out)["sentry.session.started|{session}"].Sum().DataPoints()
	require.Equal(t, 2, started.Len(), "one for each minute")
	require.EqualValues(t, 1795224960000000000, started.At(0).StartTimestamp())
	require.EqualValues(t, 1795225000000000000, started.At(0).Timestamp(), "the minute is not over: until receipt")
	require.EqualValues(t, 1795224900000000000, started.At(1).Timestamp())
	name, _ := out.ResourceMetrics().At(0).Resource().Attributes().Get("service.name")
	require.Equal(t, "shop", name.Str())
}

func TestCheckInMetrics(t *testing.T) {
	for payload, want := range map[string]string{
		`{"monitor_slug":"nightly","status":"in_progress"}`:     `{"sentry.check_in.count|{check_in}":{"in_progress":1}}`,
		`{"monitor_slug":"nightly","status":"ok","duration":3}`: `{"sentry.check_in.count|{check_in}":{"ok":1},"sentry.check_in.duration|s":{"ok":3}}`,
	} {
		c, err := event.DecodeCheckIn([]byte(payload))
		require.NoError(t, err)
		out := CheckInToMetrics(c, metricSource)
		requireMetrics(t, want, out, semconv.SentryCheckInStatus)
		slug, _ := metricsByName(t, out)["sentry.check_in.count|{check_in}"].Sum().DataPoints().At(0).Attributes().Get(semconv.SentryMonitorSlug)
		require.Equal(t, "nightly", slug.Str())
	}
}

func TestClientReportMetrics(t *testing.T) {
	r, err := event.DecodeClientReport([]byte(`{"timestamp":1795224001,"discarded_events":[{"reason":"sample_rate","category":"span","quantity":5},
{"reason":"before_send","category":"error","quantity":1},{"reason":"sample_rate","category":"span","quantity":2}],"filtered_events":[{"reason":"sample_rate","category":"span","quantity":9}]}`))
	require.NoError(t, err)
	points := metricsByName(t, ClientReportToMetrics(r, metricSource))["sentry.client_report.discarded|1"].Sum().DataPoints()
	require.Equal(t, 3, points.Len())
	require.EqualValues(t, 7, points.At(0).IntValue())
	require.EqualValues(t, 1795224001000000000, points.At(0).Timestamp())
	require.Equal(t, map[string]any{semconv.SentryClientReportReason: "sample_rate", semconv.SentryClientReportCategory: "span", semconv.SentryClientReportOutcome: "filtered"}, points.At(2).Attributes().AsRaw())
}

// counted are the metrics of items that these tests compare. All others are in the goldens only.
var counted = map[string]bool{
	semconv.MetricSentrySessionUpdates: true, semconv.MetricSentrySessionStarted: true, semconv.MetricSentrySessionCount: true,
	semconv.MetricSentrySessionErrors: true, semconv.MetricSentrySessionDuration: true,
	semconv.MetricSentryCheckInCount: true, semconv.MetricSentryCheckInDuration: true,
}

// requireMetrics compares counted metrics spelled out: name|unit → value of one attribute → sum.
func requireMetrics(t *testing.T, want string, out pmetric.Metrics, key string) {
	t.Helper()
	got := map[string]map[string]float64{}
	for name, m := range metricsByName(t, out) {
		if !counted[m.Name()] {
			continue
		}
		got[name] = map[string]float64{}
		switch m.Type() {
		case pmetric.MetricTypeSum:
			require.True(t, m.Sum().IsMonotonic())
			require.Equal(t, pmetric.AggregationTemporalityDelta, m.Sum().AggregationTemporality())
			for _, p := range m.Sum().DataPoints().All() {
				got[name][pointAttribute(p.Attributes(), key)] += float64(p.IntValue())
			}
		case pmetric.MetricTypeExponentialHistogram:
			for _, p := range m.ExponentialHistogram().DataPoints().All() {
				histogramtest.CheckCounts(t, p)
				got[name][pointAttribute(p.Attributes(), key)] += p.Sum()
			}
		}
	}
	text, err := json.Marshal(got)
	require.NoError(t, err)
	require.JSONEq(t, want, string(text))
}

func pointAttribute(m pcommon.Map, key string) string {
	if value, ok := m.Get(key); ok {
		return value.AsString()
	}
	return ""
}

// Node adds elapsed seconds to epoch milliseconds; a browser would send seconds.
func TestMeasurementClock(t *testing.T) {
	const millis = 1795223440515
	for _, test := range []struct {
		name   string
		sample uint64 // of the chunk, unix nanoseconds
		sent   []float64
		want   []uint64 // to 0.3 ms, all that a double holds at these magnitudes
	}{
		{"seconds", 1, []float64{1795223440.5, 1795223441}, []uint64{1795223440500000000, 1795223441000000000}},
		{"node", millis * 1e6, []float64{millis + 0.0154, millis + 30.2856}, []uint64{1795223440530400000, 1795223470800600000}},
		{"node, no sample near", 1, []float64{millis + 0.0154}, []uint64{1795223440530400000}},
		{"node, sample later", (millis + 2) * 1e6, []float64{millis + 0.0159, millis + 1.5}, []uint64{1795223440530900000, 1795223442015000000}},
		{"node, blocked for 2.9 s", millis * 1e6, []float64{millis + 2.8762, millis + 61.8442}, []uint64{1795223443391200000, 1795223502359200000}},
	} {
		series := profile.Measurement{Name: "cpu_usage", Unit: "percent"}
		for _, at := range test.sent {
			series.Values = append(series.Values, profile.MeasurementValue{Timestamp: at, Value: 0.5})
		}
		c := &profile.Chunk{ProfilerID: "P", ChunkID: "C", Measurements: []profile.Measurement{series}}
		c.Samples.Time = []uint64{test.sample}
		out, lost := ChunkMeasurementsToMetrics(c, metricSource)
		require.Zero(t, lost)
		points := metricsByName(t, out)["sentry.profile.cpu_usage|%"].Gauge().DataPoints()
		for i, want := range test.want {
			require.InDelta(t, want, uint64(points.At(i).Timestamp()), 300_000, test.name)
			require.Empty(t, points.At(i).Attributes().AsRaw(), test.name)
			require.Equal(t, map[string]any{"sentry.profiler_id": "P", "sentry.chunk_id": "C"}, points.At(i).Exemplars().At(0).FilteredAttributes().AsRaw())
		}
	}
}

func TestMeasurementsWithoutATime(t *testing.T) {
	decoded, err := new(profile.Decoder).Chunk([]byte(`{"version":"2","profile":{"samples":[{"timestamp":1,"thread_id":"1","stack_id":0}],"stacks":[[0]],"frames":[{"function":"f"}]},
"measurements":{"m":{"unit":"byte","values":[{"timestamp":-1,"value":1},{"timestamp":"NaN","value":1},{"timestamp":"Infinity","value":1},{"timestamp":1e300,"value":1},{"timestamp":9e9,"value":1},{"timestamp":1,"value":2}]}}}`))
	require.NoError(t, err)
	out, lost := ChunkMeasurementsToMetrics(decoded, metricSource)
	require.Equal(t, 5, lost)
	require.Equal(t, 1, out.DataPointCount())
	require.NotNil(t, metricsByName(t, out)["sentry.profile.m|By"])
}

// TestUsersAreNoSeries: of 300 users, a counter, a distribution and a gauge each have one series,
// with all values. The first recordings of a point keep their attributes; all that do not are
// counted. A setting makes series of chosen attributes.
func TestUsersAreNoSeries(t *testing.T) {
	const users = 300
	var items []string
	for _, kind := range []string{"counter", "distribution", "gauge"} {
		for i := range users {
			items = append(items, fmt.Sprintf(`{"timestamp":1795224000,"name":%q,"type":%q,"value":%d,"trace_id":"%032x","attributes":{`+
				`"user.id":{"value":"u%d","type":"string"},"session.id":{"value":"s%d","type":"string"},"url.full":{"value":"https://shop/%d","type":"string"},`+
				`"region":{"value":"eu","type":"string"}}}`, kind, kind, i+1, i+1, i, i, i))
		}
	}
	c, err := event.DecodeTraceMetrics([]byte(`{"items":[`+strings.Join(items, ",")+`]}`), jsonscan.Optional[int]{})
	require.NoError(t, err)
	out, lost := TraceMetricsToMetrics(c, metricSource)
	all := metricsByName(t, out)
	require.Equal(t, 2*3*(users-maxExemplars), lost, "three attributes of the counter and of the distribution; each value of the gauge is a point")

	counter := all["counter|"].Sum().DataPoints()
	require.Equal(t, 1, counter.Len())
	require.InDelta(t, users*(users+1)/2, counter.At(0).DoubleValue(), 0)
	require.Equal(t, maxExemplars, counter.At(0).Exemplars().Len())
	distribution := all["distribution|"].ExponentialHistogram().DataPoints()
	require.Equal(t, 1, distribution.Len())
	require.EqualValues(t, users, distribution.At(0).Count())
	require.InDelta(t, users*(users+1)/2, distribution.At(0).Sum(), 0)
	gauge := all["gauge|"].Gauge().DataPoints()
	require.Equal(t, users, gauge.Len())
	for i, point := range gauge.All() {
		require.Equal(t, map[string]any{"region": "eu"}, point.Attributes().AsRaw())
		require.Equal(t, map[string]any{"user.id": fmt.Sprint("u", i), "session.id": fmt.Sprint("s", i), "url.full": fmt.Sprint("https://shop/", i)},
			point.Exemplars().At(0).FilteredAttributes().AsRaw())
	}

	keeping := metricSource
	keeping.PointAttributes = []string{"user.id"}
	out, lost = TraceMetricsToMetrics(c, keeping)
	require.Zero(t, lost)
	require.Equal(t, users, metricsByName(t, out)["counter|"].Sum().DataPoints().Len())
}

// TestNobodyIsASeries: the sessions, check-ins and measurements of 300 users, runs and profiles
// have as many series as those of one.
func TestNobodyIsASeries(t *testing.T) {
	series := map[string]bool{}
	for i := range 300 {
		session, err := event.DecodeSession(fmt.Appendf(nil, `{"sid":"%032x","did":"u%d","status":"exited","duration":1,"attrs":{"release":"shop@1","ip_address":"192.0.2.%d"}}`, i, i, i%256))
		require.NoError(t, err)
		checkIn, err := event.DecodeCheckIn(fmt.Appendf(nil, `{"check_in_id":"%032x","monitor_slug":"nightly","status":"ok","duration":1,"contexts":{"trace":{"trace_id":"%032x"}}}`, i, i+1))
		require.NoError(t, err)
		id := fmt.Sprintf("%032x", i+1)
		measured := []profile.Measurement{{Name: "cpu_usage", Values: []profile.MeasurementValue{{Timestamp: 1795224000}}}}
		chunk := &profile.Chunk{ProfilerID: id, ChunkID: id, Measurements: measured}
		chunk.Samples.Time = []uint64{1795224000000000000}
		ofChunk, _ := ChunkMeasurementsToMetrics(chunk, metricSource)
		for _, out := range []pmetric.Metrics{SessionToMetrics(session, metricSource), CheckInToMetrics(checkIn, metricSource), ofChunk,
			ProfileMeasurementsToMetrics(&profile.Profile{EventID: id, Measurements: measured}, metricSource)} {
			for name, m := range metricsByName(t, out) {
				var attributes pcommon.Map
				switch m.Type() {
				case pmetric.MetricTypeSum:
					attributes = m.Sum().DataPoints().At(0).Attributes()
				case pmetric.MetricTypeGauge:
					attributes = m.Gauge().DataPoints().At(0).Attributes()
				case pmetric.MetricTypeExponentialHistogram:
					attributes = m.ExponentialHistogram().DataPoints().At(0).Attributes()
				}
				series[name+attributesKey(attributes)] = true
			}
		}
	}
	require.Len(t, series, 7, "four of sessions, two of check-ins, one of measurements")
}

// TestKeptOrigin: with the setting, a measurement has its profiler session on the point.
func TestKeptOrigin(t *testing.T) {
	c := &profile.Chunk{ProfilerID: "P", ChunkID: "C", Measurements: []profile.Measurement{{Name: "cpu_usage", Values: []profile.MeasurementValue{{Timestamp: 1795224000}}}}}
	c.Samples.Time = []uint64{1795224000000000000}
	keeping := metricSource
	keeping.PointAttributes = []string{"sentry.profiler_id"}
	out, _ := ChunkMeasurementsToMetrics(c, keeping)
	point := metricsByName(t, out)["sentry.profile.cpu_usage|"].Gauge().DataPoints().At(0)
	require.Equal(t, map[string]any{"sentry.profiler_id": "P"}, point.Attributes().AsRaw())
	require.Equal(t, map[string]any{"sentry.chunk_id": "C"}, point.Exemplars().At(0).FilteredAttributes().AsRaw())
}

// traceMetrics is TraceMetricsToMetrics without the losses.
func traceMetrics(c *event.MetricContainer, src Source) pmetric.Metrics {
	out, _ := TraceMetricsToMetrics(c, src)
	return out
}
