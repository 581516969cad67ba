// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// DumpMetrics writes data points as text for people.
func DumpMetrics(metrics pmetric.Metrics, receipt Receipt) string {
	d := dumper{receipt: receipt}
	for _, resource := range metrics.ResourceMetrics().All() {
		for _, scope := range resource.ScopeMetrics().All() {
			d.head(resource.Resource(), scope.Scope(), resource.SchemaUrl(), scope.SchemaUrl())
			for _, metric := range scope.Metrics().All() {
				d.metric(metric)
			}
		}
	}
	return d.out.String()
}

func (d *dumper) metric(m pmetric.Metric) {
	words := []string{"metric", fmt.Sprintf("%q", m.Name()), m.Type().String()}
	if m.Unit() != "" {
		words = append(words, "unit="+m.Unit())
	}
	switch m.Type() {
	case pmetric.MetricTypeSum:
		words = append(words, m.Sum().AggregationTemporality().String())
		if m.Sum().IsMonotonic() {
			words = append(words, "monotonic")
		}
	case pmetric.MetricTypeExponentialHistogram:
		words = append(words, m.ExponentialHistogram().AggregationTemporality().String())
	}
	d.line(0, "%s", strings.Join(words, " "))
	if m.Description() != "" {
		d.line(1, "description %q", m.Description())
	}
	switch m.Type() {
	case pmetric.MetricTypeSum:
		d.numbers(m.Sum().DataPoints())
	case pmetric.MetricTypeGauge:
		d.numbers(m.Gauge().DataPoints())
	case pmetric.MetricTypeExponentialHistogram:
		for _, point := range m.ExponentialHistogram().DataPoints().All() {
			d.distribution(point)
		}
	default:
		d.line(1, "not known to the dump")
	}
}

func (d *dumper) numbers(points pmetric.NumberDataPointSlice) {
	for _, point := range points.All() {
		if point.ValueType() == pmetric.NumberDataPointValueTypeInt {
			d.line(1, "point %d", point.IntValue())
		} else {
			d.line(1, "point %s", doubleText(point.DoubleValue()))
		}
		d.point(point.StartTimestamp(), point.Timestamp(), point.Attributes(), point.Exemplars())
	}
}

func (d *dumper) distribution(point pmetric.ExponentialHistogramDataPoint) {
	words := []string{fmt.Sprintf("point count=%d", point.Count())}
	if point.HasSum() {
		words = append(words, "sum="+doubleText(point.Sum()))
	}
	if point.HasMin() {
		words = append(words, "min="+doubleText(point.Min()))
	}
	if point.HasMax() {
		words = append(words, "max="+doubleText(point.Max()))
	}
	d.line(1, "%s", strings.Join(words, " "))
	d.line(2, "scale     %d", point.Scale())
	d.buckets("positive", point.Positive())
	if point.ZeroCount() > 0 {
		d.line(2, "zero      %d", point.ZeroCount())
	}
	d.buckets("negative", point.Negative())
	d.point(point.StartTimestamp(), point.Timestamp(), point.Attributes(), point.Exemplars())
}

// buckets prints those that are not empty, by their index.
func (d *dumper) buckets(sign string, buckets pmetric.ExponentialHistogramDataPointBuckets) {
	var words []string
	for i, count := range buckets.BucketCounts().All() {
		if count > 0 {
			words = append(words, fmt.Sprintf("%d:%d", int(buckets.Offset())+i, count))
		}
	}
	if words != nil {
		d.line(2, "%-9s %s", sign, strings.Join(words, " "))
	}
}

func (d *dumper) point(start, end pcommon.Timestamp, attributes pcommon.Map, exemplars pmetric.ExemplarSlice) {
	d.time(2, "start", start)
	d.time(2, "time", end)
	d.attributes(2, attributes)
	for _, exemplar := range exemplars.All() {
		if exemplar.ValueType() == pmetric.ExemplarValueTypeInt {
			d.line(2, "exemplar %d", exemplar.IntValue())
		} else {
			d.line(2, "exemplar %s", doubleText(exemplar.DoubleValue()))
		}
		d.time(3, "time", exemplar.Timestamp())
		d.ids(3, exemplar.TraceID(), exemplar.SpanID())
		d.attributes(3, exemplar.FilteredAttributes())
	}
}
