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
		if item.Header.MetaLength.Set || mayHoldTrace(payload) {
			return messageBytes + fromandroid.Weight(size)
		}
		return messageBytes + size + sampledBytes*count("{") // counting one byte takes a fiftieth of the decoding time
	case sentry.ItemTransaction, sentry.ItemSpan, sentry.ItemLog, sentry.ItemTraceMetric, sentry.ItemSession, sentry.ItemSessions,
		sentry.ItemEvent, sentry.ItemFeedback, sentry.ItemUserReport, sentry.ItemCheckIn, sentry.ItemClientReport:
		return messageBytes + 3*size + objectBytes*count("{") + valueBytes*(count("[")+count(","))
	}
	return messageBytes // not decoded
}

// mayHoldTrace reports whether a profile may have the member "sampled_profile", the trace of
// Android. It searches for the end of the key, because profiles have few 'f' but many '"': a search
// for the complete key took a fifth of a request's CPU time. A client can escape letters of a key
// (no SDK does), so any escaped letter counts.
func mayHoldTrace(payload []byte) bool {
	return containsWhere(payload, `file"`, func(before, _ []byte) bool { return bytes.HasSuffix(before, []byte(`"sampled_pro`)) }) ||
		containsWhere(payload, `\u00`, func(_, after []byte) bool { return len(after) > 0 && after[0] >= '5' && after[0] <= '7' })
}

// containsWhere reports whether a part occurs where match holds for the text before and after it.
func containsWhere(payload []byte, part string, match func(before, after []byte) bool) bool {
	for end := 0; ; {
		i := bytes.Index(payload[end:], []byte(part))
		if i < 0 {
			return false
		}
		start := end + i
		if end = start + len(part); match(payload[:start], payload[end:]) {
			return true
		}
	}
}

// Sizes in memory, as measured by TestWeight.
const (
	messageBytes = 4 << 10 // including resource and scope
	sampledBytes = 200     // a sample, frame or thread of a profile: frames need three times as much, samples a quarter
	objectBytes  = 300     // a frame of an event: the largest struct in lists
	valueBytes   = 64      // an attribute
)
