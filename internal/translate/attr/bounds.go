// SPDX-License-Identifier: Apache-2.0

package attr

import "strings"

// The output is bounded by the input: marshalled, the messages of an item from Sentry have at most
// MaxGrowth bytes for each byte of its payload, plus MaxOverhead bytes for resource, scope and
// attribute keys. A text that occurs once in a payload or envelope and is copied to each span, data
// point or item is therefore clipped to one of the limits below. A clipped text ends in "…".
const (
	// MaxGrowth: a data point of a V1 profile has at least 12 bytes of JSON; it becomes two times,
	// a value and the profile ID.
	MaxGrowth = 16

	// MaxOverhead is the sum of the texts of a resource, most of which occur twice.
	MaxOverhead = 8 << 10

	// SpareObservations bounds the observations of the traces of Android in one request beyond one for
	// each byte: a few bytes of a trace say that a thread did nothing for a minute, which is 6,000
	// observations of 8 bytes. An idle app has 80 threads.
	SpareObservations = 1 << 18

	// ExportGrowth and ExportOverhead bound the output for Sentry in the same way, by the size of
	// the marshalled OTLP message. A sample of Sentry's has 70 bytes of JSON for the 8 bytes of a
	// timestamp, and a frame repeats texts that the dictionary stores once. A transaction has a
	// kilobyte for the fifty bytes of an empty span; spans are therefore never dropped for this
	// limit, only copies of their resource.
	ExportGrowth   = 32
	ExportOverhead = 4 << 20

	// MaxExport bounds the output for the profiles of one message: the default size of a queue.
	MaxExport = 128 << 20

	// MaxFrameText bounds the texts of a frame. The longest recorded text has 500 bytes; names of
	// C++ templates have a few thousand.
	MaxFrameText = 8 << 10

	// MaxIDBytes bounds the IDs of profiles, profiler sessions and threads. SDKs send UUIDs of at
	// most 36 bytes and numbers of at most 20 digits.
	MaxIDBytes = 64

	// MaxNameBytes bounds names: release, environment, SDK, the thread of a transaction. Sentry's
	// ingest rejects a release of more than 250 characters and an environment of more than 64.
	MaxNameBytes = 256
)

// Clip shortens a text to at most limit bytes.
func Clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-len("…")], "") + "…"
}

// ExportBound returns the output limit for a message of the given size.
func ExportBound(size int) int { return ExportGrowth*size + ExportOverhead }
