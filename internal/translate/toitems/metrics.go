// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"iter"
	"math"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// MetricOptions configure the translation of metrics. Sentry bills each element of a container.
type MetricOptions struct {
	tosentry.ExportOptions

	Selected  func(name string) bool // nil = all
	Buckets   bool                   // elements for the buckets of histograms
	Exemplars bool                   // elements for the exemplars of histograms
}

// Reasons for dropping data points.
const (
	// ReasonCumulative: the point is a cumulative total, but Sentry adds up the values of a
	// counter.
	ReasonCumulative discard.Reason = "metric_cumulative"
	// ReasonTemporality: the temporality is unspecified, or the point is a delta of a value that
	// may decrease, for which Sentry has no type.
	ReasonTemporality discard.Reason = "metric_temporality"
	// ReasonNotSelected: the options exclude the metric.
	ReasonNotSelected discard.Reason = "metric_not_selected"
	// ReasonInOtherItem: the receiver derived the metric from an item that is sent back as a
	// profile, a log record or other metrics.
	ReasonInOtherItem discard.Reason = "metric_in_other_item"
	// ReasonNoRelease: the update or the aggregate of sessions has no release, which Sentry
	// requires.
	ReasonNoRelease discard.Reason = "session_no_release"
)

// FromMetrics translates metrics. Metrics that the receiver derived from items become these items
// again; all others become elements of trace_metric containers.
func FromMetrics(metrics pmetric.Metrics, o MetricOptions) tosentry.Export {
	e := metricExporter{exporter: newExporter(o.ExportOptions, func() int { return new(pmetric.ProtoMarshaler).MetricsSize(metrics) }, memory{}), options: o}
	e.container = e.newContainer(sentry.ItemTraceMetric, sentry.ContentTypeTraceMetrics, sentry.MaxOutgoingMetrics)
	defer e.container.release()
	for _, resource := range metrics.ResourceMetrics().All() {
		e.resource.Read(resource.Resource().Attributes())
		for _, scope := range resource.ScopeMetrics().All() {
			s := newSource(&e.resource, scope.Scope(), &o.ExportOptions)
			var own ownMetrics
			for _, metric := range scope.Metrics().All() {
				if !e.resource.FromSentry || !own.take(&e.exporter, metric) {
					e.metric(metric, s)
				}
			}
			own.write(&e.exporter, s)
		}
	}
	e.Flush(&e.container.Container)
	return e.Export
}

// metricExporter translates one message of metrics.
type metricExporter struct {
	exporter
	options   MetricOptions
	container container
	element   event.TraceMetric // of the current point
}

func (e *metricExporter) metric(metric pmetric.Metric, s *source) {
	if e.options.Selected != nil && !e.options.Selected(metric.Name()) {
		e.Lose(ReasonNotSelected, pointsOf(metric))
		return
	}
	p := point{metricExporter: e, source: s, name: attr.Clip(metric.Name(), attr.MaxNameBytes), unit: attr.Clip(attr.SentryUnit(metric.Unit()), attr.MaxNameBytes)}
	switch metric.Type() {
	case pmetric.MetricTypeGauge:
		for _, data := range metric.Gauge().DataPoints().All() {
			p.number(event.MetricGauge, data)
		}
	case pmetric.MetricTypeSum:
		p.sum(metric.Sum())
	case pmetric.MetricTypeHistogram:
		if e.acceptsDeltas(metric, metric.Histogram().AggregationTemporality()) {
			for _, data := range metric.Histogram().DataPoints().All() {
				p.histogram(data)
			}
		}
	case pmetric.MetricTypeExponentialHistogram:
		if e.acceptsDeltas(metric, metric.ExponentialHistogram().AggregationTemporality()) {
			for _, data := range metric.ExponentialHistogram().DataPoints().All() {
				p.exponential(data)
			}
		}
	case pmetric.MetricTypeSummary:
		for _, data := range metric.Summary().DataPoints().All() {
			p.summary(data)
		}
	}
}

func pointsOf(metric pmetric.Metric) (n int) {
	attr.EachPoint(metric, func(pcommon.Map, iter.Seq2[int, pmetric.Exemplar]) { n++ })
	return n
}

// acceptsDeltas reports whether points can be sent as counts, and otherwise counts them as lost.
func (e *metricExporter) acceptsDeltas(metric pmetric.Metric, t pmetric.AggregationTemporality) bool {
	reason := refusal(t)
	if reason != "" {
		e.Lose(reason, pointsOf(metric))
	}
	return reason == ""
}

// refusal returns the reason why points cannot be sent as counts, or "" if they can.
func refusal(t pmetric.AggregationTemporality) discard.Reason {
	switch t {
	case pmetric.AggregationTemporalityDelta:
		return ""
	case pmetric.AggregationTemporalityCumulative:
		return ReasonCumulative
	}
	return ReasonTemporality
}

// sum translates monotonic deltas to counters, and current values to gauges.
func (p *point) sum(sum pmetric.Sum) {
	kind, reason := event.MetricCounter, refusal(sum.AggregationTemporality())
	if !sum.IsMonotonic() {
		switch reason {
		case ReasonCumulative: // the current value of an up-down counter
			kind, reason = event.MetricGauge, ""
		default:
			reason = ReasonTemporality
		}
	}
	if reason != "" {
		p.Lose(reason, sum.DataPoints().Len())
		return
	}
	for _, data := range sum.DataPoints().All() {
		p.number(kind, data)
	}
}

type point struct {
	*metricExporter
	*source
	name, unit string
	at         pcommon.Timestamp
	attrs      pcommon.Map
}

// number translates a point with one value. The recordings of a counter from Sentry are its
// exemplars, and one element for the rest of its value.
func (p *point) number(kind event.MetricType, data pmetric.NumberDataPoint) {
	p.at, p.attrs = data.Timestamp(), data.Attributes()
	value := data.DoubleValue()
	if data.ValueType() == pmetric.NumberDataPointValueTypeInt {
		value = float64(data.IntValue())
	}
	exemplars := data.Exemplars()
	switch {
	case data.Flags().NoRecordedValue() || data.ValueType() == pmetric.NumberDataPointValueTypeEmpty || math.IsNaN(value) || math.IsInf(value, 0):
		p.Lose(event.ReasonMetricNoValue, 1)
	case kind == event.MetricCounter && value < 0:
		p.Lose(event.ReasonMetricNegativeCounter, 1)
	case kind == event.MetricCounter && p.FromSentry && total(exemplars) <= value && exemplars.Len() > 0:
		p.recordings(kind, exemplars)
		if rest := value - total(exemplars); rest > 0 {
			p.value(kind, "", p.unit, rest)
		}
	case exemplars.Len() > 0:
		last := exemplars.At(exemplars.Len() - 1)
		p.emit(kind, p.name, p.unit, value, last.TraceID(), last.SpanID(), last.FilteredAttributes())
	default:
		p.value(kind, "", p.unit, value)
	}
}

func total(exemplars pmetric.ExemplarSlice) (total float64) {
	for _, e := range exemplars.All() {
		total += valueOf(e)
	}
	return total
}

func valueOf(e pmetric.Exemplar) float64 {
	if e.ValueType() == pmetric.ExemplarValueTypeInt {
		return float64(e.IntValue())
	}
	return e.DoubleValue()
}

// recordings adds an element for each exemplar.
func (p *point) recordings(kind event.MetricType, exemplars pmetric.ExemplarSlice) {
	at := p.at
	for _, e := range exemplars.All() {
		value := valueOf(e)
		if math.IsNaN(value) || math.IsInf(value, 0) {
			p.Lose(event.ReasonMetricNoValue, 1)
			continue
		}
		p.at = at
		if e.Timestamp() != 0 {
			p.at = e.Timestamp()
		}
		p.emit(kind, p.name, p.unit, value, e.TraceID(), e.SpanID(), e.FilteredAttributes())
	}
	p.at = at
}

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
		p.Lose(event.ReasonMetricNoValue, 1)
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
		p.Lose(event.ReasonMetricNoValue, 1)
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
		p.Lose(event.ReasonMetricNoValue, 1)
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
	out.TraceID, synthetic = p.traceID(trace, out.Timestamp.UnixNano, &p.options.ExportOptions)
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
	if !p.copies.Spend(size) {
		p.Lose(ReasonOutputLimit, 1)
		return
	}
	out.Attributes, out.Shared = p.withShared(out.Attributes, p.source, p.attrs)
	if synthetic {
		out.Attributes = append(out.Attributes, flag(semconv.SentryTraceIDSynthetic))
	}
	p.Put(&p.container.Container, out)
}
