// SPDX-License-Identifier: Apache-2.0

package sentry

// Every limit that stands between a request and the collector's memory, with its argument.
const (

	// MaxFrames bounds the distinct frames of one profile. The largest recorded chunk has 64,000; Sentry's own Perfetto
	// converter stops at 1,000,000. A distinct frame takes at least 11 bytes of payload and about 180 bytes of memory here,
	// so this also bounds how far a small payload can be blown up.
	MaxFrames = 1_000_000

	// maxContainerSize and maxItemSize bound the payloads of items other than profiles, in bytes: the first those of spans,
	// logs and metrics, and of sessions, where Sentry's ingest allows 12 and 10 MiB; the second all others, where it allows
	// 1 MiB. A JSON value takes up to fifteen times its text as an attribute.
	maxContainerSize = 12 << 20
	maxItemSize      = 2 << 20

	// MaxImages bounds the debug images of one profile: a large iOS app loads under a thousand, a large bundle has some
	// thousand source maps. An image takes at least 12 bytes of payload and over a kilobyte of memory.
	MaxImages = 20_000

	// MaxMeasurements and MaxMeasurementValues bound the series of one profile and their points. SDKs know a handful of
	// series, one more for each processor; node sends 300 points of each.
	MaxMeasurements      = 1_000
	MaxMeasurementValues = 1_000_000

	// MaxProfileSize is the largest payload of a profile item, in bytes: Sentry's ingest refuses more, and so do we. The
	// receiver's configuration may lower or raise it; the rule of strict validation stays at Sentry's figure.
	MaxProfileSize = 50 << 20

	// MaxProfileSeconds and MaxChunkSeconds are how long a V1 profile and a V2 chunk may last by Sentry's rules. Real ones
	// last longer: a blocked node process sent a chunk of 243 s.
	MaxProfileSeconds = 30
	MaxChunkSeconds   = 66

	// MaxPooledScratch is what a decoder may hold on to between requests. A chunk of 5 MB needs about 3 MB, a recorded one of
	// 34 MB with many frames 29 MB, and allocating those anew is a fifth of the time that decoding it takes. The pool lets
	// go of what two garbage collections found unused; a larger one gives its memory back at once.
	MaxPooledScratch = 32 << 20

	// MaxPooledMap is how many entries a map may have that is used again: to clear it takes as long as it was large once,
	// which the small payloads after a huge one would wait for.
	MaxPooledMap = 1 << 12

	// MaxEnvelopeItems is how many items of one envelope are read. SDKs send three at most; Relay's limits by type (30
	// attachments, 100 sessions, 100 client reports, 25 spans, one each of the others) add up to less than 300. A body may
	// hold an item in every four bytes, each of which takes 200 bytes of memory here, so that there has to be an end.
	MaxEnvelopeItems = 1000

	// MaxHeaderBytes is how long the header of an envelope or of an item may be. The longest recorded ones have 905 and 143
	// bytes; lists of packages and integrations and a trace of baggage size (8192 bytes) make it a few times that.
	MaxHeaderBytes = 64 << 10

	// MaxRetrySeconds is the longest pause a rate limit can impose on us. Quotas renew by the month, so no real limit is
	// longer; a mistaken one then does not silence a collector for good.
	MaxRetrySeconds = 31 * 24 * 60 * 60

	// DefaultRetrySeconds is the pause where one is asked for without a readable length: what the protocol says for a 429
	// without any header.
	DefaultRetrySeconds = 60

	// MaxKeyBytes is how long the public key of a DSN may be: twice the 32 hex digits of Sentry's own keys, for those that
	// people make up.
	MaxKeyBytes = 64
)
