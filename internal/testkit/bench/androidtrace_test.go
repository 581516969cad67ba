// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace/arttracetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromandroid"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// androidBuffer is the buffer size for method traces in Sentry's SDK.
const androidBuffer = 3_000_000

// androidChunk returns a chunk with a recorded method trace, whose records are repeated until it has 3 MB.
func androidChunk(b *testing.B) []byte {
	root, err := payload.Root()
	must(err)
	file, err := os.Open(filepath.Join(root, "..", "shared", "corpus", "android", "art-trace-regular.trace.gz"))
	if os.IsNotExist(err) {
		b.Skip("no recordings: the corpus of Android traces is not beside the repository, in shared/corpus/android")
	}
	must(err)
	defer file.Close()
	unzip, err := gzip.NewReader(file)
	must(err)
	data, err := io.ReadAll(unzip)
	must(err)
	trace, err := arttrace.Parse(data)
	must(err)
	var once, events []arttrace.Event
	for e := range trace.Events() {
		once = append(once, e)
	}
	const recordBytes = 14
	for round := range (androidBuffer - len(data)) / (recordBytes * len(once)) {
		for _, e := range once {
			e.Wall += uint32(round) * uint32(trace.Elapsed.Microseconds())
			events = append(events, e)
		}
	}
	trace.Elapsed = time.Duration(events[len(events)-1].Wall) * time.Microsecond
	large := arttracetest.File(*trace, events)
	return []byte(`{"version":"2","platform":"android","timestamp":1777629600.5,"sampled_profile":"` + base64.RawStdEncoding.EncodeToString(large) + `"}`)
}

// BenchmarkAndroid compares decoding and translating an Android method trace, in base64, with decompressing its request.
func BenchmarkAndroid(b *testing.B) {
	chunk := androidChunk(b)
	zipped := payload.Zip(chunk)
	buffer := make([]byte, len(chunk))
	unzip := new(gzip.Reader)
	observations := 0
	b.Run("art-3MB", func(b *testing.B) {
		took := race(b, func() {
			must(unzip.Reset(bytes.NewReader(zipped)))
			_, err := io.ReadFull(unzip, buffer)
			must(err)
		}, func() {
			d := profile.AcquireDecoder()
			defer d.Release()
			c, err := d.Chunk(chunk)
			must(err)
			trace, err := fromandroid.MethodTrace(c.Android.MethodTrace, profile.NominalPeriod, attr.SpareObservations)
			must(err)
			out, _ := fromsentry.AndroidChunkToProfiles(c, trace, fromsentry.Source{PeriodType: "wall"})
			observations = out.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples().Len()
		})
		report(b, "translate÷gunzip", took[1], took[0])
	})
	b.Logf("%d bytes of JSON, %d gzipped, %d samples", len(chunk), len(zipped), observations)
}
