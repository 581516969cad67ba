// SPDX-License-Identifier: Apache-2.0

package event

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

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

// logs is the table of Log. Sentry requires time, trace ID, level and body.
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

// read reads one element.
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
