// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"encoding/base64"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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

// rivalRuns is how often one process of a rival does its work, to make its start-up negligible.
const rivalRuns = 20

// androidBuffer is the buffer size for method traces in Sentry's SDK.
const androidBuffer = 3_000_000

// androidChunk returns a chunk with a recorded method trace, whose records are repeated until it
// has 3 MB. Each repetition calls other methods, because the recording has only a few hundred
// stacks. It also leaves all methods at its end; otherwise stacks would grow with each repetition.
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
	var events []arttrace.Event
	once := closed(trace)
	const recordBytes = 14
	rounds := (androidBuffer - len(data)) / (recordBytes * len(once))
	methods := otherMethods(once, rounds)
	for round := range rounds {
		for _, e := range once {
			e.Wall += uint32(round) * uint32(trace.Elapsed.Microseconds())
			e.Method = methods[e.Method][round]
			events = append(events, e)
		}
	}
	trace.Elapsed = time.Duration(events[len(events)-1].Wall) * time.Microsecond
	large := arttracetest.File(*trace, events)
	return []byte(`{"version":"2","platform":"android","timestamp":1777629600.5,"sampled_profile":"` + base64.RawStdEncoding.EncodeToString(large) + `"}`)
}

// closed returns the records of a trace, followed by exits from the methods that are still open at
// its end.
func closed(trace *arttrace.Trace) (events []arttrace.Event) {
	stacks := map[uint16][]uint32{}
	for e := range trace.Events() {
		events = append(events, e)
		stack := stacks[e.Thread]
		if e.Action == arttrace.Enter {
			stack = append(stack, e.Method)
		} else if at := len(stack) - 1 - slices.Index(reversed(stack), e.Method); at < len(stack) {
			stack = stack[:at]
		}
		stacks[e.Thread] = stack
	}
	for _, thread := range slices.Sorted(maps.Keys(stacks)) {
		for _, method := range reversed(stacks[thread]) {
			events = append(events, arttrace.Event{Thread: thread, Method: method, Action: arttrace.Exit, Wall: uint32(trace.Elapsed.Microseconds())})
		}
	}
	return events
}

// otherMethods returns the replacement of each method in each round: the methods of the records,
// rotated.
func otherMethods(events []arttrace.Event, rounds int) (of map[uint32][]uint32) {
	of = map[uint32][]uint32{}
	for _, e := range events {
		of[e.Method] = nil
	}
	methods := slices.Sorted(maps.Keys(of))
	for i, method := range methods {
		for round := range rounds {
			of[method] = append(of[method], methods[(i+round)%len(methods)])
		}
	}
	return of
}

func reversed(stack []uint32) []uint32 {
	stack = slices.Clone(stack)
	slices.Reverse(stack)
	return stack
}

// BenchmarkAndroid compares decoding and translating an Android method trace, in base64, with
// decompressing its request. It also compares parsing and observing the trace with the parser of
// Sentry's ingest.
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
	b.Run("rec-3MB", func(b *testing.B) { raceAndroidTraceLog(b, chunk) })
	b.Logf("%d bytes of JSON, %d gzipped, %d samples", len(chunk), len(zipped), observations)
}

// raceAndroidTraceLog compares with the Rust crate android_trace_log.
func raceAndroidTraceLog(b *testing.B, chunk []byte) {
	d := profile.AcquireDecoder()
	defer d.Release()
	c, err := d.Chunk(chunk)
	must(err)
	took := race(b, rustRival(b, "androidtracelog", "parse", c.Android.MethodTrace), func() {
		for range rivalRuns {
			trace, err := arttrace.Parse(c.Android.MethodTrace)
			must(err)
			for range trace.Events() {
			}
		}
	}, func() {
		for range rivalRuns {
			trace, err := arttrace.Parse(c.Android.MethodTrace)
			must(err)
			_, err = trace.Observe(profile.NominalPeriod, attr.SpareObservations)
			must(err)
		}
	})
	report(b, "android_trace_log÷parse", took[0], took[1])
	report(b, "android_trace_log÷observe", took[0], took[2])
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
