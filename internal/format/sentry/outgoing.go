// SPDX-License-Identifier: Apache-2.0

package sentry

// Limits and categories that a sender to Sentry must obey.

// MaxOutgoingChunk bounds the payload of a chunk that we send, in bytes: ingest rewrites a chunk
// with fields of its own and then rejects it if it exceeds MaxProfileSize.
const MaxOutgoingChunk = 45 << 20

// MaxOutgoingChunkSeconds bounds the duration of a chunk that we send: SDKs cut there. Ingest
// rejects chunks longer than MaxChunkSeconds.
const MaxOutgoingChunkSeconds = 60

// IsUI reports whether Sentry counts profiles of the platform as UI profiles; all others are
// backend profiles (relay-profiling/src/lib.rs).
func IsUI(platform string) bool {
	return platform == "cocoa" || platform == "android" || platform == "javascript"
}

// LimitedBy returns the categories that Sentry's ingest checks for an item: a limit on any one of
// them stops it. nil means that no limit does. Senders obey LimitedBy; receivers write StoppedBy.
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

// Limits on spans that we send, below those of ingest because it adds fields: 1 MiB for the payload
// of a transaction, 12 MiB for a span container, 1000 spans in a container. SDKs put at most 1000
// spans into a transaction as well.
const (
	MaxOutgoingTransaction = 1_000_000
	MaxOutgoingContainer   = 10 << 20
	MaxOutgoingSpans       = 1000
)

// Limits on containers of logs and metrics that we send: the sizes of SDKs' buffers, and a tenth of
// what ingest allows (12 MiB). Ingest rejects a single log above 1 MiB.
const (
	MaxOutgoingElements = 1_000_000 // bytes
	MaxOutgoingLogs     = 100
	MaxOutgoingMetrics  = 1000
)
