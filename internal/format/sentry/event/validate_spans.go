// SPDX-License-Identifier: Apache-2.0

package event

import (
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
)

// The published rules for spans (relay-event-normalization/src/validation.rs, validate_span): trace id, span id, start and end
// are there, and the end is not before the start. Unlike those for profiles they are no table: each has one answer. A lenient
// receiver drops a span without ids or any time, and repairs the times of others; in a strict one, as in Sentry's ingest, a
// transaction with such a span is discarded as a whole, and a span that came otherwise by itself.

// Reasons for which a strict receiver discards them, by Relay's names.
const (
	ReasonInvalidTransactionEvent discard.Reason = "invalid_transaction"
	ReasonInvalidSpan             discard.Reason = "invalid_span"
)

// BreaksSpanRules says whether the root or any other span of a transaction breaks a rule.
func BreaksSpanRules(t *Transaction) bool {
	return len(t.Lost) > 0 || t.Root == nil || t.Root.Repaired ||
		slices.ContainsFunc(t.Spans, func(s Span) bool { return s.Repaired })
}

// DropInvalidSpans takes out those that break a rule and counts them under ReasonInvalidSpan. Those without ids or any time
// are gone already.
func DropInvalidSpans(c *SpanContainer) {
	before := len(c.Spans)
	c.Spans = slices.DeleteFunc(c.Spans, func(s StreamedSpan) bool { return s.Repaired })
	if dropped := before - len(c.Spans); dropped > 0 {
		c.Lost = discard.AddLoss(c.Lost, ReasonInvalidSpan, dropped)
	}
}
