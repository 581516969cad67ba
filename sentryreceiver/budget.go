// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"

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
	limit   int64 // maximum of pending, so that a single request always fits
	pending int64 // held in addition to the body
}

func (r *sentryReceiver) newBudget(claim *httpbody.Claim, body int64) budget {
	return budget{claim: claim, body: body, limit: httpbody.MaxPerRequest(r.cfg.HTTP.MaxRequestBodySize) - body}
}

// reserve claims the weight of an item before it is translated. If the item does not fit together
// with the output of earlier items, reserve delivers that output first.
func (in *ingestion) reserve(ctx context.Context, item *sentry.Item) (weight int64, err error) {
	b := &in.budget
	weight = fromsentry.Weight(item)
	if b.pending > 0 && b.pending+weight > b.limit {
		in.deliverEarly(ctx)
	}
	weight = min(weight, b.limit-b.pending)
	if err := b.claim.Acquire(weight); err != nil {
		return 0, err
	}
	b.pending += weight
	return weight, nil
}

// settle releases the part of a reserved weight that the output does not need.
func (b *budget) settle(reserved int64, out *sentryitems.Result) {
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
