// SPDX-License-Identifier: Apache-2.0

package sentry

// Limits and categories that a sender to Sentry must obey.

// MaxOutgoingChunk bounds the payload of an outgoing chunk, in bytes: ingest adds its own fields to
// a chunk and then rejects it if it exceeds MaxProfileSize.
const MaxOutgoingChunk = 45 << 20

// MaxOutgoingChunkSeconds bounds the duration of an outgoing chunk. It is the duration that SDKs
// use. Ingest rejects chunks longer than MaxChunkSeconds.
const MaxOutgoingChunkSeconds = 60

// IsUI reports whether Sentry counts profiles of the platform as UI profiles; all others are
// backend profiles (relay-profiling/src/lib.rs).
func IsUI(platform string) bool {
	return platform == "cocoa" || platform == "android" || platform == "javascript"
}

// LimitedBy returns the categories that Sentry's ingest checks for an item: a limit on any of them
// stops the item. nil means that no limit applies. Senders obey LimitedBy; receivers send
// StoppedBy.
func LimitedBy(h *ItemHeader) []Category {
	switch {
	case h.Type == ItemProfileChunk && IsUI(h.Platform):
		return []Category{CategoryProfileChunkUI, CategoryProfileDurationUI}
	case h.Type == ItemProfileChunk:
		return []Category{CategoryProfileChunk, CategoryProfileDuration}
	case h.Type == ItemLog:
		return []Category{CategoryLogItem, CategoryLogByte}
	case h.Type == ItemTraceMetric:
		return []Category{CategoryTraceMetric, CategoryTraceMetricByte}
	case h.Type == ItemAttachment:
		return []Category{CategoryAttachment, CategoryAttachmentItem}
	case h.Type.Category() == "":
		return nil
	}
	return []Category{h.Type.Category()}
}

// Limits for outgoing spans. They are below those of ingest, because it adds fields: 1 MiB for the
// payload of a transaction, 12 MiB for a span container, 1000 spans in a container. SDKs also put
// at most 1000 spans into a transaction.
const (
	MaxOutgoingTransaction = 1_000_000
	MaxOutgoingContainer   = 10 << 20
	MaxOutgoingSpans       = 1000
)

// Limits for outgoing log and metric containers: the sizes of SDK buffers, and a tenth of the limit
// of ingest (12 MiB). Ingest rejects single logs above 1 MiB.
const (
	MaxOutgoingElements = 1_000_000 // bytes
	MaxOutgoingLogs     = 100
	MaxOutgoingMetrics  = 1000
)
