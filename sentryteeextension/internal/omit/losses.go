// SPDX-License-Identifier: Apache-2.0

package omit

import (
	"cmp"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
)

// Loss is an entry of a client report without its quantity.
type Loss struct {
	Outcome, Reason string
	Category        sentry.Category
}

// Losses are quantities of omitted data.
type Losses map[Loss]int64

// Add adds a quantity.
func (t *Losses) Add(l Loss, quantity int64) {
	if *t == nil {
		*t = Losses{}
	}
	(*t)[l] += quantity
}

// Label returns the reason as used in metrics.
func (l Loss) Label() string {
	if l.Outcome == event.OutcomeRateLimited {
		return event.OutcomeRateLimited
	}
	return l.Reason
}

// Reason returns the label of a request of several items that is omitted completely: rates precede
// limits.
func (t Losses) Reason() string {
	reason := ""
	for l := range t {
		if label := l.Label(); reason != causeSampled.reason {
			reason = label
		}
	}
	return reason
}

// Events returns the entries of a client report, in a fixed order.
func (t Losses) Events() []event.LostEvents {
	events := make([]event.LostEvents, 0, len(t))
	for l, quantity := range t {
		events = append(events, event.LostEvents{Outcome: l.Outcome, Reason: l.Reason, Category: string(l.Category), Quantity: quantity})
	}
	slices.SortFunc(events, func(a, b event.LostEvents) int {
		return cmp.Or(cmp.Compare(a.Outcome, b.Outcome), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Category, b.Category))
	})
	return events
}

// LossesOf is the inverse of Events.
func LossesOf(events []event.LostEvents) Losses {
	t := Losses{}
	for _, e := range events {
		t.Add(Loss{e.Outcome, e.Reason, sentry.Category(e.Category)}, e.Quantity)
	}
	return t
}
