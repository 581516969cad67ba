// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"slices"
	"testing"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/rival"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// BenchmarkExport compares the translation from an OTLP message to the JSON of a chunk with structs
// that encoding/json marshals. The floor only reads the frames of the message, and writes the
// chunk, which is known, into a buffer of its size.
func BenchmarkExport(b *testing.B) {
	onEach(b, slices.Concat(payload.Typical(typical), payload.Extreme(typical), recorded), func(b *testing.B, p payload.Payload) {
		if p.V1 {
			b.Skip("chunks only")
		}
		profiles := decodeAndMap(p)
		known := exportChunk(profiles)
		chunk, err := new(profile.Decoder).Chunk(known)
		must(err)
		took := race(b, func() { exportChunk(profiles) }, func() {
			_, err := rival.MarshalChunk(profiles)
			must(err)
		}, func() {
			readFrames(profiles)
			profile.AppendChunk(make([]byte, 0, len(known)), chunk, len(known))
		})
		report(b, "structs÷own", took[1], took[0])
		report(b, "floor÷own", took[2], took[0])
	})
}

var exportOptions = tosentry.ExportOptions{SDK: sentry.ClientSDK{Name: "otelcol-sentry", Version: "0"}}

// exportChunk translates a message to a chunk with the product's code.
func exportChunk(profiles pprofile.Profiles) []byte {
	out := tosentry.ProfilesToChunks(profiles, exportOptions)
	return out.Items[0].Payload
}

// readFrames reads each sample and the frames of each stack once, and returns the length of their
// names.
func readFrames(p pprofile.Profiles) (length int) {
	d := p.Dictionary()
	for _, stack := range d.StackTable().All() {
		for _, index := range stack.LocationIndices().All() {
			for _, line := range d.LocationTable().At(int(index)).Lines().All() {
				function := d.FunctionTable().At(int(line.FunctionIndex()))
				length += len(d.StringTable().At(int(function.NameStrindex()))) + len(d.StringTable().At(int(function.FilenameStrindex())))
			}
		}
	}
	for _, sample := range samplesOf(p).All() {
		length += int(sample.StackIndex())
		for _, at := range sample.TimestampsUnixNano().All() {
			length += int(at)
		}
	}
	return length
}
