// SPDX-License-Identifier: Apache-2.0

package sentry

import "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"

// Quantity is the contribution of an item to a category, in items or bytes.
type Quantity struct {
	Category Category
	Count    int64
}

// Quantities returns the quantities of an item for client reports, by the rules of SDKs: a
// transaction counts as one transaction, and also as spans (itself and its children). The result is
// empty for items without a category.
//
// Relay's own outcomes also include categories that end in _indexed (relay-server
// src/envelope/item.rs), which SDKs do not report.
func Quantities(item *Item) []Quantity {
	elements, size := int64(1), int64(len(item.Payload))
	if count := item.Header.ItemCount; count.Set {
		elements = int64(count.Value)
	}
	category := item.Header.Type.Category()
	switch item.Header.Type {
	case ItemTransaction:
		return []Quantity{{CategoryTransaction, 1}, {CategorySpan, 1 + countSpans(item.Payload)}}
	case ItemLog:
		return []Quantity{{CategoryLogItem, elements}, {CategoryLogByte, max(size, 1)}}
	case ItemTraceMetric:
		return []Quantity{{CategoryTraceMetric, elements}, {CategoryTraceMetricByte, max(size, 1)}}
	case ItemSpan:
		return []Quantity{{CategorySpan, elements}}
	case ItemAttachment:
		return []Quantity{{CategoryAttachment, max(size, 1)}, {CategoryAttachmentItem, 1}}
	case ItemProfileChunk, ItemProfileChunkUI:
		return []Quantity{{LimitedBy(&item.Header)[0], 1}}
	}
	if category == "" {
		return nil
	}
	return []Quantity{{category, 1}}
}

// countSpans returns the number of spans of a transaction, up to the first syntax error.
func countSpans(payload []byte) (spans int64) {
	s := jsonscan.Scanner{Data: payload}
	if !find(&s, "spans") || s.Peek() != '[' || !s.Open('[') {
		return 0
	}
	for n := 0; s.Element(&n); {
		s.Skip()
		if s.Err == nil {
			spans++
		}
	}
	return spans
}
