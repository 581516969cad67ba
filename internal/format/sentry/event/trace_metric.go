// SPDX-License-Identifier: Apache-2.0

package event

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// MetricContainer is the payload of a "trace_metric" item.
type MetricContainer struct {
	Container
	Metrics []TraceMetric
}

// TraceMetric is one element of a metric container: one recording of one value. SDKs aggregate
// nothing.
// https://develop.sentry.dev/sdk/telemetry/metrics/
type TraceMetric struct {
	Timestamp  jsonscan.Timestamp
	TraceID    string // 32 lower-case hex digits, "" if invalid
	SpanID     string // 16 lower-case hex digits, "" if invalid; Native and Python send none
	Name       string
	Type       MetricType
	Value      float64 // finite; never negative for counters
	Unit       string  // nanosecond … week, bit … exbibyte, ratio, percent, none, or custom: euro
	Attributes []Attribute
	Shared     []byte // members of the attributes as JSON; only written

	hasValue bool // while it is read
}

// MetricType is the type of a metric.
type MetricType string

// The published types.
const (
	MetricCounter      MetricType = "counter"
	MetricGauge        MetricType = "gauge"
	MetricDistribution MetricType = "distribution"
)

// Reasons for dropping an element of a metric container. Other elements are not affected.
const (
	// ReasonMetricNoObject: the element is not a JSON object.
	ReasonMetricNoObject discard.Reason = "metric_no_object"
	// ReasonMetricNoName: the name is absent.
	ReasonMetricNoName discard.Reason = "metric_no_name"
	// ReasonMetricUnknownType: the type is neither counter, gauge nor distribution, so the
	// aggregation of values is unknown.
	ReasonMetricUnknownType discard.Reason = "metric_unknown_type"
	// ReasonMetricNoValue: the value is absent, or is not a finite number.
	ReasonMetricNoValue discard.Reason = "metric_no_value"
	// ReasonMetricNegativeCounter: the value of a counter is negative.
	ReasonMetricNegativeCounter discard.Reason = "metric_negative_counter"
)

// DecodeTraceMetrics decodes the payload of a "trace_metric" item; itemCount is from the item
// header. The error is a *discard.Error.
//
// Sentry's ingest drops elements without time or trace ID. Here, they are kept, because a metric is
// useful without them.
func DecodeTraceMetrics(payload []byte, itemCount jsonscan.Optional[int]) (*MetricContainer, error) {
	c := &MetricContainer{}
	return c, c.decode(payload, itemCount, elementsOf(&c.Metrics, (*TraceMetric).read))
}

// traceMetrics is the table of TraceMetric. Sentry requires time, trace ID, name, type and value.
var TraceMetrics = newTable[TraceMetric]("items", nil,
	instant("timestamp", func(m *TraceMetric) *jsonscan.Timestamp { return &m.Timestamp }), // Go writes RFC 3339 with nine digits, all others seconds
	requiredText(Source.TraceID, "trace_id", func(m *TraceMetric) *string { return &m.TraceID }),
	textAs(Source.SpanID, "span_id", func(m *TraceMetric) *string { return &m.SpanID }),
	requiredText(Source.Text, "name", func(m *TraceMetric) *string { return &m.Name }),
	requiredText(Source.Text, "type", func(m *TraceMetric) *string { return (*string)(&m.Type) }),
	row[TraceMetric]{
		key: "value",
		read: func(l *reader, m *TraceMetric, name string) {
			value := l.Float(name)
			m.Value, m.hasValue = value.Value, value.Set
		},
		write: func(dst []byte, key string, m *TraceMetric) []byte {
			return jsonscan.AppendFloat(jsonscan.AppendKey(dst, key), m.Value)
		},
	},
	text("unit", func(m *TraceMetric) *string { return &m.Unit }),
	attributes(func(m *TraceMetric) (*[]Attribute, []byte) { return &m.Attributes, m.Shared }),
).unprefixed()

func (m *TraceMetric) append(dst []byte) []byte { return TraceMetrics.Append(dst, m) }

// read reads one element.
func (m *TraceMetric) read(l *reader) discard.Reason {
	switch {
	case !TraceMetrics.read(l, m):
		return ReasonMetricNoObject
	case m.Name == "":
		return ReasonMetricNoName
	case m.Type != MetricCounter && m.Type != MetricGauge && m.Type != MetricDistribution:
		return ReasonMetricUnknownType
	case !m.hasValue:
		return ReasonMetricNoValue
	case m.Type == MetricCounter && m.Value < 0:
		return ReasonMetricNegativeCounter
	}
	m.hasValue = false
	return ""
}
