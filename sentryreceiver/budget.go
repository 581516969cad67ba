// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"
	"errors"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// budget is the part of max_bytes_in_flight that a request uses, in addition to its body, to
// translate items and to hold output until delivery. A decoded item takes up to a hundred times the
// size of its JSON.
type budget struct {
	claim   *httpbody.Claim
	body    int64 // held for the body
	failed  error // of a claim during the translation of an item
	limit   int64 // maximum of pending, so that a single request always fits
	pending int64 // held in addition to the body
}

func (r *sentryReceiver) newBudget(claim *httpbody.Claim, body int64) budget {
	return budget{claim: claim, body: body, limit: httpbody.MaxPerRequest(r.cfg.HTTP.MaxRequestBodySize) - body}
}

// errTooHeavy is the error of an item that needs more memory than one request may use.
var errTooHeavy = errors.New("the item needs more memory than one request may use")

// reserve claims the weight of an item before it is translated. If the item may not fit together
// with the output of earlier items, reserve delivers that output first. It returns what was
// pending before the claim.
func (in *ingestion) reserve(ctx context.Context, item *sentry.Item) (before int64, err error) {
	b := &in.budget
	weight := fromsentry.Weight(item)
	if b.pending > 0 && b.pending+max(weight, usualGrowth*int64(len(item.Payload))) > b.limit {
		in.deliverEarly(ctx)
	}
	return b.pending, b.add(weight)
}

// usualGrowth is how many times its size a recorded profile claims at most, see
// TestOrdinaryProfileWeight. Most of it is claimed after the decoder has counted its parts.
const usualGrowth = 12

// add claims memory for the item that is being translated. The claim is never less than the item
// needs: an item that needs more than the limit is discarded.
func (b *budget) add(n int64) error {
	if b.pending+n > b.limit {
		b.failed = errTooHeavy
	} else if b.failed = b.claim.Acquire(n); b.failed == nil {
		b.pending += n
	}
	return b.failed
}

// settle releases the part of an item's claim that its output does not need. before is what was
// pending without the item.
func (b *budget) settle(before int64, out *sentryitems.Result) {
	reserved := b.pending - before
	switch {
	case len(out.Deliveries) == 0:
		b.release(reserved)
	case out.Weight > 0:
		b.release(max(reserved-out.Weight, 0))
	}
}

func (b *budget) release(n int64) {
	b.pending -= n
	b.claim.ShrinkTo(b.body + b.pending)
}

// dropBody releases the claim for the body. Pending output remains claimed.
func (b *budget) dropBody() {
	b.body = 0
	b.release(0)
}

// deliverEarly delivers the pending output. It first links V1 profiles, because their transaction
// may be a later item.
func (in *ingestion) deliverEarly(ctx context.Context) {
	for i := range in.envelope.Items {
		in.translation.LinkOnly(&in.envelope.Items[i])
	}
	in.countLinks(ctx)
	in.deliver(ctx)
	in.budget.release(in.budget.pending)
}
