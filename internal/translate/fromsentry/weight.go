// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"bytes"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// Weight estimates how many bytes of memory an item takes while it is translated and what is made of it is delivered, without
// decoding it. Items of very many elements that say next to nothing take up to three and a half times as much, ordinary ones a
// third.
func Weight(item sentry.ItemType, payload []byte) int64 {
	count := func(text string) int64 { return int64(bytes.Count(payload, []byte(text))) }
	size := int64(len(payload))
	switch item {
	case sentry.ItemProfile, sentry.ItemProfileChunk, sentry.ItemProfileChunkUI:
		return messageBytes + size + sampledBytes*count("{") // of single bytes, which takes a fiftieth of the decoding
	case sentry.ItemTransaction, sentry.ItemSpan, sentry.ItemLog, sentry.ItemTraceMetric, sentry.ItemSession, sentry.ItemSessions,
		sentry.ItemEvent, sentry.ItemFeedback, sentry.ItemUserReport, sentry.ItemCheckIn, sentry.ItemClientReport:
		return messageBytes + 3*size + objectBytes*count("{") + valueBytes*(count("[")+count(","))
	}
	return messageBytes // described without being decoded
}

// Sizes in memory, as TestWeight measures them.
const (
	messageBytes = 4 << 10 // with resource and scope
	sampledBytes = 200     // a sample, a frame or a thread of a profile: of a frame a third, of a sample four times what it takes
	objectBytes  = 300     // a frame of an event, the largest struct of which there are lists
	valueBytes   = 64      // an attribute
)
