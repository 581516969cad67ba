// SPDX-License-Identifier: Apache-2.0

package event

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Span is one operation: an element of the list "spans" of a transaction, its root (described by
// contexts.trace and the transaction's own times), or the payload of a standalone "span" item
// without a container (web vitals from browsers).
// https://develop.sentry.dev/sdk/data-model/event-payloads/span/
//
// Not decoded: fields that only ingest adds (received, sentry_tags, _metrics_summary), and
// same_process_as_parent, which Python sets to true on every span.
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
}

// SpanLink refers to a span of this or another trace: the previous page, the processed message.
type SpanLink struct {
	TraceID, SpanID string
	Sampled         jsonscan.Optional[bool]
	Attributes      []Attribute // without types in transactions, typed in containers
}

// NamedMeasure is a measurement of a span: one value, unlike the series of a profile.
type NamedMeasure struct {
	Name  string
	Value float64
	Unit  string // "" = none
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
	if err := l.Document(func(key string) { l.spanField(s, "span", key) }); err != nil {
		return nil, nil, err
	}
	var reason discard.Reason
	if reason, s.Repaired = l.repair(s.TraceID, s.SpanID, &s.Start, &s.End); reason != "" {
		return nil, nil, discard.Errorf(reason, "standalone span")
	}
	return s, l.Flaws, nil
}

// spanField reads one member of a span. Flaws have the name of the object before the key.
func (l *reader) spanField(s *Span, object, key string) {
	field := l.Interner.Field(object, key)
	switch key {
	case "trace_id":
		s.TraceID = l.TraceID(field)
	case "span_id":
		s.SpanID = l.SpanID(field)
	case "parent_span_id":
		s.ParentSpanID = l.SpanID(field)
	case "start_timestamp":
		s.Start = l.Time(field)
	case "timestamp":
		s.End = l.Time(field)
	case "op":
		s.Op = l.Text(field)
	case "description":
		s.Description = l.Text(field)
	case "status":
		s.Status = l.ID(field)
	case "origin":
		s.Origin = l.Text(field)
	case "kind":
		s.Kind = l.Text(field)
	case "platform":
		s.Platform = l.Text(field)
	case "exclusive_time":
		s.ExclusiveTime = l.Float(field)
	case "is_segment":
		s.IsSegment = l.Flag(field)
	case "is_remote":
		s.IsRemote = l.Flag(field)
	case "segment_id":
		s.SegmentID = l.SpanID(field)
	case "profile_id":
		s.ProfileID = l.UUID(field)
	case "profiler_id":
		s.ProfilerID = l.UUID(field)
	case "data":
		s.Data = l.namedValues(field)
	case "tags":
		s.Tags = l.tags(field)
	case "measurements":
		s.Measurements = l.namedMeasures(field)
	case "links":
		s.Links = l.links(field, l.plainAttributes)
	default:
		l.S.Skip()
	}
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

// namedMeasures reads {"lcp": {"value": 80, "unit": "millisecond"}}.
func (l *reader) namedMeasures(field string) (all []NamedMeasure) {
	l.Object(field, func(key string) {
		measure := NamedMeasure{Name: string(jsonscan.ValidUTF8([]byte(key)))}
		var value jsonscan.Optional[float64]
		l.Object(field, func(key string) {
			switch key {
			case "value":
				value = l.Float(field + ".value")
			case "unit":
				measure.Unit = l.Text(field + ".unit")
			default:
				l.S.Skip()
			}
		})
		switch {
		case !value.Set || measure.Name == "":
		case len(all) == jsonscan.MaxAttributes:
			l.AddFlaw("too_many")
		default:
			measure.Value = value.Value
			all = append(all, measure)
		}
	})
	return all
}

// links reads a list of links. It drops links without valid IDs.
func (l *reader) links(field string, attributes func() []Attribute) (all []SpanLink) {
	l.List(field, func() {
		var link SpanLink
		if !l.Object(field, func(key string) {
			switch key {
			case "trace_id":
				link.TraceID = l.TraceID(field + ".trace_id")
			case "span_id":
				link.SpanID = l.SpanID(field + ".span_id")
			case "sampled":
				link.Sampled = l.Flag(field + ".sampled")
			case "attributes":
				link.Attributes = attributes()
			default:
				l.S.Skip()
			}
		}) {
			return
		}
		if link.TraceID == "" || link.SpanID == "" {
			l.AddFlaw(field)
			return
		}
		all = append(all, link)
	})
	return all
}

// plainAttributes reads attributes without types, as in the links of transactions.
func (l *reader) plainAttributes() (all []Attribute) {
	for _, v := range l.namedValues("links.attributes") {
		all = append(all, Attribute{Key: v.Name, Value: v.Value})
	}
	return all
}
