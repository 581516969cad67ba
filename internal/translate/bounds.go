package translate

import "strings"

// What is made of data from Sentry is bounded by it: the messages of an item have, marshalled, at most MaxGrowth bytes for each
// byte of its payload, and MaxOverhead bytes on top for resource, scope and the keys of attributes. A text that stands once in a
// payload or in an envelope, and is copied to each span, data point or item, is therefore clipped to one of the limits below.
// A clipped text ends in "…".
const (
	// MaxGrowth: a data point of a V1 profile is 12 bytes of JSON at least, and has two times, a value and the id of the profile.
	MaxGrowth = 16

	// MaxOverhead is what the texts of a resource add up to, most of which are there twice.
	MaxOverhead = 8 << 10

	// maxIDBytes bounds the ids of profiles, profiler sessions and threads. SDKs send UUIDs of 36 bytes at most, and up to 20
	// digits.
	maxIDBytes = 64

	// maxNameBytes bounds names: release, environment, SDK, the thread of a transaction. Sentry's ingest refuses a release of more
	// than 250 characters and an environment of more than 64.
	maxNameBytes = 256
)

// clip cuts a text that has more than limit bytes.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-len("…")], "") + "…"
}
