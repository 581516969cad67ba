// SPDX-License-Identifier: Apache-2.0

package sentry

// Limits that protect the collector's memory from a request, each with the argument for its value.
const (
	// MaxFrames bounds the distinct frames of one profile. The largest recorded chunk has 64,000;
	// Sentry's own Perfetto converter stops at 1,000,000. A distinct frame takes at least 11 bytes
	// of payload and about 180 bytes of memory, so the limit also bounds the memory of a small
	// payload.
	MaxFrames = 1_000_000

	// maxContainerSize and maxItemSize bound the payloads of items other than profiles, in bytes:
	// the first bounds spans, logs, metrics and sessions, for which Sentry's ingest allows 12 and
	// 10 MiB; the second all others, for which it allows 1 MiB. As an attribute, a JSON value takes
	// up to fifteen times the size of its text.
	maxContainerSize = 12 << 20
	maxItemSize      = 2 << 20

	// MaxImages bounds the debug images of one profile: a large iOS app loads fewer than a
	// thousand, a large bundle has some thousand source maps. An image takes at least 12 bytes of
	// payload and more than a kilobyte of memory.
	MaxImages = 20_000

	// MaxMeasurements and MaxMeasurementValues bound the series of one profile and their points.
	// SDKs send a handful of series and one more for each processor; node sends 300 points in each.
	MaxMeasurements      = 1_000
	MaxMeasurementValues = 1_000_000

	// MaxProfileSize is the largest payload of a profile item, in bytes; Sentry's ingest rejects
	// larger ones. The receiver's configuration may lower or raise it; the rule of strict
	// validation keeps Sentry's figure.
	MaxProfileSize = 50 << 20

	// MaxProfileSeconds and MaxChunkSeconds are the longest V1 profile and V2 chunk by Sentry's
	// rules. Real ones are longer: a blocked node process sent a chunk of 243 s.
	MaxProfileSeconds = 30
	MaxChunkSeconds   = 66

	// MaxPooledScratch bounds the memory that a pooled decoder keeps between requests, in bytes. A
	// chunk of 5 MB needs about 3 MB; a recorded one of 34 MB with many frames needs 29 MB, and
	// allocating it again takes a fifth of the time to decode the chunk. The pool frees decoders
	// that were unused for two garbage collections; a larger decoder is not pooled.
	MaxPooledScratch = 32 << 20

	// MaxPooledMap bounds the entries of a map that is reused: clearing it takes time by the
	// largest size it ever had, which would delay the small payloads after a huge one.
	MaxPooledMap = 1 << 12

	// MaxEnvelopeItems bounds the items of one envelope. SDKs send at most three; Relay's limits by
	// type (30 attachments, 100 sessions, 100 client reports, 25 spans, one of each other type) add
	// up to fewer than 300. An item takes at least four bytes of the body and 200 bytes of memory.
	MaxEnvelopeItems = 1000

	// MaxHeaderBytes bounds the header of an envelope or an item. The longest recorded ones have
	// 905 and 143 bytes; lists of packages and integrations and a trace of baggage size (8192
	// bytes) may make it several times longer.
	MaxHeaderBytes = 64 << 10

	// MaxRetrySeconds is the longest pause that we accept from a rate limit. Quotas renew monthly,
	// so no real limit is longer, and a mistaken one does not silence a collector for good.
	MaxRetrySeconds = 31 * 24 * 60 * 60

	// DefaultRetrySeconds is the pause if a rate limit has no readable length: the protocol's value
	// for a 429 without any header.
	DefaultRetrySeconds = 60

	// MaxKeyBytes bounds the public key of a DSN: twice the 32 hex digits of Sentry's own keys,
	// which leaves room for keys that people make up.
	MaxKeyBytes = 64
)
