// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// ingestion is the work on one envelope: translate, deliver, answer.
type ingestion struct {
	*sentryReceiver
	envelope *sentry.Envelope
	auth     sentry.Auth
	project  *project
	received time.Time
	sender   sender // as the ledger names it
	drift    drift
	budget   budget

	passed    [numSignals]bool // the gate of a signal has let this envelope through
	delivered [numSignals]bool // something was handed on
	profiles  int              // usable profiles so far
	profileID string           // of the V1 profile that is handed on
	unlinked  []unlinked       // V1 profiles

	transactionStart func() jsonscan.Timestamp // of the envelope's transaction, decoded once and only if asked for
	deliveries       []delivery
	tally            map[outcome]int
	tooLarge         *discard.Error // the last item that was
	refused          []signal       // of which no more should be sent for a while
	taken            bool           // a pipeline took something
	output           int64          // memory of what was made of the item at hand, where it is measured
}

// translate makes of every item what there is to hand on. A bad item costs itself only.
//
// V1 profiles come first: the spans of their transaction point at them, and they are linked to these spans. SDKs differ in the
// order of the two.
func (in *ingestion) translate(ctx context.Context) {
	for i := range in.envelope.Items {
		if item := &in.envelope.Items[i]; item.Header.Type == sentry.ItemProfile {
			in.translateItem(ctx, item)
		}
	}
	for i := range in.envelope.Items {
		if item := &in.envelope.Items[i]; item.Header.Type != sentry.ItemProfile {
			in.translateItem(ctx, item)
		}
	}
	in.stayUnlinked(ctx)
	in.giveUpTrials()
}

func (in *ingestion) translateItem(ctx context.Context, item *sentry.Item) {
	t := translators[item.Header.Type]
	decisive, wanted := in.decidedBy(t)
	if !wanted {
		in.linkOnly(ctx, item)
		in.done(ctx, item.Header.Type, outcomeIgnored, "")
		return
	}
	if discard := t.oversize(item); discard != nil {
		in.discard(ctx, item, discard)
		return
	}
	if !in.pass(decisive) {
		in.linkOnly(ctx, item)
		in.refused = append(in.refused, decisive)
		in.done(ctx, item.Header.Type, outcomeRefused, sentry.RateLimitBackpressure)
		return
	}
	weight, err := in.reserve(ctx, item)
	if err != nil {
		in.refused = append(in.refused, decisive)
		in.done(ctx, item.Header.Type, outcomeRefused, reasonBytesInFlight)
		return
	}
	in.output = weight
	deliveries, discard := t.translate(in, ctx, item)
	if len(deliveries) == 0 {
		in.output = 0
	}
	in.budget.giveBack(max(weight-in.output, 0))
	switch {
	case discard != nil:
		in.discard(ctx, item, discard)
	case len(deliveries) == 0:
		in.done(ctx, item.Header.Type, outcomeIgnored, "")
	default:
		for i := range deliveries[1:] {
			deliveries[1+i].another = true
		}
		in.deliveries = append(in.deliveries, deliveries...)
	}
}

// pass reports whether an item may be translated for a signal. It asks the gate once: an envelope that tests whether the pipeline
// has recovered does so with all of its items.
func (in *ingestion) pass(s signal) bool {
	in.passed[s] = in.passed[s] || in.gates[s].Allow(in.now())
	return in.passed[s]
}

// giveUpTrials lets other envelopes test the pipelines that get nothing from this one.
func (in *ingestion) giveUpTrials() {
	for s, passed := range in.passed {
		if passed && !in.delivered[s] && !slices.ContainsFunc(in.deliveries, func(d delivery) bool { return d.signal == signal(s) }) {
			in.gates[s].Abandon(in.now())
		}
	}
}

func (in *ingestion) discard(ctx context.Context, item *sentry.Item, why *discard.Error) {
	if why.Reason == discard.ReasonExceedSizeLimit || why.Reason == jsonscan.ReasonTooLarge {
		in.tooLarge = why
	}
	in.logger.Debug("Item discarded", zap.String("type", item.Header.Type.Label()), zap.Error(why))
	in.done(ctx, item.Header.Type, outcomeDiscarded, string(why.Reason))
}

// oversize discards what is too large to be decoded.
func (t translator) oversize(item *sentry.Item) *discard.Error {
	if !t.limited || len(item.Payload) <= item.Header.Type.MaxSize() {
		return nil
	}
	return &discard.Error{Reason: jsonscan.ReasonTooLarge,
		Detail: fmt.Sprintf("%s of %d bytes, at most %d", item.Header.Type, len(item.Payload), item.Header.Type.MaxSize())}
}

// dropPayloads lets go of the body, of which what was translated holds copies: a pipeline may take its time, and the body is
// as large as all that it is given.
func (in *ingestion) dropPayloads() {
	for i := range in.envelope.Items {
		in.envelope.Items[i].Payload = nil
	}
}

func (in *ingestion) done(ctx context.Context, item sentry.ItemType, o outcome, reason string) {
	if in.tally == nil {
		in.tally = map[outcome]int{}
	}
	in.tally[o]++
	in.telemetry.itemDone(ctx, in.sender, item, o, reason)
}

// answer tells the SDK what became of the envelope.
//
// SDKs drop what they get an error for and never send it again, so the status decides nothing for them but the client
// report; it is the rate limit that slows them down, on whatever status it stands. It never goes without categories, and a
// 429 never without it: SDKs would silence everything, errors included. For the same reason there is no Retry-After.
//
// A profile that breaks the rules is answered 200, as Sentry does, whose checks come after the answer.
func (in *ingestion) answer() answer {
	limits := in.holdBack(in.refused)
	switch {
	case in.taken || in.tally[outcomeIgnored] > 0:
		return answer{status: http.StatusOK, ID: in.eventID(), limits: limits}
	case in.tally[outcomeRefused] > 0:
		return busyAnswer(limits)
	case in.tooLarge != nil:
		return answer{status: http.StatusRequestEntityTooLarge, Detail: "envelope exceeds the size limit", Causes: []string{in.tooLarge.Detail}}
	case in.tally[outcomeRejected] > 0:
		return answer{status: http.StatusBadRequest, Detail: "everything in the envelope was dropped",
			Causes: []string{"the pipeline rejected the data for good"}}
	}
	return answer{status: http.StatusOK, ID: in.eventID()}
}

// typesWithEventID are the items for which Relay makes up an event id where the envelope has none (relay-server
// src/envelope/item.rs, creates_event and requires_event).
var typesWithEventID = []sentry.ItemType{
	sentry.ItemEvent, sentry.ItemTransaction, sentry.ItemProfile, sentry.ItemAttachment, sentry.ItemFeedback,
	sentry.ItemUserReport, sentry.ItemReplayEvent, sentry.ItemSecurity, sentry.ItemRawSecurity, sentry.ItemFormData,
	sentry.ItemUnrealReport,
}

// eventID is the id that the answer names, "" for none.
func (in *ingestion) eventID() string {
	needed := func(i sentry.Item) bool { return slices.Contains(typesWithEventID, i.Header.Type) }
	if id := in.envelope.Header.EventID; id != "" || !slices.ContainsFunc(in.envelope.Items, needed) {
		return id
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

func (in *ingestion) sdk() sentry.ClientSDK { return sdkOf(&in.envelope.Header, in.auth) }

// sdkOf names who took the data: the envelope header, else the credentials, where it is one text "sentry.python/2.68.0".
func sdkOf(header *sentry.EnvelopeHeader, auth sentry.Auth) sentry.ClientSDK {
	if header.SDK != (sentry.SDK{}) {
		return sentry.ClientSDK(header.SDK)
	}
	name, version, _ := strings.Cut(auth.Client, "/")
	return sentry.ClientSDK{Name: name, Version: version}
}

// decodeTransactionStart gives the start of the envelope's transaction, unset if there is none or it does not tell.
func (in *ingestion) decodeTransactionStart() jsonscan.Timestamp {
	transaction := in.transaction()
	if transaction == nil || len(transaction.Payload) > transaction.Header.Type.MaxSize() {
		return jsonscan.Timestamp{}
	}
	start, _ := event.TransactionTimes(transaction.Payload)
	return start
}

// transaction gives the transaction item of the envelope, nil if there is none.
func (in *ingestion) transaction() *sentry.Item {
	i := slices.IndexFunc(in.envelope.Items, func(i sentry.Item) bool { return i.Header.Type == sentry.ItemTransaction })
	if i < 0 {
		return nil
	}
	return &in.envelope.Items[i]
}
