package sentry

// Every limit that stands between a request and the collector's memory, with its argument.
const (
	// MaxJSONDepth: the deepest payload seen has 9 levels; SDKs cut event contexts at 10 by default ("normalizeDepth").
	MaxJSONDepth = 128

	// MaxFrames bounds the distinct frames of one profile. The largest recorded chunk has 64,000; Sentry's own Perfetto
	// converter stops at 1,000,000. A distinct frame takes at least 11 bytes of payload and about 180 bytes of memory here,
	// so this also bounds how far a small payload can be blown up.
	MaxFrames = 1_000_000

	// MaxProfileSize is the largest payload of a profile item, in bytes: Sentry's ingest refuses more, and so do we. The
	// receiver's configuration may lower or raise it; the rule of strict validation stays at Sentry's figure.
	MaxProfileSize = 50 << 20

	// MaxProfileSeconds and MaxChunkSeconds are how long a V1 profile and a V2 chunk may last by Sentry's rules. Real ones
	// last longer: a blocked node process sent a chunk of 243 s.
	MaxProfileSeconds = 30
	MaxChunkSeconds   = 66

	// maxPooledScratch is what a decoder may hold on to between requests. A chunk of 5 MB needs about 3 MB; the rare huge
	// one gives its memory back.
	maxPooledScratch = 16 << 20
)
