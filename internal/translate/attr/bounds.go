// SPDX-License-Identifier: Apache-2.0

package attr

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

	// ExportGrowth and ExportOverhead bound what is made of OTLP for Sentry in the same way: of a message with so many bytes, marshalled.
	// A sample of Sentry's has 70 bytes of JSON for the 8 of a timestamp, and a frame spells out texts that the dictionary has once.
	// A transaction of Sentry's has a kilobyte for the fifty bytes of an empty span, which is why spans are never lost for it: only
	// copies of their resource are left out.
	ExportGrowth   = 32
	ExportOverhead = 4 << 20

	// MaxExport bounds what is made of the profiles of one message in any case: the default size of a queue.
	MaxExport = 128 << 20

	// MaxFrameText bounds the texts of a frame. The longest recorded one has 500 bytes; names of C++ templates have some thousand.
	MaxFrameText = 8 << 10

	// MaxIDBytes bounds the ids of profiles, profiler sessions and threads. SDKs send UUIDs of 36 bytes at most, and up to 20
	// digits.
	MaxIDBytes = 64

	// MaxNameBytes bounds names: release, environment, SDK, the thread of a transaction. Sentry's ingest refuses a release of more
	// than 250 characters and an environment of more than 64.
	MaxNameBytes = 256
)

// Clip cuts a text that has more than limit bytes.
func Clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-len("…")], "") + "…"
}

// ExportBound is how much may be made of a message of so many bytes.
func ExportBound(size int) int { return ExportGrowth*size + ExportOverhead }
