// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
)

// rivalRuns is how often one process of a rival does its work, to make its start-up negligible.
const rivalRuns = 20

// BenchmarkDecode compares decoding, without translation, with a decoder in Rust, and with checking
// the JSON alone. BenchmarkGzip
// also decompresses and translates, and compares with the fastest inflate: a floor that improves
// only if processors do.
func BenchmarkDecode(b *testing.B) {
	onEach(b, slices.Concat(payload.Typical(typical), payload.Extreme(typical)[1:], recorded), func(b *testing.B, p payload.Payload) {
		if p.V1 {
			b.Skip("chunks only")
		}
		rust := rustRival(b, "sentryserde", "decode", p.JSON)
		took := race(b, rust, func() {
			for range rivalRuns {
				d := profile.AcquireDecoder()
				_, err := d.Chunk(p.JSON)
				must(err)
				d.Release()
			}
		}, func() {
			for range rivalRuns {
				checkJSON(p.JSON)
			}
		})
		report(b, "serde-two-pass÷own", took[0], took[1])
		report(b, "check÷own", took[2], took[1])
	})
}

// BenchmarkGzip compares decompressing, decoding and translating with decompressing alone, by
// libdeflate. Both decompress into existing memory.
func BenchmarkGzip(b *testing.B) {
	onEach(b, slices.Concat(payload.Typical(typical), recorded), func(b *testing.B, p payload.Payload) {
		zipped := payload.Zip(p.JSON)
		buffer := make([]byte, len(p.JSON))
		unzip := new(gzip.Reader)
		floor := rustRival(b, "sentryserde", "inflate", zipped)
		took := race(b, floor, func() {
			for range rivalRuns {
				must(unzip.Reset(bytes.NewReader(zipped)))
				_, err := io.ReadFull(unzip, buffer)
				must(err)
				decodeAndMapJSON(p.V1, buffer)
			}
		})
		report(b, "whole÷inflate", took[1], took[0])
	})
}

// rustRival returns a function that lets a Rust program do its work rivalRuns times. `make bench`
// builds the programs.
func rustRival(b *testing.B, program, command string, input []byte) func() {
	binary, err := filepath.Abs(filepath.Join("rival", program, "target", "release", program))
	must(err)
	if _, err := os.Stat(binary); err != nil {
		b.Skip("no Rust program: make bench builds it where cargo is installed")
	}
	file := filepath.Join(b.TempDir(), "input")
	must(os.WriteFile(file, input, 0o600))
	return func() { must(exec.Command(binary, command, file, strconv.Itoa(rivalRuns)).Run()) }
}
