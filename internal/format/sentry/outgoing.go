// SPDX-License-Identifier: Apache-2.0

package sentry

// What whoever sends to Sentry has to know beyond the formats.

// MaxOutgoingChunk is how large the payload of a chunk may be that is sent, in bytes: ingest refuses what is over
// MaxProfileSize after it has written it anew, with fields of its own.
const MaxOutgoingChunk = 45 << 20

// MaxOutgoingChunkSeconds is how long a chunk lasts that is sent: what SDKs cut at. Ingest refuses over MaxChunkSeconds.
const MaxOutgoingChunkSeconds = 60

// IsUI says whether Sentry books profiles of the platform as UI profiles; all others are backend profiles
// (relay-profiling/src/lib.rs).
func IsUI(platform string) bool {
	return platform == "cocoa" || platform == "android" || platform == "javascript"
}

// LimitedBy lists the categories of which any one, when it is limited, stops an item at Sentry's ingest: nil where nothing
// does. It is what a sender obeys; what a receiver writes is StoppedBy.
func LimitedBy(h *ItemHeader) []Category {
	switch {
	case h.Type == ItemProfileChunk && IsUI(h.Platform):
		return []Category{CategoryProfileChunkUI, CategoryProfileDurationUI}
	case h.Type == ItemProfileChunk:
		return []Category{CategoryProfileChunk, CategoryProfileDuration}
	case h.Type.Category() == "":
		return nil
	}
	return []Category{h.Type.Category()}
}

// Limits of ingest on spans, with room for what it adds: the payload of a transaction has 1 MiB, that of a span container
// 12 MiB; a container has 1000 spans, and SDKs give a transaction no more either.
const (
	MaxOutgoingTransaction = 1_000_000
	MaxOutgoingContainer   = 10 << 20
	MaxOutgoingSpans       = 1000
)
