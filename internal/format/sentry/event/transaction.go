// SPDX-License-Identifier: Apache-2.0

package event

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Transaction is the payload of a "transaction" item: an event with a tree of spans.
// https://develop.sentry.dev/sdk/data-model/event-payloads/transaction/
//
// ErrorEvent contains the fields that a transaction shares with events: Transaction is the name,
// and Contexts excludes trace and profile.
type Transaction struct {
	ErrorEvent

	Root  *Span  // contexts.trace with the transaction's own times; nil if unusable, see Lost
	Spans []Span // the others, in any order

	Measurements []NamedMeasure
	ProfileID    string // contexts.profile: event ID of a V1 profile, only from old Python versions
	ProfilerID   string // contexts.profile: V2; Node sends an empty object once the profiler has stopped

}

// Transactions is the table of Transaction: the fields of an event that make sense for spans (no
// message, exceptions, threads), and its own.
var Transactions = newTable("", func(t *Transaction) *[]NamedValue { return &t.ErrorEvent.Rest }, append(ofTransaction(eventRows),
	instant("start_timestamp", func(t *Transaction) *jsonscan.Timestamp { return &t.Root.Start }),
	row[Transaction]{key: "spans", read: func(l *reader, t *Transaction, name string) { l.List(name, func() { t.span(l) }) }},
	object("contexts", transactionContexts, func(t *Transaction) *Transaction { return t }).or("sentry.interfaces.Contexts"),
	measures("measurements", func(t *Transaction) *[]NamedMeasure { return &t.Measurements }),
)...)

// ofTransaction returns the rows of events for the event in a transaction.
func ofTransaction(events []row[ErrorEvent]) (all []row[Transaction]) {
	for _, r := range events {
		own := row[Transaction]{key: r.key, aliases: r.aliases, kind: r.kind}
		if r.set != nil {
			own.set = func(s Source, t *Transaction, name string) { r.set(s, &t.ErrorEvent, name) }
		}
		if r.read != nil {
			own.read = func(l *reader, t *Transaction, name string) { r.read(l, &t.ErrorEvent, name) }
		}
		if r.write != nil {
			own.write = func(dst []byte, key string, t *Transaction) []byte { return r.write(dst, key, &t.ErrorEvent) }
		}
		all = append(all, own)
	}
	return all
}

// DecodeTransaction decodes the payload of a "transaction" item. The error is a *discard.Error.
//
// It keeps the children of an unusable root, and a root with unusable children.
func DecodeTransaction(payload []byte) (*Transaction, error) {
	t := &Transaction{Root: &Span{}}
	l, err := Transactions.decode(payload, t, &t.Flaws)
	if err != nil {
		return nil, err
	}
	root := t.Root
	root.End = t.Timestamp
	var reason discard.Reason
	if reason, root.Repaired = l.repair(root.TraceID, root.SpanID, &root.Start, &root.End); reason != "" {
		t.Root = nil
		t.Lose(reason, 1)
	}
	t.Flaws = l.Flaws
	if t.Root == nil && len(t.Spans) == 0 {
		return nil, discard.Errorf(t.Lost[0].Reason, "none of the transaction's spans is usable")
	}
	return t, nil
}

func (t *Transaction) span(l *reader) {
	s, reason := grow(&t.Spans), ReasonSpanNoObject
	if Spans.read(l, s) {
		reason, s.Repaired = l.repair(s.TraceID, s.SpanID, &s.Start, &s.End)
	}
	if reason != "" {
		shrink(&t.Spans)
		t.Lose(reason, 1)
	}
}

// transactionContexts are all contexts. trace describes the root span, profile has the IDs of a
// profile.
var transactionContexts = newTable("contexts", func(t *Transaction) *[]NamedValue { return &t.Contexts },
	object("trace", roots, func(t *Transaction) *Span { return t.Root }),
	object("profile", profileContexts, func(t *Transaction) *Transaction { return t }),
).others(keepUnknown)

var profileContexts = newTable[Transaction]("contexts.profile", nil,
	textAs(Source.UUID, "profile_id", func(t *Transaction) *string { return &t.ProfileID }),
	textAs(Source.UUID, "profiler_id", func(t *Transaction) *string { return &t.ProfilerID }),
	ignored[Transaction]("type"), // "profile"
)

// Head is the origin of an event or a transaction, and the start of the latter.
type Head struct {
	Platform, Release, Dist, Environment string
	SDK                                  sentry.ClientSDK
	Start                                jsonscan.Timestamp
}

// heads is the table of Head: rows of events.
var heads = newTable("", nil,
	text("platform", func(h *Head) *string { return &h.Platform }),
	text("release", func(h *Head) *string { return &h.Release }),
	text("dist", func(h *Head) *string { return &h.Dist }),
	text("environment", func(h *Head) *string { return &h.Environment }),
	object("sdk", checkInSDK, func(h *Head) *sentry.ClientSDK { return &h.SDK }),
	instant("start_timestamp", func(h *Head) *jsonscan.Timestamp { return &h.Start }),
).others(ignoreUnknown)

// ReadHead returns the head of the payload of an event or a transaction, and skips the rest.
func ReadHead(payload []byte) (head Head) {
	_, _ = heads.decode(payload, &head, new([]discard.Flaw)) // whoever decodes the rest reports the error
	return head
}

// AppendTransaction appends the payload of a "transaction" item to dst. It is the inverse of
// DecodeTransaction. It writes as many spans, in order, as fit into maxBytes and into
// MaxOutgoingSpanBytes, and returns their number; the caller sends the others in a container. If
// the transaction does not fit even without spans, ok is false and dst is returned unchanged.
//
// The root and its times are required.
func AppendTransaction(dst []byte, t *Transaction, maxBytes int) (_ []byte, spans int, ok bool) {
	const end = len("]}")
	before := len(dst)
	head := *t
	head.Type, head.Timestamp = "transaction", t.Root.End
	dst = Transactions.appendMembers(append(dst, '{'), &head)
	dst = append(dst, `,"spans":[`...)
	if len(dst)+end-before > maxBytes {
		return dst[:before], 0, false
	}
	added, counted := t.addedToSpan(), 0
	for i := range t.Spans {
		fits := len(dst)
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = Spans.Append(dst, &t.Spans[i])
		counted += len(dst) - fits + added + min(len(t.Spans[i].Description), maxDescriptionTag)
		if len(dst)+end-before > maxBytes || counted > sentry.MaxOutgoingSpanBytes {
			dst = dst[:fits]
			break
		}
		spans++
	}
	return append(dst, "]}"...), spans, true
}

// maxDescriptionTag is the size at which ingest cuts the description in the tags of a span.
const maxDescriptionTag = 200

// addedToSpan returns a bound of the bytes that ingest adds to each span before it counts, except
// the description: tags that repeat the transaction, and the trace header
// (relay-event-normalization, normalize/span/tag_extraction.rs). It counts no keys, so the keys of
// the span pay for most of the other fields. An absent field counts one byte.
func (t *Transaction) addedToSpan() int {
	const others = 128
	size := others + len(t.Transaction) + len(t.Release) + len(t.Environment) + len(t.SDK.Name) + len(t.SDK.Version) +
		len(t.ProfilerID) + len(t.Root.Op) + len(t.Root.Status)
	for i := range t.User {
		size += len(t.User[i].Value)
	}
	return size
}
