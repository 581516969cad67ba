// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// newMetrics returns a message with one resource and one scope, which is the SDK.
func newMetrics(id attr.Identity, src Source) (pmetric.Metrics, pmetric.ScopeMetrics) {
	out := pmetric.NewMetrics()
	resource := out.ResourceMetrics().AppendEmpty()
	resource.SetSchemaUrl(semconv.SchemaURL)
	fillResource(resource.Resource().Attributes(), id, src)
	scope := resource.ScopeMetrics().AppendEmpty()
	scope.SetSchemaUrl(semconv.SchemaURL)
	fillScope(scope.Scope(), id)
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

// newCount returns the point of a new sum.
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
