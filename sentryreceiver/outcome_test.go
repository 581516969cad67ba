// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// outcomeText says in words how a request was answered and what the receiver counted.
func outcomeText(h *harness, reply reply, body []byte, r received) string {
	var text strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }

	line("%d %s", reply.status, withoutMadeUpID(h.t, reply.text, body))
	for _, header := range []string{sentry.HeaderRateLimits, "Retry-After"} {
		if value := reply.header.Get(header); value != "" {
			line("  %s: %s", header, value)
		}
	}
	for _, item := range r.items {
		line("  %s", strings.TrimSpace(fmt.Sprintf("%d %s %s %s", item.count, item.itemType, item.outcome, item.reason)))
	}
	for _, refused := range inOrder(byAttribute(h, "otelcol_receiver_sentry_requests_rejected", "reason")) {
		line("  request rejected %s", refused.name)
	}
	for _, lost := range inOrder(byAttribute(h, "otelcol_receiver_sentry_samples_discarded", "reason")) {
		line("  samples lost: %d %s", lost.count, lost.name)
	}
	for _, lost := range inOrder(h.counts("otelcol_receiver_sentry_elements_discarded")) {
		line("  elements lost: %d %s", lost.count, lost.name)
	}
	for _, lost := range inOrder(h.counts("otelcol_receiver_sentry_fields_discarded")) {
		line("  fields lost: %d %s", lost.count, lost.name)
	}
	for _, rule := range inOrder(r.tolerated) {
		line("  tolerated: %s in %d", rule.name, rule.count)
	}
	return text.String()
}

// withoutMadeUpID replaces an id that is not in the envelope: the receiver has made it up.
func withoutMadeUpID(t *testing.T, answer string, body []byte) string {
	var id struct {
		ID string `json:"id"`
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &id))
	if envelope, err := sentry.ReadEnvelope(body); id.ID == "" || err == nil && envelope.Header.EventID == id.ID {
		return answer
	}
	return strings.Replace(answer, id.ID, "(made up)", 1)
}

func (h *harness) countedItems() (items []countedItem) {
	for attributes, count := range h.items() {
		item := countedItem{count: count}
		for _, attribute := range strings.Fields(attributes) {
			switch key, value, _ := strings.Cut(attribute, "="); key {
			case "type":
				item.itemType = value
			case "outcome":
				item.outcome = value
			case "reason":
				item.reason = value
			}
		}
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b countedItem) int {
		return strings.Compare(a.itemType+" "+a.outcome+" "+a.reason, b.itemType+" "+b.outcome+" "+b.reason)
	})
	return items
}

// byAttribute gives a counter's values by its only attribute.
func byAttribute(h *harness, metric, attribute string) map[string]int64 {
	values := map[string]int64{}
	for text, value := range h.counts(metric) {
		values[strings.TrimPrefix(text, attribute+"=")] = value
	}
	return values
}

type named struct {
	name  string
	count int64
}

func inOrder(counts map[string]int64) (list []named) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, named{name, counts[name]})
	}
	return list
}
