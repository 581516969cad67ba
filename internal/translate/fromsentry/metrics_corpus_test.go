// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/histogramtest"
)

// TestMetricsCorpus translates all that becomes metrics in the recorded requests, and compares
// counts, sums, times and traces with what encoding/json reads from the payloads.
func TestMetricsCorpus(t *testing.T) {
	items, elements := map[sentry.ItemType]int{}, map[sentry.ItemType]int{}
	for _, request := range recordings(t) {
		envelope := request.envelope
		if envelope == nil {
			continue
		}
		src := metricSource
		src.SDK = sentry.ClientSDK{Name: envelope.Header.SDK.Name, Version: envelope.Header.SDK.Version}
		for _, item := range envelope.Items {
			check, known := metricChecks[item.Header.Type]
			if !known {
				continue
			}
			if n := check(t, request.Name, item.Payload, src); n > 0 {
				items[item.Header.Type]++
				elements[item.Header.Type] += n
			}
		}
	}
	requireCounts(t, map[sentry.ItemType]int{
		"trace_metric": 30, "session": 26, "sessions": 18, "client_report": 22, "check_in": 44, "profile": 27, "profile_chunk": 50,
	}, items)
	t.Logf("elements: %v", elements)
}

// metricChecks compare one item, and give the number of its elements, points or entries.
var metricChecks = map[sentry.ItemType]func(*testing.T, string, []byte, Source) int{
	sentry.ItemTraceMetric:  checkTraceMetrics,
	sentry.ItemSession:      checkSession,
	sentry.ItemSessions:     checkSessions,
	sentry.ItemClientReport: checkClientReport,
	sentry.ItemCheckIn:      checkCheckInMetrics,
	sentry.ItemProfile:      checkProfileMeasurements,
	sentry.ItemProfileChunk: checkChunkMeasurements,
}

func readJSON(t *testing.T, name string, payload []byte, into any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(payload, into), name)
}

// rawInstant reads RFC 3339 text, or unix seconds to the microsecond, as encoding/json gives them.
func rawInstant(t *testing.T, raw any) time.Time {
	t.Helper()
	if text, ok := raw.(string); ok {
		at, err := time.Parse(time.RFC3339Nano, text)
		require.NoError(t, err)
		return at
	}
	return time.UnixMicro(int64(math.Round(raw.(float64) * 1e6)))
}

// tally is what came out under a name: how often, and how much.
type tally struct {
	count int
	sum   float64
}

func checkTraceMetrics(t *testing.T, name string, payload []byte, src Source) int {
	var want struct {
		Items []struct {
			Name, Type string
			Timestamp  any
			TraceID    string `json:"trace_id"`
			SpanID     string `json:"span_id"`
			Value      float64
			Attributes map[string]struct{ Value any }
		}
	}
	readJSON(t, name, payload, &want)
	in, traces, first, last := map[string]tally{}, map[string]bool{}, time.Time{}, time.Time{}
	for _, e := range want.Items {
		key := e.Name + " " + e.Type
		in[key] = tally{in[key].count + 1, in[key].sum + e.Value}
		traces[e.TraceID+"/"+e.SpanID] = true
		at := rawInstant(t, e.Timestamp)
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}

	c, err := event.DecodeTraceMetrics(payload, jsonscan.Optional[int]{})
	require.NoError(t, err, name)
	require.Empty(t, c.Lost, name)
	require.Empty(t, c.Flaws, name)
	out := traceMetrics(c, src)
	requireIdentity(t, name, out, want.Items[0].Attributes["sentry.release"].Value)

	got, tied := map[string]tally{}, map[string]bool{}
	earliest, latest := uint64(math.MaxUint64), uint64(0)
	visit := func(key string, count int, sum float64, point dataPointTimes) {
		got[key] = tally{got[key].count + count, got[key].sum + sum}
		earliest, latest = min(earliest, uint64(point.StartTimestamp())), max(latest, uint64(point.Timestamp()))
		require.LessOrEqual(t, point.Exemplars().Len(), maxExemplars)
		for _, e := range point.Exemplars().All() {
			span := ""
			if !e.SpanID().IsEmpty() {
				span = e.SpanID().String()
			}
			tied[e.TraceID().String()+"/"+span] = true
		}
	}
	for _, m := range out.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
		switch m.Type() {
		case pmetric.MetricTypeSum:
			for _, p := range m.Sum().DataPoints().All() {
				visit(m.Name()+" counter", p.Exemplars().Len(), p.DoubleValue(), p) // none has more than 20
			}
		case pmetric.MetricTypeGauge:
			for _, p := range m.Gauge().DataPoints().All() {
				visit(m.Name()+" gauge", 1, p.DoubleValue(), p)
			}
		case pmetric.MetricTypeExponentialHistogram:
			for _, p := range m.ExponentialHistogram().DataPoints().All() {
				histogramtest.CheckCounts(t, p)
				visit(m.Name()+" distribution", int(p.Count()), p.Sum(), p)
			}
		}
	}
	require.Len(t, got, len(in), name)
	for key, want := range in {
		require.Equal(t, want.count, got[key].count, "%s: %s", name, key)
		require.InEpsilon(t, want.sum, got[key].sum, 1e-12, "%s: %s", name, key)
	}
	require.Equal(t, traces, tied, name)
	require.WithinDuration(t, first, time.Unix(0, int64(earliest)), time.Microsecond, name)
	require.WithinDuration(t, last, time.Unix(0, int64(latest)), time.Microsecond, name)
	return len(want.Items)
}

// requireIdentity checks that the message is of the release that the payload names.
func requireIdentity(t *testing.T, name string, out pmetric.Metrics, release any) {
	t.Helper()
	resource := out.ResourceMetrics().At(0).Resource().Attributes().AsRaw()
	if release == nil || release == "" {
		require.Equal(t, "sentry-project-4507", resource[semconv.ServiceName], name)
		return
	}
	require.Equal(t, release, resource[semconv.SentryRelease], name)
	service, _, _ := strings.Cut(release.(string), "@")
	require.Equal(t, service, resource[semconv.ServiceName], name)
}

// sums gives what came out under the metric's name and the value of one attribute.
func sums(t *testing.T, out pmetric.Metrics, key string) map[string]float64 {
	t.Helper()
	got := map[string]float64{}
	for name, m := range metricsByName(t, out) {
		name, _, _ = strings.Cut(name, "|")
		if !counted[name] {
			continue
		}
		if m.Type() == pmetric.MetricTypeExponentialHistogram {
			for _, p := range m.ExponentialHistogram().DataPoints().All() {
				histogramtest.CheckCounts(t, p)
				got[name+" "+pointAttribute(p.Attributes(), key)] += p.Sum()
			}
			continue
		}
		for _, p := range m.Sum().DataPoints().All() {
			got[name+" "+pointAttribute(p.Attributes(), key)] += float64(p.IntValue())
		}
	}
	return got
}

func checkSession(t *testing.T, name string, payload []byte, src Source) int {
	var raw struct {
		Init     bool
		Status   string
		Errors   float64
		Duration *float64
		Attrs    struct{ Release any }
	}
	readJSON(t, name, payload, &raw)
	want := map[string]float64{"sentry.session.updates " + raw.Status: 1}
	if raw.Init {
		want["sentry.session.started "] = 1
	}
	if raw.Status != "ok" {
		ending := raw.Status
		if raw.Errors > 0 && ending == "exited" {
			ending = "errored"
		}
		want["sentry.session.count "+ending] = 1
		want["sentry.session.errors "+ending] = raw.Errors
		if raw.Duration != nil {
			want["sentry.session.duration "+ending] = *raw.Duration
		}
	}
	s, err := event.DecodeSession(payload)
	require.NoError(t, err, name)
	require.Empty(t, s.Flaws, name)
	out := SessionToMetrics(s, src)
	require.Equal(t, want, sums(t, out, semconv.SentrySessionStatus), name)
	requireIdentity(t, name, out, raw.Attrs.Release)
	return 1
}

func checkSessions(t *testing.T, name string, payload []byte, src Source) int {
	var raw struct {
		Aggregates []map[string]any
		Attrs      struct{ Release any }
	}
	readJSON(t, name, payload, &raw)
	want := map[string]float64{}
	for _, a := range raw.Aggregates {
		for _, status := range []string{"exited", "errored", "abnormal", "crashed"} {
			if n, _ := a[status].(float64); n > 0 {
				want["sentry.session.started "] += n
				want["sentry.session.count "+status] += n
			}
		}
	}
	s, err := event.DecodeSessions(payload)
	require.NoError(t, err, name)
	require.Empty(t, s.Lost, name)
	require.Empty(t, s.Flaws, name)
	out := SessionsToMetrics(s, src)
	require.Equal(t, want, sums(t, out, semconv.SentrySessionStatus), name)
	requireIdentity(t, name, out, raw.Attrs.Release)
	return len(raw.Aggregates)
}

func checkClientReport(t *testing.T, name string, payload []byte, src Source) int {
	var raw struct {
		Discarded []struct {
			Reason, Category string
			Quantity         float64
		} `json:"discarded_events"`
	}
	readJSON(t, name, payload, &raw)
	want := map[string]float64{}
	for _, e := range raw.Discarded {
		want[e.Reason+" "+e.Category] += e.Quantity
	}
	r, err := event.DecodeClientReport(payload)
	require.NoError(t, err, name)
	require.Empty(t, r.Lost, name)
	require.Empty(t, r.Flaws, name)
	got := map[string]float64{}
	for _, m := range metricsByName(t, ClientReportToMetrics(r, src)) {
		if m.Name() != semconv.MetricSentryClientReportDiscarded {
			continue
		}
		for _, p := range m.Sum().DataPoints().All() {
			got[pointAttribute(p.Attributes(), semconv.SentryClientReportReason)+" "+pointAttribute(p.Attributes(), semconv.SentryClientReportCategory)] += float64(p.IntValue())
			require.Equal(t, event.OutcomeClientDiscard, pointAttribute(p.Attributes(), semconv.SentryClientReportOutcome))
		}
	}
	require.Equal(t, want, got, name)
	return len(raw.Discarded)
}

func checkCheckInMetrics(t *testing.T, name string, payload []byte, src Source) int {
	var raw struct {
		Status   string
		Duration *float64
		Release  any
	}
	readJSON(t, name, payload, &raw)
	want := map[string]float64{"sentry.check_in.count " + raw.Status: 1}
	if raw.Duration != nil {
		want["sentry.check_in.duration "+raw.Status] = *raw.Duration
	}
	c, err := event.DecodeCheckIn(payload)
	require.NoError(t, err, name)
	out := CheckInToMetrics(c, src)
	require.Equal(t, want, sums(t, out, semconv.SentryCheckInStatus), name)
	requireIdentity(t, name, out, raw.Release)
	return 1
}

// rawMeasurements are the series of either format, with the first and last instant of the profile's
// samples.
type rawMeasurements struct {
	Timestamp    any
	Measurements map[string]struct {
		Values []struct {
			Elapsed   float64 `json:"elapsed_since_start_ns"`
			Timestamp float64
			Value     float64
		}
	}
	Profile struct{ Samples []struct{ Timestamp any } }
}

func checkProfileMeasurements(t *testing.T, name string, payload []byte, src Source) int {
	var raw rawMeasurements
	readJSON(t, name, payload, &raw)
	if len(raw.Measurements) == 0 {
		return 0
	}
	start := rawInstant(t, raw.Timestamp).UnixNano()
	p, err := new(profile.Decoder).Profile(payload)
	require.NoError(t, err, name)
	gauges := metricsByName(t, ProfileMeasurementsToMetrics(p, src))
	require.Len(t, gauges, len(raw.Measurements), name)
	return checkGauges(t, name, raw, gauges, func(series string, i int, at int64) {
		require.Equal(t, start+int64(raw.Measurements[series].Values[i].Elapsed), at, name)
	})
}

// checkChunkMeasurements: all chunks with measurements are node's. Repaired, the times are in
// order, keep their distances, and begin within the first samples.
func checkChunkMeasurements(t *testing.T, name string, payload []byte, src Source) int {
	var raw rawMeasurements
	readJSON(t, name, payload, &raw)
	if len(raw.Measurements) == 0 {
		return 0
	}
	from, to := math.Inf(1), 0.0
	for _, s := range raw.Profile.Samples {
		from, to = min(from, s.Timestamp.(float64)), max(to, s.Timestamp.(float64))
	}
	c, err := new(profile.Decoder).Chunk(payload)
	require.NoError(t, err, name)
	out, lost := ChunkMeasurementsToMetrics(c, src)
	require.Zero(t, lost, name)
	gauges := metricsByName(t, out)
	require.Len(t, gauges, len(raw.Measurements), name)
	start := map[string]int64{}
	return checkGauges(t, name, raw, gauges, func(series string, i int, at int64) {
		values := raw.Measurements[series].Values
		if i == 0 {
			start[series] = at
		}
		require.InDelta(t, values[i].Timestamp-values[0].Timestamp, float64(at-start[series])/1e9, 1e-6, name)
		require.GreaterOrEqual(t, float64(at)/1e9, from-0.01, name)
		require.LessOrEqual(t, float64(at)/1e9, to+0.5, name)
	})
}

func checkGauges(t *testing.T, name string, raw rawMeasurements, gauges map[string]pmetric.Metric, checkTime func(series string, i int, at int64)) (total int) {
	t.Helper()
	for series, want := range raw.Measurements {
		unit := map[string]string{"cpu_usage": "%", "memory_footprint": "By"}[series]
		points := gauges["sentry.profile."+series+"|"+unit].Gauge().DataPoints()
		require.Equal(t, len(want.Values), points.Len(), name)
		for i, p := range points.All() {
			require.InDelta(t, want.Values[i].Value, p.DoubleValue(), 0, name)
			require.Empty(t, p.Attributes().AsRaw(), name)
			require.NotEmpty(t, p.Exemplars().At(0).FilteredAttributes().AsRaw(), name)
			checkTime(series, i, int64(p.Timestamp()))
		}
		total += points.Len()
	}
	return total
}

// dataPointTimes is what the corpus test reads from points of all types.
type dataPointTimes interface {
	StartTimestamp() pcommon.Timestamp
	Timestamp() pcommon.Timestamp
	Exemplars() pmetric.ExemplarSlice
}

// FuzzMetrics takes any payload through all that makes metrics: no panic, and histograms whose
// counts add up.
func FuzzMetrics(f *testing.F) {
	for _, payload := range []string{
		threeKinds, `{"sid":"a","init":true,"status":"crashed","duration":1e308,"errors":4}`,
		`{"aggregates":[{"started":1795224960,"exited":21,"crashed":1}]}`, `{"discarded_events":[{"reason":"a","category":"b","quantity":4294967295}]}`,
		`{"monitor_slug":"a","status":"ok","duration":0}`, `{"items":[{"name":"a","type":"distribution","value":-5e-324},{"name":"a","type":"distribution","value":1e308}]}`,
		`{"version":"2","profile":{"samples":[{"timestamp":1,"thread_id":"1","stack_id":0}],"stacks":[[0]],"frames":[{"function":"f"}]},"measurements":{"m":{"unit":"byte","values":[{"timestamp":1795223440515.5,"value":1}]}}}`,
	} {
		f.Add([]byte(payload))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		before := slices.Clone(payload)
		for _, out := range allMetrics(payload) {
			for _, m := range out.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
				require.NotEmpty(t, m.Name())
				if m.Type() == pmetric.MetricTypeExponentialHistogram {
					for _, p := range m.ExponentialHistogram().DataPoints().All() {
						histogramtest.CheckCounts(t, p)
						require.LessOrEqual(t, p.StartTimestamp(), p.Timestamp())
						require.LessOrEqual(t, p.Min(), p.Max())
					}
				}
			}
			_, err := (&pmetric.ProtoMarshaler{}).MarshalMetrics(out)
			require.NoError(t, err)
		}
		require.Equal(t, before, payload, "the payload was changed")
	})
}

// allMetrics is everything that a payload gives, taken for an item of each type.
func allMetrics(payload []byte) (all []pmetric.Metrics) {
	src := metricSource
	if c, err := event.DecodeTraceMetrics(payload, jsonscan.Optional[int]{}); err == nil {
		all = append(all, traceMetrics(c, src))
	}
	if s, err := event.DecodeSession(payload); err == nil {
		all = append(all, SessionToMetrics(s, src))
	}
	if s, err := event.DecodeSessions(payload); err == nil {
		all = append(all, SessionsToMetrics(s, src))
	}
	if r, err := event.DecodeClientReport(payload); err == nil {
		all = append(all, ClientReportToMetrics(r, src))
	}
	if c, err := event.DecodeCheckIn(payload); err == nil {
		all = append(all, CheckInToMetrics(c, src))
	}
	if p, err := new(profile.Decoder).Profile(payload); err == nil {
		all = append(all, ProfileMeasurementsToMetrics(p, src))
	}
	if c, err := new(profile.Decoder).Chunk(payload); err == nil {
		out, _ := ChunkMeasurementsToMetrics(c, src)
		all = append(all, out)
	}
	return all
}
