// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"bytes"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromandroid"
)

// Weight estimates the memory, in bytes, that is needed to translate and deliver an item, without
// decoding it. Items with very many tiny elements need up to three and a half times the estimate,
// ordinary items a third of it.
func Weight(item *sentry.Item) int64 {
	payload := item.Payload
	count := func(text string) int64 { return int64(bytes.Count(payload, []byte(text))) }
	size := int64(len(payload))
	switch item.Header.Type {
	case sentry.ItemProfile, sentry.ItemProfileChunk, sentry.ItemProfileChunkUI:
		if item.Header.MetaLength.Set || bytes.Contains(payload, []byte(`"sampled_profile"`)) {
			return messageBytes + fromandroid.Weight(size)
		}
		return messageBytes + size + sampledBytes*count("{") // counting one byte takes a fiftieth of the decoding time
	case sentry.ItemTransaction, sentry.ItemSpan, sentry.ItemLog, sentry.ItemTraceMetric, sentry.ItemSession, sentry.ItemSessions,
		sentry.ItemEvent, sentry.ItemFeedback, sentry.ItemUserReport, sentry.ItemCheckIn, sentry.ItemClientReport:
		return messageBytes + 3*size + objectBytes*count("{") + valueBytes*(count("[")+count(","))
	}
	return messageBytes // not decoded
}

// Sizes in memory, as measured by TestWeight.
const (
	messageBytes = 4 << 10 // including resource and scope
	sampledBytes = 200     // a sample, frame or thread of a profile: frames need three times as much, samples a quarter
	objectBytes  = 300     // a frame of an event: the largest struct in lists
	valueBytes   = 64      // an attribute
)
