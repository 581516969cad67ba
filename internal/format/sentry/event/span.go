// SPDX-License-Identifier: Apache-2.0

package event

import (
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Span is one operation: an element of the list "spans" of a transaction, its root (described by
// contexts.trace and the transaction's own times), or the payload of a standalone "span" item
// without a container (web vitals from browsers).
// https://develop.sentry.dev/sdk/data-model/event-payloads/span/
//
// Unmapped: fields that only ingest adds (received, sentry_tags, _metrics_summary).
type Span struct {
	TraceID      string // 32 lower-case hex digits
	SpanID       string // 16 lower-case hex digits
	ParentSpanID string // the same, "" = none
	Start, End   jsonscan.Timestamp
	Repaired     bool // one time was missing, or the times were in the wrong order

	Op            string
	Description   string
	Status        string // a name or, by Sentry's schema, the number of a gRPC code
	Origin        string
	Kind          string // standalone spans: internal, server, client, producer, consumer
	Platform      string // standalone spans, added by ingest
	ExclusiveTime jsonscan.Optional[float64]
	IsSegment     jsonscan.Optional[bool]
	IsRemote      jsonscan.Optional[bool]
	SegmentID     string
	ProfileID     string // event ID of a V1 profile
	ProfilerID    string // Cocoa sends it here, other SDKs in Data

	Data         []NamedValue
	Tags         []Tag
	Measurements []NamedMeasure
	Links        []SpanLink
	Rest         []NamedValue
}

// Reasons for dropping a span. Other spans are not affected.
const (
	// ReasonSpanNoObject: the element is not a JSON object.
	ReasonSpanNoObject discard.Reason = "span_no_object"
	// ReasonSpanInvalidID: the trace ID or span ID is missing, is not hex of the right length, or
	// is all zeros.
	ReasonSpanInvalidID discard.Reason = "span_invalid_id"
	// ReasonSpanNoTime: neither start nor end is a valid time.
	ReasonSpanNoTime discard.Reason = "span_no_time"
)

// DecodeSpan decodes the payload of a standalone "span" item that is not a container. The error is
// a *discard.Error.
func DecodeSpan(payload []byte) (*Span, []discard.Flaw, error) {
	l := newReader(payload)
	s := &Span{}
	if err := standaloneSpans.document(l, s); err != nil {
		return nil, nil, err
	}
	var reason discard.Reason
	if reason, s.Repaired = l.repair(s.TraceID, s.SpanID, &s.Start, &s.End); reason != "" {
		return nil, nil, discard.Errorf(reason, "standalone span")
	}
	return s, l.Flaws, nil
}

// Spans is the table of Span. The times of a root are those of its transaction.
var Spans = newTable("spans", func(s *Span) *[]NamedValue { return &s.Rest }, append([]row[Span]{
	instant("start_timestamp", func(s *Span) *jsonscan.Timestamp { return &s.Start }),
	instant("timestamp", func(s *Span) *jsonscan.Timestamp { return &s.End }),
}, rootRows...)...)

// roots is the table of contexts.trace of a transaction, and standaloneSpans that of an item.
// Ingest retains unknown members of the former.
var (
	roots           = newTable("contexts.trace", func(s *Span) *[]NamedValue { return &s.Rest }, slices.Clone(rootRows)...).keepingUnknown()
	standaloneSpans = Spans.named("span")
)

var rootRows = []row[Span]{
	requiredText(Source.TraceID, "trace_id", func(s *Span) *string { return &s.TraceID }),
	requiredText(Source.SpanID, "span_id", func(s *Span) *string { return &s.SpanID }),
	textAs(Source.SpanID, "parent_span_id", func(s *Span) *string { return &s.ParentSpanID }),
	text("op", func(s *Span) *string { return &s.Op }),
	text("description", func(s *Span) *string { return &s.Description }),
	textAs(Source.ID, "status", func(s *Span) *string { return &s.Status }),
	text("origin", func(s *Span) *string { return &s.Origin }),
	text("kind", func(s *Span) *string { return &s.Kind }),
	text("platform", func(s *Span) *string { return &s.Platform }),
	float("exclusive_time", func(s *Span) *jsonscan.Optional[float64] { return &s.ExclusiveTime }),
	flag("is_segment", func(s *Span) *jsonscan.Optional[bool] { return &s.IsSegment }),
	flag("is_remote", func(s *Span) *jsonscan.Optional[bool] { return &s.IsRemote }),
	textAs(Source.SpanID, "segment_id", func(s *Span) *string { return &s.SegmentID }),
	textAs(Source.UUID, "profile_id", func(s *Span) *string { return &s.ProfileID }),
	textAs(Source.UUID, "profiler_id", func(s *Span) *string { return &s.ProfilerID }),
	named("data", func(s *Span) *[]NamedValue { return &s.Data }),
	tags("tags", func(s *Span) *[]Tag { return &s.Tags }),
	measures("measurements", func(s *Span) *[]NamedMeasure { return &s.Measurements }),
	links("links", plainLinks, func(s *Span) *[]SpanLink { return &s.Links }),
	ignored[Span]("same_process_as_parent"), // true in Python, on every span
	ignored[Span]("type"),                   // "trace", of the context
}

// repair returns the reason why a span is unusable, or "". A span with only one time, or with an
// end before its start, gets a duration of zero. Both are flaws.
func (l *reader) repair(traceID, spanID string, start, end *jsonscan.Timestamp) (unusable discard.Reason, repaired bool) {
	switch {
	case traceID == "" || spanID == "":
		return ReasonSpanInvalidID, false
	case !start.Set && !end.Set:
		return ReasonSpanNoTime, false
	case !start.Set:
		l.AddFlaw("start_timestamp_missing")
		*start = *end
	case !end.Set:
		l.AddFlaw("end_timestamp_missing")
		*end = *start
	case end.UnixNano < start.UnixNano:
		l.AddFlaw("end_before_start")
		*end = *start
	default:
		return "", false
	}
	return "", true
}
