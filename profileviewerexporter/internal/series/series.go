// SPDX-License-Identifier: Apache-2.0

// Package series reads metrics as series for small charts.
package series

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/listing"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

const (
	// maxRead is the maximum total size of the messages that are read for a response. The first
	// message may exceed it.
	maxRead = 32 << 20
	// maxSeries is the maximum number of series of a response, on all pages.
	maxSeries = 5000
	// maxPoints is the maximum number of points of all series. A point takes 16 bytes.
	maxPoints = 1_000_000
	// steps is the number of values of a chart.
	steps = 60
)

// Answer is a series in a response.
type Answer struct {
	Name    string             `json:"name"`
	Unit    string             `json:"unit,omitempty"`
	Kind    string             `json:"kind"` // sum, total (a cumulative sum), gauge, distribution (averages) or count
	Service string             `json:"service"`
	Labels  []answer.Attribute `json:"labels"`
	Points  int                `json:"points"`
	Latest  float64            `json:"latest"`
	Low     float64            `json:"low"`
	High    float64            `json:"high"`
	Sum     float64            `json:"sum"`
	// Values has one value per time step between first and last: the total for sums, the average
	// for other kinds; null if there are no points.
	Values []*float64 `json:"values"`
}

// ListAnswer is a page of series.
type ListAnswer struct {
	answer.Omissions
	Series []Answer `json:"series"`
	Count  int      `json:"count"`
	Unread int      `json:"unread"` // points in messages that were not read because a limit was reached
	First  string   `json:"first"`
	Last   string   `json:"last"`
}

// series are the points of one metric of one service with equal attributes.
type series struct {
	name, unit, kind, service string
	labels                    pcommon.Map
	points                    []point
	low, high, sum            float64
}

type point struct {
	time  uint64
	value float64
}

// reader collects series.
type reader struct {
	list   map[string]*series
	points int
	unread int
}

// Columns are the columns of the list, the default first.
var Columns = []string{"name", "service", "points"}

var orders = listing.Columns[*series]{
	"name":    func(a, b *series) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.service, b.service)) },
	"service": func(a, b *series) int { return cmp.Or(cmp.Compare(a.service, b.service), cmp.Compare(a.name, b.name)) },
	"points":  func(a, b *series) int { return cmp.Compare(len(a.points), len(b.points)) },
}

// List returns the page of the series in messages that a query selects. The messages must be
// sorted, the newest first.
func List(messages []*store.Message, q listing.Query) (out ListAnswer, err error) {
	r, bytes := reader{list: map[string]*series{}}, 0
	for _, m := range messages {
		if m.Signal != store.Metrics {
			continue
		}
		if bytes += m.EncodedSize(); bytes > max(maxRead, m.EncodedSize()) {
			for _, f := range m.Fragments {
				r.unread += f.Points
			}
			continue
		}
		if err := m.EachMetric(r.add); err != nil {
			return out, err
		}
	}
	return r.page(q), nil
}

func (r *reader) add(metric pmetric.Metric, service string) {
	one := source{r, metric, service}
	switch metric.Type() {
	case pmetric.MetricTypeGauge:
		one.numbers("gauge", metric.Gauge().DataPoints())
	case pmetric.MetricTypeSum:
		kind := "sum"
		if metric.Sum().AggregationTemporality() == pmetric.AggregationTemporalityCumulative {
			kind = "total"
		}
		one.numbers(kind, metric.Sum().DataPoints())
	case pmetric.MetricTypeHistogram:
		for _, p := range metric.Histogram().DataPoints().All() {
			one.distribution(p.Attributes(), p.Timestamp(), p.Count(), p.Sum(), p.HasSum())
		}
	case pmetric.MetricTypeExponentialHistogram:
		for _, p := range metric.ExponentialHistogram().DataPoints().All() {
			one.distribution(p.Attributes(), p.Timestamp(), p.Count(), p.Sum(), p.HasSum())
		}
	case pmetric.MetricTypeSummary:
		for _, p := range metric.Summary().DataPoints().All() {
			one.distribution(p.Attributes(), p.Timestamp(), p.Count(), p.Sum(), true)
		}
	}
}

// source is a metric that is being read.
type source struct {
	*reader
	metric  pmetric.Metric
	service string
}

func (s source) numbers(kind string, points pmetric.NumberDataPointSlice) {
	for _, p := range points.All() {
		value := p.DoubleValue()
		if p.ValueType() == pmetric.NumberDataPointValueTypeInt {
			value = float64(p.IntValue())
		}
		s.point(kind, p.Attributes(), p.Timestamp(), value)
	}
}

// distribution adds the average of a distribution. For a distribution without a sum, which contains
// negative values, it adds the number of values instead.
func (s source) distribution(attributes pcommon.Map, at pcommon.Timestamp, count uint64, sum float64, hasSum bool) {
	if !hasSum {
		s.point("count", attributes, at, float64(count))
	} else if count > 0 {
		s.point("distribution", attributes, at, sum/float64(count))
	}
}

func (s source) point(kind string, attributes pcommon.Map, at pcommon.Timestamp, value float64) {
	key := seriesKey(kind, s.service, s.metric, attributes)
	one := s.list[key]
	if math.IsNaN(value) || math.IsInf(value, 0) || s.points == maxPoints || one == nil && len(s.list) == maxSeries {
		s.unread++
		return
	}
	if one == nil {
		one = &series{
			name: s.metric.Name(), unit: s.metric.Unit(), kind: kind, service: s.service, labels: pcommon.NewMap(), low: value, high: value,
		}
		attributes.CopyTo(one.labels)
		one.labels.RemoveIf(func(key string, _ pcommon.Value) bool { return slices.Contains(identities, key) })
		s.list[key] = one
	}
	s.points++
	one.points = append(one.points, point{uint64(at), value})
	one.low, one.high, one.sum = min(one.low, value), max(one.high, value), one.sum+value
}

// identities are attributes that differ between points of one series: measurements belong to a
// profile.
var identities = []string{semconv.SentryProfileID, semconv.SentryProfilerID, semconv.SentryChunkID}

func seriesKey(kind, service string, metric pmetric.Metric, attributes pcommon.Map) string {
	parts := make([]string, 0, attributes.Len())
	for key, value := range attributes.All() {
		if !slices.Contains(identities, key) {
			parts = append(parts, key+"\x00"+value.AsString())
		}
	}
	slices.Sort(parts)
	return strings.Join(append([]string{kind, service, metric.Name(), metric.Unit()}, parts...), "\x00")
}

func (r *reader) page(q listing.Query) ListAnswer {
	out := ListAnswer{Series: []Answer{}, Unread: r.unread, First: "0", Last: "0"}
	var list []*series
	for _, s := range r.list {
		if q.Wants([]string{s.service}, s.texts()...) {
			list = append(list, s)
		}
	}
	out.Count = len(list)
	slices.SortFunc(list, func(a, b *series) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.service, b.service), slices.Compare(a.texts(), b.texts()))
	})
	page := listing.Page(q, list, orders)
	first, last := span(page)
	out.First, out.Last = answer.Nanos(first), answer.Nanos(last)
	for _, s := range page {
		texts := answer.PerEntry(answer.MaxTexts, len(page), &out.Omissions)
		out.Series = append(out.Series, s.describe(&texts, first, last))
	}
	return out
}

// texts returns the searchable texts.
func (s *series) texts() []string {
	out := []string{s.name, s.service}
	for key, value := range s.labels.All() {
		out = append(out, key+"="+value.AsString())
	}
	slices.Sort(out[2:])
	return out
}

// span returns the times of the first and the last point.
func span(list []*series) (first, last uint64) {
	first = math.MaxUint64
	for _, s := range list {
		for _, p := range s.points {
			first, last = min(first, p.time), max(last, p.time)
		}
	}
	return min(first, last), last
}

func (s *series) describe(texts *answer.Budget, first, last uint64) Answer {
	slices.SortStableFunc(s.points, func(a, b point) int { return cmp.Compare(a.time, b.time) })
	out := Answer{
		Name: texts.Text(s.name), Unit: texts.Text(s.unit), Kind: s.kind, Service: texts.Text(s.service), Labels: texts.Map(s.labels),
		Points: len(s.points), Latest: s.points[len(s.points)-1].value, Low: s.low, High: s.high, Sum: finite(s.sum), Values: make([]*float64, steps),
	}
	counts := make([]float64, steps)
	for _, p := range s.points {
		step := min(int(float64(p.time-first)/float64(max(1, last-first))*steps), steps-1)
		if out.Values[step] == nil {
			out.Values[step] = new(float64)
		}
		counts[step]++
		if s.kind == "sum" {
			*out.Values[step] = finite(*out.Values[step] + p.value)
		} else { // the average so far
			*out.Values[step] += (p.value - *out.Values[step]) / counts[step]
		}
	}
	return out
}

// finite returns a number that JSON can represent.
func finite(value float64) float64 { return min(max(value, -math.MaxFloat64), math.MaxFloat64) }
