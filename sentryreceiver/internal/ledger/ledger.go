// SPDX-License-Identifier: Apache-2.0

// Package ledger counts the items of Sentry SDKs by outcome and sender.
package ledger

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// Ledger counts items by outcome and sender.
//
// Clients choose projects, SDKs and versions, so the number of series is limited: after maxSeries,
// items of new senders count as "other".
type Ledger struct {
	counter metric.Int64Counter // of items

	mu    sync.Mutex
	known map[entry][]metric.AddOption
}

// maxSeries is half of the limit of OpenTelemetry's SDK (2000), which would combine all attributes
// of further series. A sender has two to five series: its types, nearly all accepted.
const maxSeries = 1000

// New returns a ledger that counts with a counter.
func New(counter metric.Int64Counter) *Ledger {
	return &Ledger{counter: counter, known: map[entry][]metric.AddOption{}}
}

// entry is the attributes of an item. All except the sender have a bounded number of values.
type entry struct {
	item    string
	outcome pipeline.Outcome
	reason  string
	sender  Sender
}

// Count counts an item. The reason is "" if there is none.
func (l *Ledger) Count(ctx context.Context, from Sender, item sentry.ItemType, outcome pipeline.Outcome, reason string) {
	l.counter.Add(ctx, 1, l.series(entry{item: item.Label(), outcome: outcome, reason: reason, sender: from})...)
}

func (l *Ledger) series(e entry) []metric.AddOption {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.known[e]; !known && len(l.known) >= maxSeries {
		e.sender = Unidentified
	}
	option, known := l.known[e]
	if !known {
		option = []metric.AddOption{metric.WithAttributeSet(attribute.NewSet(e.attributes()...))}
		l.known[e] = option
	}
	return option
}

func (e entry) attributes() []attribute.KeyValue {
	attributes := []attribute.KeyValue{
		attribute.String("type", e.item),
		attribute.String("outcome", string(e.outcome)),
		attribute.String("project", e.sender.project),
		attribute.String("sdk", e.sender.SDK),
		attribute.String("sdk_version", e.sender.version),
	}
	if e.reason != "" {
		attributes = append(attributes, attribute.String("reason", e.reason))
	}
	return attributes
}
