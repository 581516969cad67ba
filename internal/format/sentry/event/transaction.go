// SPDX-License-Identifier: Apache-2.0

package event

import (
	"encoding/json"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Transaction is the payload of a "transaction" item: an event with a tree of spans.
// https://develop.sentry.dev/sdk/data-model/event-payloads/transaction/
//
// ErrorEvent contains the fields that a transaction shares with events: Transaction is the name,
// Contexts excludes trace and profile, and Images is not used.
type Transaction struct {
	ErrorEvent

	Root  *Span  // contexts.trace with the transaction's own times; nil if unusable, see Lost
	Spans []Span // the others, in any order

	Measurements []NamedMeasure
	ProfileID    string // contexts.profile: event ID of a V1 profile, only from old Python versions
	ProfilerID   string // contexts.profile: V2; Node sends an empty object once the profiler has stopped

	Lost []discard.Loss // unusable spans
}

// DecodeTransaction decodes the payload of a "transaction" item. The error is a *discard.Error.
//
// It keeps the children of an unusable root, and a root with unusable children.
func DecodeTransaction(payload []byte) (*Transaction, error) {
	t := &Transaction{}
	l := newReader(payload)
	root, start := &Span{}, jsonscan.Timestamp{}
	err := l.Document(func(key string) {
		switch key {
		case "start_timestamp":
			start = l.Time(key)
		case "contexts":
			t.contexts(&l, root)
		case "spans":
			l.List(key, func() { t.span(&l) })
		case "measurements":
			t.Measurements = l.namedMeasures(key)
		default:
			t.field(&l, key)
		}
	})
	if err != nil {
		return nil, err
	}
	root.Start, root.End = start, t.Timestamp
	var reason discard.Reason
	if reason, root.Repaired = l.repair(root.TraceID, root.SpanID, &root.Start, &root.End); reason != "" {
		t.Lost = discard.AddLoss(t.Lost, reason, 1)
	} else {
		t.Root = root
	}
	t.Flaws = l.Flaws
	if t.Root == nil && len(t.Spans) == 0 {
		return nil, discard.Errorf(t.Lost[0].Reason, "none of the transaction's spans is usable")
	}
	return t, nil
}

// span reads one element of the list "spans".
func (t *Transaction) span(l *reader) {
	var s Span
	isObject := l.Object("spans", func(key string) { l.spanField(&s, "spans", key) })
	switch {
	case l.S.Err != nil:
	case !isObject:
		t.Lost = discard.AddLoss(t.Lost, ReasonSpanNoObject, 1)
	default:
		var reason discard.Reason
		if reason, s.Repaired = l.repair(s.TraceID, s.SpanID, &s.Start, &s.End); reason != "" {
			t.Lost = discard.AddLoss(t.Lost, reason, 1)
			return
		}
		t.Spans = append(t.Spans, s)
	}
}

// contexts reads all contexts. trace describes the root span, profile contains the IDs of a
// profile.
func (t *Transaction) contexts(l *reader, root *Span) {
	l.Object("contexts", func(key string) {
		switch key {
		case "trace":
			l.Object("contexts.trace", func(key string) { l.spanField(root, "contexts.trace", key) })
		case "profile":
			l.Object("contexts.profile", func(key string) {
				switch key {
				case "profile_id":
					t.ProfileID = l.UUID("contexts.profile.profile_id")
				case "profiler_id":
					t.ProfilerID = l.UUID("contexts.profile.profiler_id")
				default:
					l.S.Skip()
				}
			})
		default:
			switch value := l.Raw(); {
			case value == nil:
			case len(t.Contexts) == jsonscan.MaxAttributes:
				l.AddFlaw("too_many")
			default:
				t.Contexts = append(t.Contexts, NamedValue{string(jsonscan.ValidUTF8([]byte(key))), value})
			}
		}
	})
}

// TransactionTimes returns the start and the end of a transaction from the payload of a
// "transaction" item, unset if they are missing. They are the anchor of a V1 profile without its
// own.
func TransactionTimes(payload []byte) (start, end jsonscan.Timestamp) {
	var transaction struct {
		Start jsonscan.Timestamp `json:"start_timestamp"`
		End   jsonscan.Timestamp `json:"timestamp"`
	}
	if json.Unmarshal(payload, &transaction) != nil {
		return jsonscan.Timestamp{}, jsonscan.Timestamp{}
	}
	return transaction.Start, transaction.End
}
