// SPDX-License-Identifier: Apache-2.0

package sentry

// Limits that protect the collector's memory from hostile requests, each with the rationale for its
// value.
const (
	// MaxFrames bounds the distinct frames of one profile. The largest recorded chunk has 64,000;
	// Sentry's own Perfetto converter stops at 1,000,000. A distinct frame needs at least 11 bytes
	// of payload and about 180 bytes of memory, so the limit also bounds the memory for a small
	// payload.
	MaxFrames = 1_000_000

	// maxContainerSize and maxItemSize bound the payloads of items other than profiles, in bytes.
	// The first applies to spans, logs, metrics and sessions, for which Sentry's ingest allows 12
	// and 10 MiB; the second applies to all others, for which it allows 1 MiB. As an attribute, a
	// JSON value uses up to fifteen times the size of its text.
	maxContainerSize = 12 << 20
	maxItemSize      = 2 << 20

	// MaxImages bounds the debug images of one profile. A large iOS app loads fewer than a
	// thousand; a large bundle has a few thousand source maps. An image needs at least 12 bytes of
	// payload and more than a kilobyte of memory.
	MaxImages = 20_000

	// MaxMeasurements and MaxMeasurementValues bound the series of one profile and their points.
	// SDKs send a few series, and one per processor; Node sends 300 points in each.
	MaxMeasurements      = 1_000
	MaxMeasurementValues = 1_000_000

	// MaxProfileSize is the largest payload of a profile item, in bytes; Sentry's ingest rejects
	// larger ones. The receiver's configuration can lower or raise the limit; strict validation
	// always uses Sentry's value.
	MaxProfileSize = 50 << 20

	// MaxProfileSeconds and MaxChunkSeconds are the maximum durations of V1 profiles and V2 chunks
	// by Sentry's rules. Real data can be longer: a blocked Node process sent a chunk of 243 s.
	MaxProfileSeconds = 30
	MaxChunkSeconds   = 66

	// MaxPooledScratch bounds the memory that a pooled decoder keeps between requests, in bytes. A
	// chunk of 5 MB needs about 3 MB; a recorded chunk of 34 MB with many frames needs 29 MB, and
	// allocating this memory takes a fifth of the decoding time. The pool frees decoders that were
	// not used for two garbage collections; larger decoders are not pooled.
	MaxPooledScratch = 32 << 20

	// MaxPooledMap bounds the entries of a reused map. The time to clear a map depends on the
	// largest size that it ever had, so a huge payload would slow down later small ones.
	MaxPooledMap = 1 << 12

	// MaxEnvelopeItems bounds the items of one envelope. SDKs send at most three; Relay's limits by
	// type (30 attachments, 100 sessions, 100 client reports, 25 spans, one of each other type) add
	// up to fewer than 300. An item needs at least four bytes of the body and 200 bytes of memory.
	MaxEnvelopeItems = 1000

	// MaxHeaderBytes bounds the header of an envelope or an item. The longest recorded headers have
	// 905 and 143 bytes; lists of packages and integrations, and a trace of the maximum baggage
	// size (8192 bytes), can make them several times longer.
	MaxHeaderBytes = 64 << 10

	// MaxRetrySeconds is the longest pause that a rate limit can impose. Quotas renew monthly, so
	// no real limit is longer, and a wrong limit cannot silence a collector permanently.
	MaxRetrySeconds = 31 * 24 * 60 * 60

	// DefaultRetrySeconds is the pause if a rate limit states no valid duration. It is the
	// protocol's default for a 429 without headers.
	DefaultRetrySeconds = 60

	// MaxKeyBytes bounds the public key of a DSN. Sentry's own keys have 32 hex digits; made-up
	// keys may be longer.
	MaxKeyBytes = 64
)
