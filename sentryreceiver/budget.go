// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// budget is what a request claims of max_bytes_in_flight for the translation of its items and for what awaits delivery, beside
// its body: the JSON of an item takes up to a hundred times its size.
type budget struct {
	claim   *httpbody.Claim
	body    int64 // what the claim holds for the body
	most    int64 // what it may hold beside that, so that a request that is alone always has room
	pending int64 // what it holds beside that
}

func (r *sentryReceiver) newBudget(claim *httpbody.Claim, body int64) budget {
	return budget{claim: claim, body: body, most: httpbody.NeedOfOne(r.cfg.HTTP.MaxRequestBodySize) - body}
}

// reserve claims the weight of an item before it is translated. What was made of the items before is delivered first where both
// are too much for one request.
func (in *ingestion) reserve(ctx context.Context, item *sentry.Item) (weight int64, err error) {
	b := &in.budget
	weight = fromsentry.Weight(item.Header.Type, item.Payload)
	if b.pending > 0 && b.pending+weight > b.most {
		in.deliverEarly(ctx)
	}
	weight = min(weight, b.most-b.pending)
	if err := b.claim.Acquire(weight); err != nil {
		return 0, err
	}
	b.pending += weight
	return weight, nil
}

// giveBack returns a part of what reserve has claimed.
func (b *budget) giveBack(n int64) {
	b.pending -= n
	b.claim.Keep(b.body + b.pending)
}

// dropBody leaves the claim what awaits delivery.
func (b *budget) dropBody() {
	b.body = 0
	b.giveBack(0)
}

// deliverEarly delivers what has been translated so far. V1 profiles are linked first, as the transaction of the envelope may be
// among the items to come.
func (in *ingestion) deliverEarly(ctx context.Context) {
	for i := range in.envelope.Items {
		in.linkOnly(ctx, &in.envelope.Items[i])
	}
	in.stayUnlinked(ctx)
	in.deliver(in.withClient(ctx))
	in.budget.giveBack(in.budget.pending)
}

// outputWeight is how many times its size on the wire the OTLP of a profile takes in memory. A profile is a fifth of its JSON, so
// that it is measured; of other items the estimate stands.
const outputWeight = 8
