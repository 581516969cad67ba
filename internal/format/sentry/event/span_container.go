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

// StreamedSpans is the table of StreamedSpan. Sentry requires IDs, name, status and times.
var StreamedSpans = newTable[StreamedSpan]("items", nil,
	requiredText(Source.TraceID, "trace_id", func(s *StreamedSpan) *string { return &s.TraceID }),
	requiredText(Source.SpanID, "span_id", func(s *StreamedSpan) *string { return &s.SpanID }),
	textAs(Source.SpanID, "parent_span_id", func(s *StreamedSpan) *string { return &s.ParentSpanID }),
	requiredText(Source.Text, "name", func(s *StreamedSpan) *string { return &s.Name }),
	requiredText(Source.ID, "status", func(s *StreamedSpan) *string { return &s.Status }),
	text("kind", func(s *StreamedSpan) *string { return &s.Kind }),
	flag("is_segment", func(s *StreamedSpan) *jsonscan.Optional[bool] { return &s.IsSegment }),
	flag("is_remote", func(s *StreamedSpan) *jsonscan.Optional[bool] { return &s.IsRemote }),
	instant("start_timestamp", func(s *StreamedSpan) *jsonscan.Timestamp { return &s.Start }),
	instant("end_timestamp", func(s *StreamedSpan) *jsonscan.Timestamp { return &s.End }),
	links("links", typedLinks, func(s *StreamedSpan) *[]SpanLink { return &s.Links }),
	attributes(func(s *StreamedSpan) (*[]Attribute, []byte) { return &s.Attributes, nil }),
).unprefixed()

func (s *StreamedSpan) append(dst []byte) []byte { return StreamedSpans.append(dst, s) }

// DecodeSpans decodes the payload of a span container; itemCount is from the item header. The error
// is a *discard.Error.
func DecodeSpans(payload []byte, itemCount jsonscan.Optional[int]) (c *SpanContainer, err error) {
	c = &SpanContainer{}
	c.Container, err = decodeContainer(payload, itemCount, &c.Spans, (*StreamedSpan).read)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// read reads one element.
func (s *StreamedSpan) read(l *reader) (unusable discard.Reason) {
	if !StreamedSpans.read(l, s) {
		return ReasonSpanNoObject
	}
	unusable, s.Repaired = l.repair(s.TraceID, s.SpanID, &s.Start, &s.End)
	return unusable
}
