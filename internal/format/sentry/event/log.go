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
func DecodeLogs(payload []byte, itemCount jsonscan.Optional[int]) (c *LogContainer, err error) {
	c = &LogContainer{}
	c.Container, err = decodeContainer(payload, itemCount, c.log)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// log reads one element.
func (c *LogContainer) log(l *reader) discard.Reason {
	var log Log
	hasBody := false
	isObject := l.S.Peek() == '{'
	l.Object("items", func(key string) {
		switch key {
		case "timestamp":
			log.Timestamp = l.Time(key) // Go writes RFC 3339 with nine digits, all others seconds
		case "trace_id":
			log.TraceID = l.TraceID(key)
		case "span_id":
			log.SpanID = l.SpanID(key)
		case "level":
			log.Level = l.Text(key)
		case "severity_number":
			log.SeverityNumber = l.Int(key)
		case "body":
			next := l.S.Peek()
			hasBody = next != 'n' && next != '{' && next != '['
			log.Body = l.Text(key)
		case "attributes":
			log.Attributes = l.attributes()
		default:
			l.S.Skip()
		}
	})
	switch {
	case !isObject:
		return ReasonLogNoObject
	case !hasBody:
		return ReasonLogNoBody
	}
	c.Logs = append(c.Logs, log)
	return ""
}
