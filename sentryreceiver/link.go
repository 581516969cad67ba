// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// The receiver links V1 profiles, by the rule of package spanlink: they are in one envelope with their transaction, so linking needs
// neither state nor a traces pipeline.

// unlinked is a V1 profile that awaits the spans of its transaction.
type unlinked struct {
	profiles      pprofile.Profiles
	transactionID string
	activeThread  string
	anchor        jsonscan.Timestamp
	relativeStart jsonscan.Uint
}

// link is the result for one profile, to be counted.
type link struct {
	alignment profile.Alignment
	stats     spanlink.LinkStats
}

// awaitSpans keeps the data of a profile that linking needs. Texts of the profile are only valid until its decoder is released.
func (t *translation) awaitSpans(p *profile.Profile, profiles pprofile.Profiles) {
	u := unlinked{profiles: profiles, anchor: p.Timestamp}
	if tx := p.Transaction; tx != nil {
		u.transactionID = strings.Clone(tx.ID)
		u.activeThread = strings.Clone(tx.ActiveThreadID.Text)
		u.relativeStart = tx.RelativeStartNS
	}
	t.unlinked = append(t.unlinked, u)
}

// linkOnly links the V1 profiles of the envelope to the spans of a transaction that is not delivered.
func (t *translation) linkOnly(item *sentry.Item) {
	if len(t.unlinked) == 0 || item.Header.Type != sentry.ItemTransaction || itemTypes[sentry.ItemTransaction].oversize(item) != nil {
		return
	}
	if transaction, err := event.DecodeTransaction(item.Payload); err == nil {
		t.link(transaction, fromsentry.TransactionToTraces(transaction, t.source))
	}
}

// reasonNoTransaction is the reason of observations without a link because the envelope has no usable transaction.
const reasonNoTransaction = "no_transaction"

// v1Session is the session of all samples and spans of an envelope.
var v1Session = spanlink.Session{Parts: [...]string{"envelope", "", ""}}

// link links the V1 profiles of the envelope to spans, which are those of a transaction.
func (t *translation) link(transaction *event.Transaction, spans ptrace.Traces) {
	if len(t.unlinked) == 0 {
		return
	}
	index := spanlink.NewIndex(spanlink.Sentry, spanlink.Limits{Spans: math.MaxInt, MaxAge: time.Hour})
	index.Add(func(yield func(spanlink.Span) bool) {
		for span := range spanlink.Sentry.Spans(spans) {
			span.Sessions, span.Program = []spanlink.Session{v1Session}, nil
			if !yield(span) {
				return
			}
		}
	}, t.received)
	t.unlinked = slices.DeleteFunc(t.unlinked, func(u unlinked) bool {
		if !u.isOf(transaction, t.envelope.Header.EventID) {
			return false
		}
		shift, why := u.align(transaction.Root)
		t.links = append(t.links, link{alignment: why, stats: index.Link(u.profiles, spanlink.Options{
			Now: t.received, Ambiguous: spanlink.Skip, Shift: shift,
			Session: v1Session, Thread: u.activeThread, KeepPayload: true,
		})})
		return true
	})
}

// takeLinks returns the results that were not counted yet, and the profiles without a transaction.
func (t *translation) takeLinks() (links []link, none []unlinked) {
	links, none = t.links, t.unlinked
	t.links, t.unlinked = nil, nil
	return links, none
}

// isOf reports whether a profile belongs to a transaction. php has the ID of the event in the header only.
func (u *unlinked) isOf(t *event.Transaction, headerID string) bool {
	id := cmp.Or(t.EventID, headerID)
	return u.transactionID == "" || id == "" || attr.SameID(u.transactionID, id)
}

func (u *unlinked) align(root *event.Span) (int64, profile.Alignment) {
	if root == nil {
		return 0, profile.NotAligned
	}
	return profile.Align(u.anchor, u.relativeStart, root.Start, root.End)
}
