package sentry

// SpanContainer is the payload of a "span" item with the content type of ContentTypeSpans: what JavaScript's SDK 11 sends in
// the place of transactions, and others on demand. https://develop.sentry.dev/sdk/telemetry/spans/span-protocol/
type SpanContainer struct {
	Container
	Spans []StreamedSpan
}

// StreamedSpan is one element of a span container ("span v2"). The spans of a trace come in as many containers as the SDK
// likes: the segment of a child may be in another request.
type StreamedSpan struct {
	TraceID      string // 32 lower-case hex digits
	SpanID       string // 16 lower-case hex digits
	ParentSpanID string // likewise, "" = none
	Name         string
	Status       string // ok, error; others are kept
	Kind         string // at the top level in drafts only, now the attribute sentry.kind
	Start, End   Timestamp
	Repaired     bool // the times were not both there, or in the wrong order
	IsSegment    Optional[bool]
	IsRemote     Optional[bool] // likewise, now the attribute sentry.is_remote
	Links        []SpanLink
	Attributes   []Attribute
}

// DecodeSpans decodes the payload of a span container; itemCount is what the item header says of it. The error is a Discard.
func DecodeSpans(payload []byte, itemCount Optional[int]) (c *SpanContainer, err error) {
	c = &SpanContainer{}
	c.Container, err = decodeContainer(payload, itemCount, c.span)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// span reads one element.
func (c *SpanContainer) span(l *loose) Reason {
	var s StreamedSpan
	isObject := l.object("items", func(key string) {
		switch key {
		case "trace_id":
			s.TraceID = l.traceID(key)
		case "span_id":
			s.SpanID = l.spanID(key)
		case "parent_span_id":
			s.ParentSpanID = l.spanID(key)
		case "name":
			s.Name = l.text(key)
		case "status":
			s.Status = l.id(key)
		case "kind":
			s.Kind = l.text(key)
		case "start_timestamp":
			s.Start = l.time(key)
		case "end_timestamp":
			s.End = l.time(key)
		case "is_segment":
			s.IsSegment = l.flag(key)
		case "is_remote":
			s.IsRemote = l.flag(key)
		case "links":
			s.Links = l.links(key, l.attributes)
		case "attributes":
			s.Attributes = l.attributes()
		default:
			l.s.skip()
		}
	})
	if !isObject {
		return ReasonSpanNoObject
	}
	var reason Reason
	if reason, s.Repaired = l.repair(s.TraceID, s.SpanID, &s.Start, &s.End); reason != "" {
		return reason
	}
	c.Spans = append(c.Spans, s)
	return ""
}
