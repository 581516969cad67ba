// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// MetricOptions configure the translation of metrics. Sentry bills each element of a container.
type MetricOptions struct {
	Options

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
	e := metricExporter{exporter: newExporter(o.Options, func() int { return new(pmetric.ProtoMarshaler).MetricsSize(metrics) }, memory{}), options: o}
	e.container = e.newContainer(sentry.ItemTraceMetric, sentry.ContentTypeTraceMetrics, sentry.MaxOutgoingMetrics)
	defer e.container.release()
	for _, resource := range metrics.ResourceMetrics().All() {
		e.resource.Read(resource.Resource().Attributes())
		for _, scope := range resource.ScopeMetrics().All() {
			s := newSource(&e.resource, scope.Scope(), &o.Options)
			var own ownMetrics
			for _, metric := range scope.Metrics().All() {
				if !e.resource.FromSentry || !own.take(&e.exporter, metric) {
					e.metric(metric, s)
				}
			}
			own.write(&e.exporter, s)
		}
	}
	e.flush(&e.container)
	return e.Export
}

// metricExporter translates one message of metrics.
type metricExporter struct {
	exporter
	options   MetricOptions
	container container
	element   event.TraceMetric // of the current point
}

// metric translates a metric.
func (e *metricExporter) metric(metric pmetric.Metric, s *source) {
	if e.options.Selected != nil && !e.options.Selected(metric.Name()) {
		e.Lost = discard.AddLoss(e.Lost, ReasonNotSelected, pointsOf(metric))
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
		if reason := refusal(metric.Histogram().AggregationTemporality()); reason != "" {
			e.Lost = discard.AddLoss(e.Lost, reason, pointsOf(metric))
			return
		}
		for _, data := range metric.Histogram().DataPoints().All() {
			p.histogram(data)
		}
	case pmetric.MetricTypeExponentialHistogram:
		if reason := refusal(metric.ExponentialHistogram().AggregationTemporality()); reason != "" {
			e.Lost = discard.AddLoss(e.Lost, reason, pointsOf(metric))
			return
		}
		for _, data := range metric.ExponentialHistogram().DataPoints().All() {
			p.exponential(data)
		}
	case pmetric.MetricTypeSummary:
		for _, data := range metric.Summary().DataPoints().All() {
			p.summary(data)
		}
	}
}

func pointsOf(metric pmetric.Metric) int {
	switch metric.Type() {
	case pmetric.MetricTypeGauge:
		return metric.Gauge().DataPoints().Len()
	case pmetric.MetricTypeSum:
		return metric.Sum().DataPoints().Len()
	case pmetric.MetricTypeHistogram:
		return metric.Histogram().DataPoints().Len()
	case pmetric.MetricTypeExponentialHistogram:
		return metric.ExponentialHistogram().DataPoints().Len()
	case pmetric.MetricTypeSummary:
		return metric.Summary().DataPoints().Len()
	}
	return 0
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
		p.Lost = discard.AddLoss(p.Lost, reason, sum.DataPoints().Len())
		return
	}
	for _, data := range sum.DataPoints().All() {
		p.number(kind, data)
	}
}

// point translates the points of a metric.
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
		p.lose(event.ReasonMetricNoValue)
	case kind == event.MetricCounter && value < 0:
		p.lose(event.ReasonMetricNegativeCounter)
	case kind == event.MetricCounter && p.FromSentry && total(exemplars) <= value && exemplars.Len() > 0:
		p.recordings(kind, exemplars)
		if rest := value - total(exemplars); rest > 0 {
			p.emit(kind, p.name, p.unit, rest, pcommon.TraceID{}, pcommon.SpanID{}, pcommon.Map{})
		}
	case exemplars.Len() > 0:
		last := exemplars.At(exemplars.Len() - 1)
		p.emit(kind, p.name, p.unit, value, last.TraceID(), last.SpanID(), last.FilteredAttributes())
	default:
		p.emit(kind, p.name, p.unit, value, pcommon.TraceID{}, pcommon.SpanID{}, pcommon.Map{})
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
			p.lose(event.ReasonMetricNoValue)
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
