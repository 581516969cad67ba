// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// losses counts rejected items until the next client report.
//
// https://develop.sentry.dev/sdk/telemetry/client-reports/
type losses struct {
	mu         sync.Mutex
	counts     map[loss]int
	lastReport time.Time // time of the last attempt
}

// loss is an entry of a client report.
type loss struct {
	reason   string
	category sentry.Category
}

// reportInterval is the same interval as in SDKs.
const reportInterval = time.Minute

// Reasons, by the specification, for items that the server rejected and for items that the client
// did not send.
const (
	lossRejected = "send_error"
	lossSampled  = "sample_rate"
	lossOverflow = "queue_overflow"
)

// add counts the items of an envelope in all their categories, as the specification requires.
func (l *losses) add(e *envelope, reason string) {
	for _, item := range e.items() {
		for _, quantity := range sentry.Quantities(&item) {
			l.count(reason, quantity.Category, int(quantity.Count))
		}
	}
}

func (l *losses) count(reason string, category sentry.Category, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		l.counts = map[loss]int{}
	}
	l.counts[loss{reason, category}] += n
}

// due returns the counts to report and resets them. It returns nil within reportInterval of the
// previous report, unless this is the last one.
func (l *losses) due(now time.Time, last bool) map[loss]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.counts) == 0 || !last && now.Sub(l.lastReport) < reportInterval {
		return nil
	}
	counts := l.counts
	l.counts, l.lastReport = nil, now
	return counts
}

// reportLosses posts a client report if one is due. It does not retry: lost reports are not
// reported.
func (e *sentryExporter) reportLosses(ctx context.Context, last bool) {
	if !e.cfg.ReportLosses {
		return
	}
	now := time.Now()
	counts := e.losses.due(now, last)
	if counts == nil {
		return
	}
	report := newClientReport(counts, now)
	r := e.client.post(ctx, report)
	e.telemetry.posted(ctx, report, r)
}

func newClientReport(counts map[loss]int, now time.Time) *envelope {
	return &envelope{Item: sentry.Item{Header: sentry.ItemHeader{Type: sentry.ItemClientReport}, Payload: clientReport(counts, now)}}
}

// clientReport returns the payload of a client report, in a fixed order.
func clientReport(counts map[loss]int, now time.Time) []byte {
	type event struct {
		Reason   string          `json:"reason"`
		Category sentry.Category `json:"category"`
		Quantity int             `json:"quantity"`
	}
	report := struct {
		Timestamp float64 `json:"timestamp"`
		Discarded []event `json:"discarded_events"`
	}{Timestamp: float64(now.UnixMilli()) / 1000, Discarded: []event{}}
	entries := slices.SortedFunc(maps.Keys(counts), func(a, b loss) int {
		return cmp.Or(cmp.Compare(a.category, b.category), cmp.Compare(a.reason, b.reason))
	})
	for _, entry := range entries {
		report.Discarded = append(report.Discarded, event{entry.reason, entry.category, counts[entry]})
	}
	payload, err := json.Marshal(report)
	if err != nil {
		panic(err) // unreachable: the structs contain only strings and numbers
	}
	return payload
}
