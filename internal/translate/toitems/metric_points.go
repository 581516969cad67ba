// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"math"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// A histogram does not contain its values. Sentry's type for values, the distribution, is therefore
// used only for exemplars, whose values are exact. Sum, count and extremes become separate metrics.
const (
	suffixSum      = ".sum"
	suffixCount    = ".count"
	suffixMin      = ".min"
	suffixMax      = ".max"
	suffixBucket   = ".bucket"
	suffixQuantile = ".quantile"
)

// aggregate is the data that both types of histograms share.
type aggregate interface {
	Attributes() pcommon.Map
	Timestamp() pcommon.Timestamp
	Flags() pmetric.DataPointFlags
	Count() uint64
	HasSum() bool
	Sum() float64
	HasMin() bool
	Min() float64
	HasMax() bool
	Max() float64
	Exemplars() pmetric.ExemplarSlice
}

// aggregate adds the elements of a histogram. It reports whether the caller may also add its
// buckets.
//
// The recordings of a distribution from Sentry are its exemplars, if it has one for each.
func (p *point) aggregate(data aggregate) (buckets bool) {
	p.at, p.attrs = data.Timestamp(), data.Attributes()
	exemplars := data.Exemplars()
	switch {
	case data.Flags().NoRecordedValue():
		p.lose(event.ReasonMetricNoValue)
		return false
	case p.FromSentry && data.Count() == uint64(exemplars.Len()):
		p.recordings(event.MetricDistribution, exemplars)
		return false
	}
	if data.HasSum() && data.Sum() >= 0 {
		p.value(event.MetricCounter, suffixSum, p.unit, data.Sum())
	}
	p.value(event.MetricCounter, suffixCount, "", float64(data.Count()))
	if data.HasMin() {
		p.value(event.MetricGauge, suffixMin, p.unit, data.Min())
	}
	if data.HasMax() {
		p.value(event.MetricGauge, suffixMax, p.unit, data.Max())
	}
	if p.options.Exemplars || p.FromSentry {
		p.recordings(event.MetricDistribution, exemplars)
	}
	return p.options.Buckets
}

func (p *point) histogram(data pmetric.HistogramDataPoint) {
	if !p.aggregate(data) {
		return
	}
	bounds, counts := data.ExplicitBounds(), data.BucketCounts()
	for i := range counts.Len() {
		bound := math.Inf(1)
		if i < bounds.Len() {
			bound = bounds.At(i)
		}
		p.bucket(bound, counts.At(i))
	}
}

func (p *point) exponential(data pmetric.ExponentialHistogramDataPoint) {
	if !p.aggregate(data) {
		return
	}
	// A bucket ends at base^(index+1), where base = 2^(2^-scale).
	end := func(index int) float64 { return math.Exp2(math.Ldexp(float64(index), -int(data.Scale()))) }
	negative := data.Negative().BucketCounts()
	for i := negative.Len() - 1; i >= 0; i-- { // the bound that is nearer to zero
		p.bucket(-end(int(data.Negative().Offset())+i), negative.At(i))
	}
	p.bucket(data.ZeroThreshold(), data.ZeroCount())
	positive := data.Positive().BucketCounts()
	for i := range positive.Len() {
		p.bucket(end(int(data.Positive().Offset())+i+1), positive.At(i))
	}
}

// bucket adds the count of a bucket with its upper bound. Empty buckets add nothing to a counter.
func (p *point) bucket(bound float64, count uint64) {
	if count > 0 {
		p.labeled(event.MetricCounter, suffixBucket, "", float64(count), semconv.Le, bound)
	}
}

// summary adds the quantiles. Count and sum of a summary are totals since a start, which it does
// not state.
func (p *point) summary(data pmetric.SummaryDataPoint) {
	p.at, p.attrs = data.Timestamp(), data.Attributes()
	if data.Flags().NoRecordedValue() {
		p.lose(event.ReasonMetricNoValue)
		return
	}
	p.value(event.MetricGauge, suffixSum, p.unit, data.Sum())
	p.value(event.MetricGauge, suffixCount, "", float64(data.Count()))
	for _, quantile := range data.QuantileValues().All() {
		p.labeled(event.MetricGauge, suffixQuantile, p.unit, quantile.Value(), semconv.Quantile, quantile.Quantile())
	}
}

// labeled adds a value with an additional attribute.
func (p *point) labeled(kind event.MetricType, suffix, unit string, value float64, key string, label float64) {
	own := pcommon.NewMap()
	own.PutStr(key, strconv.FormatFloat(label, 'g', -1, 64))
	p.finite(kind, suffix, unit, value, own)
}

func (p *point) value(kind event.MetricType, suffix, unit string, value float64) {
	p.finite(kind, suffix, unit, value, pcommon.Map{})
}

func (p *point) finite(kind event.MetricType, suffix, unit string, value float64, own pcommon.Map) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		p.lose(event.ReasonMetricNoValue)
		return
	}
	p.emit(kind, p.name+suffix, unit, value, pcommon.TraceID{}, pcommon.SpanID{}, own)
}

// jsonGrowth is the size of a control character in JSON.
const jsonGrowth = 6

// emit adds an element with the attributes of the point, its additional attributes, and those of
// the resource.
func (p *point) emit(kind event.MetricType, name, unit string, value float64, trace pcommon.TraceID, span pcommon.SpanID, own pcommon.Map) {
	out := &p.element
	p.scratch.Reset()
	*out = event.TraceMetric{
		Attributes: out.Attributes[:0], Timestamp: p.timestamp(p.at), Name: name, Type: kind, Value: value, Unit: unit,
	}
	synthetic := false
	out.TraceID, synthetic = p.traceID(trace, out.Timestamp.UnixNano, &p.options.Options)
	if !synthetic {
		out.SpanID = attr.SpanText(span)
	}
	size := jsonGrowth * (len(name) + len(unit))
	for _, attrs := range []pcommon.Map{p.attrs, own} {
		if attrs == (pcommon.Map{}) {
			continue
		}
		for key, value := range attrs.All() {
			a := p.scratch.Attribute(key, value)
			size += len(a.Key) + len(a.Value)
			out.Attributes = append(out.Attributes, a)
		}
	}
	if attr.IsCustomUnit(unit) && attr.TextOf(p.attrs, semconv.SentryMetricUnit) == "" {
		out.Attributes = append(out.Attributes, event.Attribute{Key: semconv.SentryMetricUnit, Type: "string", Value: p.scratch.Text(unit)})
		size += jsonGrowth*len(unit) + len(semconv.SentryMetricUnit)
	}
	if !p.spend(size) {
		p.lose(ReasonOutputLimit)
		return
	}
	out.Attributes, out.Shared = p.withShared(out.Attributes, p.source, p.attrs)
	if synthetic {
		out.Attributes = append(out.Attributes, flag(semconv.SentryTraceIDSynthetic))
	}
	p.put(&p.container, out)
}
