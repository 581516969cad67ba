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
func DecodeSpan(payload []byte) (_ *Span, flaws []discard.Flaw, _ error) {
	s := &Span{}
	l, err := standaloneSpans.decode(payload, s, &flaws)
	if err == nil {
		var reason discard.Reason
		if reason, s.Repaired = l.repair(s.TraceID, s.SpanID, &s.Start, &s.End); reason != "" {
			err = discard.Errorf(reason, "standalone span")
		}
	}
	return s, l.Flaws, err
}

// Spans is the table of Span. The times of a root are those of its transaction.
var Spans = newTable("spans", func(s *Span) *[]NamedValue { return &s.Rest }, append([]row[Span]{
	instant("start_timestamp", func(s *Span) *jsonscan.Timestamp { return &s.Start }),
	instant("timestamp", func(s *Span) *jsonscan.Timestamp { return &s.End }),
}, rootRows...)...)

// roots is the table of contexts.trace of a transaction, and standaloneSpans that of an item.
// Ingest retains unknown members of the former.
var (
	roots           = newTable("contexts.trace", func(s *Span) *[]NamedValue { return &s.Rest }, slices.Clone(rootRows)...).others(keepUnknown)
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

// The published rules for spans (relay-event-normalization/src/validation.rs, validate_span): trace
// ID, span ID, start and end are present, and the end is not before the start. A lenient receiver
// drops spans without IDs or any time and repairs the times of other spans. A strict receiver
// discards such spans, like Sentry's ingest, and the whole transaction if it contains one.

// Reasons of a strict receiver, with Relay's names.
const (
	ReasonInvalidTransactionEvent discard.Reason = "invalid_transaction"
	ReasonInvalidSpan             discard.Reason = "invalid_span"
)

// BreaksSpanRules reports whether the root or any other span of a transaction breaks a rule.
func BreaksSpanRules(t *Transaction) bool {
	return len(t.Lost) > 0 || t.Root == nil || t.Root.Repaired ||
		slices.ContainsFunc(t.Spans, func(s Span) bool { return s.Repaired })
}

// DropInvalidSpans drops the spans that break a rule and counts them as ReasonInvalidSpan. Decoding
// has already dropped spans without IDs or any time.
func DropInvalidSpans(c *SpanContainer) {
	before := len(c.Spans)
	c.Spans = slices.DeleteFunc(c.Spans, func(s StreamedSpan) bool { return s.Repaired })
	c.Lose(ReasonInvalidSpan, before-len(c.Spans))
}

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

func (s *StreamedSpan) append(dst []byte) []byte { return StreamedSpans.Append(dst, s) }

// DecodeSpans decodes the payload of a span container; itemCount is from the item header. The error
// is a *discard.Error.
func DecodeSpans(payload []byte, itemCount jsonscan.Optional[int]) (*SpanContainer, error) {
	c := &SpanContainer{}
	return c, c.decode(payload, itemCount, elementsOf(&c.Spans, (*StreamedSpan).read))
}

func (s *StreamedSpan) read(l *reader) (unusable discard.Reason) {
	if !StreamedSpans.read(l, s) {
		return ReasonSpanNoObject
	}
	unusable, s.Repaired = l.repair(s.TraceID, s.SpanID, &s.Start, &s.End)
	return unusable
}

// SpanLink refers to a span of this or another trace: the previous page, the processed message.
type SpanLink struct {
	TraceID, SpanID string
	Sampled         jsonscan.Optional[bool]
	Attributes      []Attribute // without types in transactions, typed in containers
}

// plainLinks and typedLinks are the tables of SpanLink in transactions and in containers.
var (
	plainLinks = newLinks((*reader).plainAttributes)
	typedLinks = newLinks(func(l *reader, _ string) []Attribute { return l.attributes() })
)

func newLinks(attributes func(l *reader, name string) []Attribute) *Table[SpanLink] {
	return newTable[SpanLink]("links", nil,
		requiredText(Source.TraceID, "trace_id", func(s *SpanLink) *string { return &s.TraceID }),
		requiredText(Source.SpanID, "span_id", func(s *SpanLink) *string { return &s.SpanID }),
		flag("sampled", func(s *SpanLink) *jsonscan.Optional[bool] { return &s.Sampled }),
		parsed("attributes", func(s *SpanLink) *[]Attribute { return &s.Attributes }, attributes,
			func(dst []byte, key string, all []Attribute) []byte { return appendAttributes(dst, key, all, nil) }),
	)
}

// links is a list of links. Those without valid IDs are dropped.
func links[T any](key string, table *Table[SpanLink], at func(*T) *[]SpanLink) row[T] {
	return row[T]{
		key: key,
		read: func(l *reader, t *T, name string) {
			all := at(t)
			*all = nil
			l.List(name, func() {
				link := grow(all)
				isObject := table.read(l, link)
				if link.TraceID == "" || link.SpanID == "" {
					shrink(all)
					if isObject {
						l.AddFlaw(name)
					}
				}
			})
		},
		write: func(dst []byte, key string, t *T) []byte {
			return appendFilled(dst, key, "[", "]", func(dst []byte) []byte { return appendElements(dst, table, *at(t)) })
		},
	}
}

// plainAttributes reads attributes without types, as in the links of transactions.
func (l *reader) plainAttributes(field string) (all []Attribute) {
	for _, v := range l.namedValues(field) {
		all = append(all, Attribute{Key: v.Name, Value: v.Value})
	}
	return all
}
