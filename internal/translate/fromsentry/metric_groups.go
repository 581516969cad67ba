// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// metricGroups groups the elements of a container by metric and data point, in order of first
// appearance.
type metricGroups struct {
	byName map[metricName]*metricGroup
	list   []*metricGroup
	infer  *inference
}

// metricName identifies a metric. In OpenTelemetry, unit and type are part of the identity.
type metricName struct {
	name, unit string
	kind       event.MetricType
}

// metricGroup becomes a metric.
type metricGroup struct {
	metricName
	byAttributes map[string]*metricSeries
	series       []*metricSeries
}

// metricSeries becomes a data point.
type metricSeries struct {
	attributes pcommon.Map
	elements   []metricElement
}

type metricElement struct {
	*event.TraceMetric
	recording pcommon.Map // attributes of this recording only
}

func (g *metricGroups) add(m *event.TraceMetric, id *attr.Identity, src Source) {
	name := metricName{name: m.Name, unit: attr.UcumUnit(m.Unit), kind: m.Type}
	group, known := g.byName[name]
	if !known {
		if g.byName == nil {
			g.byName = map[metricName]*metricGroup{}
		}
		group = &metricGroup{metricName: name, byAttributes: map[string]*metricSeries{}}
		g.byName[name] = group
		g.list = append(g.list, group)
	}
	attributes, recording := g.metricAttributes(m, id, src)
	group.add(attributes, metricElement{TraceMetric: m, recording: recording})
}

func (g *metricGroup) add(attributes pcommon.Map, element metricElement) {
	series := &metricSeries{attributes: attributes}
	if g.kind != event.MetricGauge { // each value of a gauge is a separate point
		key := attributesKey(attributes)
		if known, ok := g.byAttributes[key]; ok {
			known.elements = append(known.elements, element)
			return
		}
		g.byAttributes[key] = series
	}
	series.elements = []metricElement{element}
	g.series = append(g.series, series)
}

// metricAttributes returns the attributes of an element for the data point, and those for the
// recording, which become attributes of an exemplar.
func (g *metricGroups) metricAttributes(m *event.TraceMetric, id *attr.Identity, src Source) (attributes, recording pcommon.Map) {
	attributes, recording = pcommon.NewMap(), pcommon.NewMap()
	attributes.EnsureCapacity(len(m.Attributes))
	for i := range m.Attributes {
		putAttribute(attributes, &m.Attributes[i], id, src)
	}
	g.infer.complete(attributes, attributes, src)
	attributes.RemoveIf(func(key string, value pcommon.Value) bool {
		if !src.ofRecording(key) {
			return false
		}
		value.MoveTo(recording.PutEmpty(key))
		return true
	})
	return attributes, recording
}

// attributesKey returns a key that is equal for equal attributes, regardless of their order.
func attributesKey(m pcommon.Map) string {
	entries := make([]string, 0, m.Len())
	for key, value := range m.All() {
		entry := binary.AppendUvarint(nil, uint64(len(key)))
		entry = append(append(entry, key...), byte(value.Type()))
		entries = append(entries, string(append(entry, value.AsString()...)))
	}
	slices.Sort(entries)
	var all []byte
	for _, entry := range entries {
		all = append(binary.AppendUvarint(all, uint64(len(entry))), entry...)
	}
	return string(all)
}

// write appends all metrics, and returns the number of attributes of recordings without an
// exemplar.
func (g *metricGroups) write(scope pmetric.ScopeMetrics, src Source) (lost int) {
	for _, group := range g.list {
		metric := scope.Metrics().AppendEmpty()
		metric.SetName(strings.Clone(group.name))
		metric.SetUnit(strings.Clone(group.unit))
		group.write(metric, src)
		for _, series := range group.series {
			for _, e := range series.elements[min(maxExemplars, len(series.elements)):] {
				lost += e.recording.Len()
			}
		}
	}
	return lost
}

func (g *metricGroup) write(metric pmetric.Metric, src Source) {
	if g.kind == event.MetricDistribution {
		points := setDeltaHistogram(metric)
		for _, series := range g.series {
			point := points.AppendEmpty()
			series.describe(point, src)
			values := make([]float64, len(series.elements))
			for i, e := range series.elements {
				values[i] = e.Value
			}
			fillHistogram(point, values)
		}
		return
	}
	var points pmetric.NumberDataPointSlice
	if g.kind == event.MetricCounter {
		points = setDeltaSum(metric)
	} else {
		points = metric.SetEmptyGauge().DataPoints()
	}
	for _, series := range g.series {
		point := points.AppendEmpty()
		series.describe(point, src)
		total := series.elements[0].Value // of a gauge, the only one
		for _, e := range series.elements[1:] {
			total += e.Value
		}
		point.SetDoubleValue(total)
	}
}

type dataPoint interface {
	Attributes() pcommon.Map
	SetStartTimestamp(pcommon.Timestamp)
	SetTimestamp(pcommon.Timestamp)
	Exemplars() pmetric.ExemplarSlice
}

// describe sets everything except the value.
func (s *metricSeries) describe(point dataPoint, src Source) {
	s.attributes.MoveTo(point.Attributes())
	first, last := instant(s.elements[0].Timestamp, src), uint64(0)
	for _, e := range s.elements {
		at := instant(e.Timestamp, src)
		first, last = min(first, at), max(last, at)
	}
	point.SetStartTimestamp(pcommon.Timestamp(first))
	point.SetTimestamp(pcommon.Timestamp(last))
	for _, e := range s.elements[:min(maxExemplars, len(s.elements))] {
		e.exemplar(point.Exemplars(), src)
	}
}

// maxExemplars limits the exemplars of a data point, which are those of its first recordings. It is
// the default of OpenTelemetry's SDKs for exponential histograms.
const maxExemplars = 20

// exemplar links the recording to its span.
func (e metricElement) exemplar(exemplars pmetric.ExemplarSlice, src Source) {
	trace := attr.TraceIDOf(e.TraceID)
	if trace.IsEmpty() && e.recording.Len() == 0 {
		return
	}
	exemplar := exemplars.AppendEmpty()
	exemplar.SetTimestamp(pcommon.Timestamp(instant(e.Timestamp, src)))
	exemplar.SetDoubleValue(e.Value)
	exemplar.SetTraceID(trace)
	if !trace.IsEmpty() {
		exemplar.SetSpanID(attr.SpanIDOf(e.SpanID))
	}
	e.recording.MoveTo(exemplar.FilteredAttributes())
}

// Bucket i of an exponential histogram contains the values in (base^i, base^(i+1)] with
// base = 2^(2^-scale). A bucket is open below, and each scale step halves its width in the
// logarithm.
// https://opentelemetry.io/docs/specs/otel/metrics/data-model/#exponentialhistogram

// The defaults of OpenTelemetry's SDKs. At scale -4, 160 buckets cover the range of a double,
// 2^-1074 to 2^1024: every set of values fits.
const (
	maxHistogramScale   = 20
	maxHistogramBuckets = 160
)

// fillHistogram sets a histogram of finite values, at least one, with the finest scale at which
// both signs fit into maxHistogramBuckets.
func fillHistogram(point pmetric.ExponentialHistogramDataPoint, values []float64) {
	var positive, negative []int // bucket of each value at maxHistogramScale
	least, most, sum := values[0], values[0], 0.0
	for _, v := range values {
		least, most, sum = min(least, v), max(most, v), sum+v
		switch {
		case v > 0:
			positive = append(positive, bucketIndex(v))
		case v < 0:
			negative = append(negative, bucketIndex(-v))
		}
	}
	point.SetCount(uint64(len(values)))
	point.SetZeroCount(uint64(len(values) - len(positive) - len(negative)))
	point.SetMin(least)
	point.SetMax(most)
	if len(negative) == 0 { // OTLP: no sum with negative values, because it would not be monotonic
		point.SetSum(sum)
	}
	shift := max(shiftToFit(positive), shiftToFit(negative))
	point.SetScale(maxHistogramScale - int32(shift))
	fillBuckets(point.Positive(), positive, shift)
	fillBuckets(point.Negative(), negative, shift)
}

// bucketIndex returns the bucket of a positive value at maxHistogramScale: ceil(log2(v) *
// 2^maxHistogramScale) - 1. It separates the exponent and uses the logarithm of 1+x, so that powers
// of two are exactly on their boundary and the next double is above it.
func bucketIndex(v float64) int {
	fraction, exponent := math.Frexp(v) // v = fraction * 2^exponent with fraction in [1/2, 1)
	above := math.Log1p(2*fraction-1) / math.Ln2
	return (exponent-1)<<maxHistogramScale + int(math.Ceil(math.Ldexp(above, maxHistogramScale))) - 1
}

// shiftToFit returns the number of scale steps until the buckets fit. Each step merges buckets 2i
// and 2i+1.
func shiftToFit(indices []int) (shift int) {
	if len(indices) == 0 {
		return 0
	}
	low, high := slices.Min(indices), slices.Max(indices)
	for high>>shift-low>>shift >= maxHistogramBuckets {
		shift++
	}
	return shift
}

func fillBuckets(buckets pmetric.ExponentialHistogramDataPointBuckets, indices []int, shift int) {
	if len(indices) == 0 {
		return
	}
	low, high := slices.Min(indices), slices.Max(indices)
	counts := make([]uint64, high>>shift-low>>shift+1)
	for _, i := range indices {
		counts[i>>shift-low>>shift]++
	}
	buckets.SetOffset(int32(low >> shift))
	buckets.BucketCounts().FromRaw(counts)
}
