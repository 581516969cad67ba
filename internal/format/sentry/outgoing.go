// SPDX-License-Identifier: Apache-2.0

package sentry

// Limits and categories that a sender to Sentry must obey.

// MaxOutgoingChunk bounds the payload of an outgoing chunk, in bytes. It is below MaxProfileSize:
// ingest writes each chunk again, with fields of its own, and then applies the limit a second time.
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

// The names of ingest's limits are those of relay-config/src/config.rs. Its endpoint compares them
// with the payloads as sent, before it adds fields (relay-server/src/utils/sizes.rs).
const (
	// MaxOutgoingEvent bounds the payload of an event or a feedback, in bytes: max_event_size. A
	// smaller limit would lose events that Sentry accepts from SDKs.
	MaxOutgoingEvent = 1 << 20

	// MaxOutgoingTransaction bounds the payload of a transaction, in bytes. It also has
	// max_event_size, but nothing is lost below it: what does not fit becomes a span container.
	MaxOutgoingTransaction = 1_000_000

	// MaxOutgoingSpanBytes bounds the spans of a transaction, in bytes by ingest's count. Ingest
	// cuts the list at 819,200 (relay-event-schema/src/protocol/event.rs). What does not fit
	// becomes a span container.
	MaxOutgoingSpanBytes = 800_000

	// MaxOutgoingTransactionAge bounds the age of a transaction and of its spans, in seconds.
	// Ingest rejects a transaction that began more than 5 days ago, and gives older spans its times
	// (relay-metrics/src/aggregator/config.rs, relay-event-normalization/src/validation.rs). A span
	// container may be as old as the retention. An hour is for retries.
	MaxOutgoingTransactionAge = (5*24 - 1) * 3600

	// MaxOutgoingContainer bounds a span container, in bytes. max_container_size is 12 MiB, but
	// max_span_size, 10 MiB, applies to the average span and thus to a container with one span.
	MaxOutgoingContainer = 10 << 20

	// MaxOutgoingSpans bounds the spans of a container and of a transaction. Ingest accepts 1000 in
	// a container, and SDKs send at most 1000 in a transaction.
	MaxOutgoingSpans = 1000

	// MaxOutgoingElements bounds the payload of a container of logs or metrics, in bytes, and of
	// all other items that are made of logs and metrics: it is max_event_size. On average, an
	// element may have max_trace_metric_size, 1 MiB, or max_log_size, 2 MiB, and a container
	// max_container_size, 12 MiB.
	MaxOutgoingElements = MaxOutgoingEvent

	// MaxOutgoingLog bounds the payload of a container with one log: max_log_size.
	MaxOutgoingLog = 2 << 20

	// MaxOutgoingSessions bounds the updates of sessions in an envelope: max_session_count.
	MaxOutgoingSessions = 100

	// MaxOutgoingLogs and MaxOutgoingMetrics are the sizes of SDK buffers.
	MaxOutgoingLogs    = 100
	MaxOutgoingMetrics = 1000
)
