// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// TraceMetricsToMetrics translates a metric container. SDKs do not aggregate: each element is one
// recording. Counters and distributions with the same name, type, unit and attributes are
// aggregated into one data point without loss; each value of a gauge is kept.
//
// Attributes of recordings (attr.OfRecording) are on exemplars, of which a point has a limited
// number. It returns the number of attributes that have no exemplar.
//
// A point covers the time from its first to its last recording, because payloads do not state the
// time of the previous flush.
func TraceMetricsToMetrics(c *event.MetricContainer, src Source) (out pmetric.Metrics, lost int) {
	id := firstIdentity(c.Metrics, func(m *event.TraceMetric) []event.Attribute { return m.Attributes }, src)
	out, scope := newMetrics(id, src)
	groups := metricGroups{infer: inferenceOf(c.Infers())}
	for i := range c.Metrics {
		groups.add(&c.Metrics[i], &id, src)
	}
	return out, groups.write(scope, src)
}

// CheckInToMetrics translates a check-in: an update about the run of a scheduled job, with the
// duration of a finished run.
func CheckInToMetrics(c *event.CheckIn, src Source) pmetric.Metrics {
	out, scope := newMetrics(checkInIdentity(c, src), src)
	at := instant(c.Timestamp, src)
	attributes := func(m pcommon.Map) {
		attr.PutText(m, semconv.SentryMonitorSlug, c.MonitorSlug)
		attr.PutText(m, semconv.SentryCheckInStatus, c.Status)
	}
	attributes(newCount(scope, attr.MetricCheckIns, at, at, 1).Attributes())
	if c.Duration.Set && c.Duration.Value >= 0 {
		attributes(newDuration(scope, attr.MetricCheckInDuration, at, c.Duration.Value).Attributes())
	}
	return out
}

// ClientReportToMetrics translates a client report, which counts the data that an SDK dropped, by
// reason and category. It covers the time since the previous report, whose time it does not state.
func ClientReportToMetrics(r *event.ClientReport, src Source) pmetric.Metrics {
	out, scope := newMetrics(recalled(attr.Identity{}, src), src)
	at := instant(r.Timestamp, src)
	counts := countSeries{scope: scope, metric: attr.MetricDiscarded}
	for _, e := range r.Events {
		attributes := pcommon.NewMap()
		attr.PutText(attributes, semconv.SentryClientReportReason, e.Reason)
		attr.PutText(attributes, semconv.SentryClientReportCategory, e.Category)
		attr.PutText(attributes, semconv.SentryClientReportOutcome, e.Outcome)
		counts.add(attributes, at, at, e.Quantity)
	}
	return out
}

// instant returns the time of a recording or, if it is missing, the time of receipt.
func instant(t jsonscan.Timestamp, src Source) uint64 {
	if t.Set {
		return src.unixNano(t)
	}
	return src.ReceivedNano
}

func newMetrics(id attr.Identity, src Source) (pmetric.Metrics, pmetric.ScopeMetrics) {
	out := pmetric.NewMetrics()
	resource := out.ResourceMetrics().AppendEmpty()
	scope := resource.ScopeMetrics().AppendEmpty()
	describe(resource, scope, id, src)
	return out, scope
}

// All counts are deltas, because the receiver is stateless and SDKs do not accumulate.
func setDeltaSum(metric pmetric.Metric) pmetric.NumberDataPointSlice {
	sum := metric.SetEmptySum()
	sum.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	sum.SetIsMonotonic(true)
	return sum.DataPoints()
}

func setDeltaHistogram(metric pmetric.Metric) pmetric.ExponentialHistogramDataPointSlice {
	histogram := metric.SetEmptyExponentialHistogram()
	histogram.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	return histogram.DataPoints()
}

func newCount(scope pmetric.ScopeMetrics, text attr.MetricText, start, end uint64, count int64) pmetric.NumberDataPoint {
	return appendCount(setDeltaSum(attr.NewMetric(scope, text)), start, end, count)
}

func appendCount(points pmetric.NumberDataPointSlice, start, end uint64, count int64) pmetric.NumberDataPoint {
	point := points.AppendEmpty()
	point.SetStartTimestamp(pcommon.Timestamp(start))
	point.SetTimestamp(pcommon.Timestamp(end))
	point.SetIntValue(count)
	return point
}

// newDuration returns the point of a new histogram with one value.
func newDuration(scope pmetric.ScopeMetrics, text attr.MetricText, at uint64, seconds float64) pmetric.ExponentialHistogramDataPoint {
	point := setDeltaHistogram(attr.NewMetric(scope, text)).AppendEmpty()
	point.SetStartTimestamp(pcommon.Timestamp(at))
	point.SetTimestamp(pcommon.Timestamp(at))
	fillHistogram(point, []float64{seconds})
	return point
}

// countSeries is a sum that aggregates points with equal attributes and times. The first point
// creates it.
type countSeries struct {
	scope  pmetric.ScopeMetrics
	metric attr.MetricText
	points pmetric.NumberDataPointSlice
	known  map[countKey]pmetric.NumberDataPoint
}

type countKey struct {
	start, end uint64
	attributes string
}

func (s *countSeries) add(attributes pcommon.Map, start, end uint64, count int64) {
	if s.known == nil {
		s.points = setDeltaSum(attr.NewMetric(s.scope, s.metric))
		s.known = map[countKey]pmetric.NumberDataPoint{}
	}
	key := countKey{start, end, attributesKey(attributes)}
	if point, known := s.known[key]; known {
		point.SetIntValue(point.IntValue() + count)
		return
	}
	point := appendCount(s.points, start, end, count)
	attributes.MoveTo(point.Attributes())
	s.known[key] = point
}
