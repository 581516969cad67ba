// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"cmp"
	"context"
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

// V1 profiles are linked here: they come in one envelope with their transaction, so that it takes no memory of what came before,
// and no traces pipeline. The rule is that of package spanlink.

// unlinked is a V1 profile that awaits the spans of its transaction.
type unlinked struct {
	profiles      pprofile.Profiles
	transactionID string
	activeThread  string
	anchor        jsonscan.Timestamp
	relativeStart jsonscan.Uint
}

// awaitSpans keeps what linking takes of a profile, whose texts do not last.
func (in *ingestion) awaitSpans(p *profile.Profile, profiles pprofile.Profiles) {
	u := unlinked{profiles: profiles, anchor: p.Timestamp}
	if t := p.Transaction; t != nil {
		u.transactionID = strings.Clone(t.ID)
		u.activeThread = strings.Clone(t.ActiveThreadID.Text)
		u.relativeStart = t.RelativeStartNS
	}
	in.unlinked = append(in.unlinked, u)
}

// linkOnly links the V1 profiles of the envelope to the spans of a transaction that no pipeline takes, or not now.
func (in *ingestion) linkOnly(ctx context.Context, item *sentry.Item) {
	if len(in.unlinked) == 0 || item.Header.Type != sentry.ItemTransaction || translators[sentry.ItemTransaction].oversize(item) != nil {
		return
	}
	if transaction, err := event.DecodeTransaction(item.Payload); err == nil {
		in.link(ctx, transaction, fromsentry.TransactionToTraces(transaction, in.source()))
	}
}

// reasonNoTransaction is why observations of a V1 profile have no link whose envelope has no usable transaction.
const reasonNoTransaction = "no_transaction"

// v1Session is what all samples and spans of an envelope have in common.
var v1Session = spanlink.Session{Parts: [...]string{"envelope", "", ""}}

// link links the V1 profiles of the envelope to spans, which are those of a transaction.
func (in *ingestion) link(ctx context.Context, transaction *event.Transaction, spans ptrace.Traces) {
	if len(in.unlinked) == 0 {
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
	}, in.received)
	in.unlinked = slices.DeleteFunc(in.unlinked, func(u unlinked) bool {
		if !u.isOf(transaction, in.envelope.Header.EventID) {
			return false
		}
		shift, why := u.align(transaction.Root)
		in.telemetry.aligned(ctx, why)
		in.telemetry.linked(ctx, index.Link(u.profiles, spanlink.Options{
			Now: in.received, Ambiguous: spanlink.Skip, Shift: shift,
			Session: v1Session, Thread: u.activeThread, KeepPayload: true,
		}))
		return true
	})
}

// stayUnlinked counts what has found no transaction.
func (in *ingestion) stayUnlinked(ctx context.Context) {
	for _, u := range in.unlinked {
		in.telemetry.unlinked(ctx, reasonNoTransaction, spanlink.Observations(u.profiles))
	}
	in.unlinked = nil
}

// isOf says whether a profile belongs to a transaction. Php has the id of the event in the header only.
func (u *unlinked) isOf(t *event.Transaction, headerID string) bool {
	id := cmp.Or(t.EventID, headerID)
	return u.transactionID == "" || id == "" || attr.SameID(u.transactionID, id)
}

func (u *unlinked) align(root *event.Span) (int64, fromsentry.Alignment) {
	if root == nil {
		return 0, fromsentry.NotAligned
	}
	return fromsentry.Align(u.anchor, u.relativeStart, root.Start, root.End)
}
