// SPDX-License-Identifier: Apache-2.0

package event

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Container has the common fields of "log", "span" and "trace_metric" payloads.
// https://develop.sentry.dev/sdk/foundations/envelopes/item-containers/
type Container struct {
	Version        jsonscan.Optional[int64] // absent from many SDKs, else 2
	IngestSettings IngestSettings

	discard.Tally // of unusable elements
}

// IngestSettings tell the server whether to complete elements from the request: "auto" or "never".
// They apply since version 2.
type IngestSettings struct {
	InferIP        string
	InferUserAgent string
}

// infers returns whether the SDK asks the server to complete elements with the client's address,
// and with its user agent. legacy is the answer for the latter before version 2.
func (c *Container) infers(legacy bool) (address, userAgent bool) {
	switch {
	case !c.Version.Set || c.Version.Value == 1:
		return false, legacy
	case c.Version.Value == 2:
		return c.IngestSettings.InferIP == InferAuto, c.IngestSettings.InferUserAgent == InferAuto
	}
	return false, false
}

// Infers reports whether to complete the client's address and the user agent. Before version 2,
// ingest set the user agent of every log (relay-server/src/processing/logs/process.rs).
func (c *LogContainer) Infers() (address, userAgent bool) { return c.infers(true) }

// Infers reports the same for spans and metrics (relay-server/src/processing/spans,
// trace_metrics).
func (c *Container) Infers() (address, userAgent bool) { return c.infers(false) }

// elementsOf returns the reader of an element. `read` returns the reason why it is unusable, or "".
func elementsOf[T any](all *[]T, read func(*T, *reader) discard.Reason) func(*reader) discard.Reason {
	return func(l *reader) discard.Reason {
		reason := read(grow(all), l)
		if reason != "" {
			shrink(all)
		}
		return reason
	}
}

// decode reads a container and its elements.
//
// Sentry's ingest drops a container if item_count in the item header differs from the number of
// elements. Here, this is only a flaw, because the elements are unambiguous.
func (c *Container) decode(payload []byte, itemCount jsonscan.Optional[int], element func(*reader) discard.Reason) error {
	l := newReader(payload)
	elements, usable, found := 0, 0, false
	err := l.Document(func(key []byte) {
		switch string(key) {
		default:
			Containers.member(l, c, key, new(int))
		case "items":
			found = true
			skipped := l.List("items", func() {
				elements++
				if reason := element(l); reason != "" {
					c.Lose(reason, 1)
				} else {
					usable++
				}
			})
			elements += skipped
			c.Lose(jsonscan.ReasonTooManyElements, skipped)
		}
	})
	if itemCount.Set && itemCount.Value != elements {
		l.AddFlaw("item_count")
	}
	c.Flaws = l.Flaws
	switch {
	case err != nil:
		return err
	case !found:
		return discard.Errorf(jsonscan.ReasonNothingUsable, "container without items")
	case usable == 0 && elements > 0:
		return discard.Errorf(c.Lost[0].Reason, "none of %d elements is usable", elements)
	}
	return nil
}

// Containers is the table of Container, except for its elements.
var Containers = newTable[Container]("", nil,
	integer("version", func(c *Container) *jsonscan.Optional[int64] { return &c.Version }),
	object("ingest_settings", ingestSettings, func(c *Container) *IngestSettings { return &c.IngestSettings }),
)

var ingestSettings = newTable[IngestSettings]("ingest_settings", nil,
	text("infer_ip", func(s *IngestSettings) *string { return &s.InferIP }),
	text("infer_user_agent", func(s *IngestSettings) *string { return &s.InferUserAgent }),
)

// ContainerWriter writes the payloads of containers: spans, logs or metrics. It is the inverse of
// DecodeSpans, DecodeLogs and DecodeTraceMetrics.
type ContainerWriter struct {
	payload  []byte
	limit    int // bytes of a payload
	single   int // the same, with one element
	elements int // in it
}

// Element is an element of a container.
type Element interface{ append(dst []byte) []byte }

// NewContainerWriter returns a writer of payloads of at most limit bytes. It reuses the memory of
// scratch.
func NewContainerWriter(scratch []byte, limit int) *ContainerWriter {
	return &ContainerWriter{payload: scratch[:0], limit: limit, single: limit}
}

// AllowSingle sets the limit of a payload with only one element.
func (w *ContainerWriter) AllowSingle(limit int) { w.single = max(w.limit, limit) }

func (w *ContainerWriter) Len() int { return w.elements }

// Add adds an element to the payload. It reports whether it fits.
func (w *ContainerWriter) Add(e Element) bool {
	before := len(w.payload)
	separator, limit := ",", w.limit
	if w.elements == 0 {
		separator, limit = beginOfContainer, w.single
	}
	w.payload = e.append(append(w.payload, separator...))
	if len(w.payload)+len(endOfContainer) > limit {
		w.payload = w.payload[:before]
		return false
	}
	w.elements++
	return true
}

// beginOfContainer tells ingest to complete nothing from the request: its sender is the collector,
// not the application. Without a version, ingest adds the sender's user agent to logs and metrics
// (relay-server/src/processing/logs/process.rs).
const beginOfContainer = `{"version":2,"ingest_settings":{"infer_ip":"never","infer_user_agent":"never"},"items":[`

const endOfContainer = "]}"

// Finish returns the payload (item_count = Len) and begins a new one. The payload is valid until
// the next Add.
func (w *ContainerWriter) Finish() []byte {
	payload := append(w.payload, endOfContainer...)
	w.payload, w.elements = payload[:0], 0
	return payload
}

// Scratch returns the memory of the payload for reuse.
func (w *ContainerWriter) Scratch() []byte { return w.payload[:0] }

// LogContainer is the payload of a "log" item.
type LogContainer struct {
	Container
	Logs []Log
}

// Log is one element of a log container. https://develop.sentry.dev/sdk/telemetry/logs/
type Log struct {
	Timestamp      jsonscan.Timestamp
	TraceID        string // 32 lower-case hex digits, "" if invalid
	SpanID         string // 16 lower-case hex digits, "" if invalid
	Level          string // trace, debug, info, warn, error, fatal; others are kept
	SeverityNumber jsonscan.Optional[int64]
	Body           string
	Attributes     []Attribute
	Shared         []byte // members of the attributes as JSON; only written

	hasBody bool // while it is read
}

// Reasons for dropping an element of a log container. Other elements are not affected.
const (
	// ReasonLogNoObject: the element is not a JSON object.
	ReasonLogNoObject discard.Reason = "log_no_object"
	// ReasonLogNoBody: the body is absent, or is not text, a number or a boolean.
	ReasonLogNoBody discard.Reason = "log_no_body"
)

// DecodeLogs decodes the payload of a "log" item; itemCount is from the item header. The error is a
// *discard.Error.
//
// Sentry's ingest drops elements without time, trace ID or level. Here, this is at most a flaw.
func DecodeLogs(payload []byte, itemCount jsonscan.Optional[int]) (*LogContainer, error) {
	c := &LogContainer{}
	return c, c.decode(payload, itemCount, elementsOf(&c.Logs, (*Log).read))
}

// Logs is the table of Log. Sentry requires time, trace ID, level and body.
var Logs = newTable[Log]("items", nil,
	instant("timestamp", func(l *Log) *jsonscan.Timestamp { return &l.Timestamp }), // Go writes RFC 3339 with nine digits, all others seconds
	requiredText(Source.TraceID, "trace_id", func(l *Log) *string { return &l.TraceID }),
	textAs(Source.SpanID, "span_id", func(l *Log) *string { return &l.SpanID }),
	requiredText(Source.Text, "level", func(l *Log) *string { return &l.Level }),
	integer("severity_number", func(l *Log) *jsonscan.Optional[int64] { return &l.SeverityNumber }),
	row[Log]{key: "body", read: func(r *reader, l *Log, name string) {
		next := r.S.Peek()
		l.hasBody = next != 'n' && next != '{' && next != '['
		l.Body = r.Text(name)
	}, write: func(dst []byte, key string, l *Log) []byte { return jsonscan.AppendTextAlways(dst, key, l.Body) }},
	attributes(func(l *Log) (*[]Attribute, []byte) { return &l.Attributes, l.Shared }),
).unprefixed()

func (l *Log) append(dst []byte) []byte { return Logs.Append(dst, l) }

func (l *Log) read(r *reader) discard.Reason {
	switch {
	case !Logs.read(r, l):
		return ReasonLogNoObject
	case !l.hasBody:
		return ReasonLogNoBody
	}
	l.hasBody = false
	return ""
}

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

// TraceMetrics is the table of TraceMetric. Sentry requires time, trace ID, name, type and value.
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
