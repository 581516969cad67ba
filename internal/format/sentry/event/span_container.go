// SPDX-License-Identifier: Apache-2.0

package event

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// SpanContainer is the payload of a "span" item with the content type ContentTypeSpans. JavaScript
// 11 sends it instead of transactions, other SDKs if configured.
// https://develop.sentry.dev/sdk/telemetry/spans/span-protocol/
type SpanContainer struct {
	Container
	Spans []StreamedSpan
}

// StreamedSpan is one element of a span container ("span v2"). SDKs split a trace into any number
// of containers, so the segment of a child may be in another request.
type StreamedSpan struct {
	TraceID      string // 32 lower-case hex digits
	SpanID       string // 16 lower-case hex digits
	ParentSpanID string // the same, "" = none
	Name         string
	Status       string // ok, error; others are kept
	Kind         string // at the top level in drafts only, now the attribute sentry.kind
	Start, End   jsonscan.Timestamp
	Repaired     bool // one time was missing, or the times were in the wrong order
	IsSegment    jsonscan.Optional[bool]
	IsRemote     jsonscan.Optional[bool] // the same, now the attribute sentry.is_remote
	Links        []SpanLink
	Attributes   []Attribute
}

// DecodeSpans decodes the payload of a span container; itemCount is from the item header. The error
// is a *discard.Error.
func DecodeSpans(payload []byte, itemCount jsonscan.Optional[int]) (c *SpanContainer, err error) {
	c = &SpanContainer{}
	c.Container, err = decodeContainer(payload, itemCount, c.span)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// span reads one element.
func (c *SpanContainer) span(l *reader) discard.Reason {
	var s StreamedSpan
	isObject := l.Object("items", func(key string) {
		switch key {
		case "trace_id":
			s.TraceID = l.TraceID(key)
		case "span_id":
			s.SpanID = l.SpanID(key)
		case "parent_span_id":
			s.ParentSpanID = l.SpanID(key)
		case "name":
			s.Name = l.Text(key)
		case "status":
			s.Status = l.ID(key)
		case "kind":
			s.Kind = l.Text(key)
		case "start_timestamp":
			s.Start = l.Time(key)
		case "end_timestamp":
			s.End = l.Time(key)
		case "is_segment":
			s.IsSegment = l.Flag(key)
		case "is_remote":
			s.IsRemote = l.Flag(key)
		case "links":
			s.Links = l.links(key, l.attributes)
		case "attributes":
			s.Attributes = l.attributes()
		default:
			l.S.Skip()
		}
	})
	if !isObject {
		return ReasonSpanNoObject
	}
	var reason discard.Reason
	if reason, s.Repaired = l.repair(s.TraceID, s.SpanID, &s.Start, &s.End); reason != "" {
		return reason
	}
	c.Spans = append(c.Spans, s)
	return ""
}
