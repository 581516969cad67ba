// SPDX-License-Identifier: Apache-2.0

package fakesentry

import (
	"encoding/json"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// TimesVerdict returns why ingest would reject a transaction or a span container that it receives
// at a time, or replace the times of a span; "" if it stores all times.
func TimesVerdict(item *sentry.Item, received time.Time) string {
	// relay-metrics/src/aggregator/config.rs; the retention is that of Sentry's smallest plan.
	const maxAge, retention = 5 * 24 * time.Hour, 30 * 24 * time.Hour
	olderThan := func(seconds *float64, age time.Duration) bool {
		return *seconds < float64(received.Add(-age).UnixNano())/1e9
	}
	if item.Header.Type == sentry.ItemTransaction {
		var t ingestTransaction
		_ = json.Unmarshal(item.Payload, &t)
		if olderThan(t.Start, maxAge) { // relay-event-normalization/src/validation.rs
			return "the transaction is too old"
		}
		for i := range t.Spans {
			if olderThan(t.Spans[i].Start, maxAge) || olderThan(t.Spans[i].End, maxAge) {
				return "the span gets the times of the transaction"
			}
		}
		return ""
	}
	var c ingestContainer
	_ = json.Unmarshal(item.Payload, &c)
	for i := range c.Items {
		if olderThan(c.Items[i].Start, retention) { // relay-server/src/processing/utils/normalize.rs
			return "the span is older than the retention"
		}
	}
	return ""
}
