// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/allowance"
)

// The output is bounded by the input: the messages of an item from Sentry have at most MaxGrowth
// marshalled bytes per byte of its payload, plus MaxOverhead bytes for resource, scope and
// attribute keys. A text that occurs once in a payload or envelope, and is copied to each span,
// data point or item, is therefore clipped to one of the limits below. Clipped texts end in "…".
const (
	// MaxGrowth is large enough for data points of V1 profiles: 12 bytes of JSON become two times,
	// a value and the profile ID.
	MaxGrowth = 16

	// MaxOverhead is the sum of the texts of a resource, most of which occur twice.
	MaxOverhead = 8 << 10

	// SpareObservations bounds the observations of all Android traces in one request, in addition
	// to one per byte: a few bytes of a trace can state that a thread did nothing for a minute,
	// which becomes 6,000 observations of 8 bytes. An idle app has 80 threads.
	SpareObservations = 1 << 18

	// ExportGrowth and ExportOverhead bound the output for Sentry in the same way, by the size of
	// the marshalled OTLP message. Sentry's JSON needs 70 bytes for a sample, whose OTLP timestamp
	// has 8 bytes, and frames repeat texts that the dictionary stores once. A transaction needs a
	// kilobyte for an empty span of fifty bytes, so this limit never drops spans, only copies of
	// their resource.
	ExportGrowth   = 32
	ExportOverhead = 4 << 20

	// MaxExport bounds the output for the profiles of one message. It is the default size of a
	// queue.
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

// Copies returns the number of bytes of a message that its output may repeat, such as resource
// attributes on each span: half of the limit. size returns the size of the message.
func Copies(size func() int) allowance.Allowance {
	return allowance.Lazily(ExportOverhead/2, ExportGrowth/2, size)
}
