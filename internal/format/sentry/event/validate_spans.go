// SPDX-License-Identifier: Apache-2.0

package event

import (
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
)

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
	if dropped := before - len(c.Spans); dropped > 0 {
		c.Lost = discard.AddLoss(c.Lost, ReasonInvalidSpan, dropped)
	}
}
