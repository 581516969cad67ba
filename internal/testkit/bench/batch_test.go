// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"compress/gzip" // as in confighttp
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/producers"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// batches are messages of one batch: those of a profiler for a whole host, those of one program,
// and recorded chunks of all SDKs, which have little in common.
var batches = map[string]func(b *testing.B) []pprofile.Profiles{
	"ebpf": func(b *testing.B) []pprofile.Profiles { return producers.EBPFRecording(b) },
	"py": func(*testing.B) (messages []pprofile.Profiles) {
		const count = 50
		p := payload.Python(typical / count)
		for i := range uint64(count) {
			profiles := decodeAndMap(p)
			for _, s := range profiles.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples().All() {
				for j, at := range s.TimestampsUnixNano().All() {
					s.TimestampsUnixNano().SetAt(j, at+i*1e9)
				}
			}
			messages = append(messages, profiles)
		}
		return messages
	},
	"rec-mix": func(b *testing.B) (messages []pprofile.Profiles) {
		testsize.NeedFull(b)
		for _, request := range golden.Corpus(b) {
			envelope, err := sentry.ReadEnvelope(request.Decoded(b))
			if err != nil {
				continue
			}
			for _, item := range envelope.Items {
				if item.Header.Type == sentry.ItemProfileChunk && len(item.Payload) < 1<<20 {
					messages = append(messages, decodeAndMapJSON(false, item.Payload))
				}
			}
		}
		return messages
	},
}

// BenchmarkBatch compares joining messages and exporting the batch with exporting each message, as
// the exporter otlp_http does: marshalling and compression, without HTTP. The time for decoding
// OTLP, which both include, is subtracted. merge is pdata's function, which the batches of the
// collector's exporters use. The floor exports a known batch. "whole" is the CPU time of the built
// collector, from receiving to exporting over HTTP.
func BenchmarkBatch(b *testing.B) {
	backend, err := discard.Start()
	must(err)
	defer backend.Close()
	c, err := startBatching(backend)
	if err != nil {
		b.Skip(err)
	}
	defer c.stop()
	var sources []payload.Source
	for name := range batches {
		sources = append(sources, payload.Source{Name: name, Load: func() (payload.Payload, error) { return payload.Payload{Name: name}, nil }})
	}
	slices.SortFunc(sources, func(a, b payload.Source) int { return strings.Compare(a.Name, b.Name) })
	onEach(b, sources, func(b *testing.B, p payload.Payload) {
		b.Chdir(filepath.Join("..", "..", "..")) // the root of the repository, for recordings
		var encoded [][]byte
		for _, message := range batches[p.Name](b) {
			text, err := new(pprofile.ProtoMarshaler).MarshalProfiles(message)
			must(err)
			encoded = append(encoded, text)
		}
		read := func() (messages []pprofile.Profiles) {
			for _, text := range encoded {
				message, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(text)
				must(err)
				messages = append(messages, message)
			}
			return messages
		}
		joined := dictionary.Join(read())
		var size [2]float64
		contestants := []func(){func() { read() }}
		for _, c := range []compression{gzip.NewWriter(nil), zstandard()} {
			contestants = append(contestants,
				func() { size[0] = float64(export(read(), c)) },
				func() { size[1] = float64(export(dictionary.Join(read()), c)) },
				func() { export(merge(read()), c) },
				func() { read(); export(joined, c) },
			)
		}
		took := race(b, contestants...)
		for i, name := range compressions {
			net := func(i int) time.Duration { return max(1, took[i]-took[0]) } // short runs are within the resolution of the clock
			single := net(1 + 4*i)
			report(b, "batch÷single-"+name, net(2+4*i), single)
			report(b, "merge÷single-"+name, net(3+4*i), single)
			report(b, "floor÷single-"+name, net(4+4*i), single)
		}
		report(b, "batch-bytes÷single", size[1], size[0])
		whole := c.sendBatches(encoded)
		for i, name := range compressions {
			report(b, "whole÷single-"+name, whole[2*i+1], whole[2*i])
		}
	})
}

// merge joins messages as the batches of exporterhelper do.
func merge(messages []pprofile.Profiles) []pprofile.Profiles {
	for _, m := range messages[1:] {
		must(m.MergeTo(messages[0]))
	}
	return messages[:1]
}

// zstandard compresses at the level that confighttp uses by default.
func zstandard() compression {
	writer, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	must(err)
	return writer
}

// export marshals and compresses messages, and returns the total size.
func export(messages []pprofile.Profiles, c compression) int {
	var out bytes.Buffer
	for _, m := range messages {
		encoded, err := new(pprofile.ProtoMarshaler).MarshalProfiles(m)
		must(err)
		c.Reset(&out)
		_, err = c.Write(encoded)
		must(err)
		must(c.Close())
	}
	return out.Len()
}
