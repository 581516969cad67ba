// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"bytes"
	"encoding/binary"
	"regexp"
)

// viaSpeedscope is the advice for formats that speedscope reads.
const viaSpeedscope = "open it at https://www.speedscope.app, export it there, and read the exported file"

const viaDeepCopy = "copy the call tree in Instruments (Edit > Deep Copy) into a file; " + viaSpeedscope

// magicFormats are formats that begin with a magic number.
var magicFormats = []format{
	{name: "a recording of Java Flight Recorder (JFR)", is: begins("FLR\x00"), advice: "convert it with async-profiler's jfrconv -o collapsed"},
	{name: "a recording of perf (perf.data)", is: begins("PERFILE2"), advice: "convert it with perf script | inferno-collapse-perf"},
	{name: "a trace of .NET (nettrace)", is: begins("Nettrace"), advice: "convert it with dotnet-trace convert --format Speedscope"},
	{name: "a dump of stackprof", is: begins("\x04\x08{"), advice: "record it with raw: true, and write it as JSON with stackprof --json; " + viaSpeedscope},
	{name: "a profile of Python's cProfile", is: begins("\xfb)\x03\xfa", "{)\x03\xfa", "{)\x03z", "{(\x03"),
		advice: "it has no stacks; record one with py-spy record --format speedscope"},
	{name: "a method trace of Android", is: begins("*version\n", "SLOW"), advice: "record one of Perfetto or simpleperf, and convert it to pprof"},
	{name: "a zip archive", is: begins("PK\x03\x04"), advice: "unpack it and read its files"},
	{name: "a tar archive", is: isTar, advice: "unpack it and read its files"},
	{name: "a bzip2 or xz archive", is: begins("BZh", "\xfd7zXZ\x00"), advice: "unpack it"},
	{name: "a property list of Apple", is: begins("bplist00"), advice: viaDeepCopy},
	{name: "a profile in the legacy format of pprof", is: isLegacyPprof, advice: "convert it with go tool pprof -proto PROGRAM FILE, which needs the program for the names"},
	{name: "a trace of Perfetto", is: isPerfetto, advice: "convert it with traceconv profile --perf, which writes a pprof file for each process"},
}

// jsonFormats are formats of JSON.
var jsonFormats = []format{
	{name: "a heap profile of V8 (.heapprofile)", is: has("head.callFrame"), advice: viaSpeedscope},
	{name: "a heap snapshot of V8", is: has("snapshot.meta"), advice: "it has no stacks of samples; record a .heapprofile (node --heap-prof); " + viaSpeedscope},
	{name: "a Chrome trace", is: has("traceEvents", "[].ph"), advice: viaSpeedscope},
	{name: "a timeline of Safari", is: has("recording.sampleStackTraces", "recording.markers", "recording.records", "recording.displayName"), advice: viaSpeedscope},
	{name: "a profile of stackprof", is: has("raw_timestamp_deltas", "missed_samples"), advice: "record it with raw: true; " + viaSpeedscope},
	{name: "a profile of pyinstrument", is: has("root_frame"), advice: "write it with pyinstrument --renderer speedscope"},
	{name: "a session of pyinstrument", is: has("start_call_stack"), advice: "convert it with pyinstrument --load FILE --renderer speedscope"},
	{name: "a preprocessed log of V8's profiler", is: has("ticks[].vm"), advice: viaSpeedscope},
	{name: "a recording of Firefox's old performance tool", is: has("systemHost"), advice: viaSpeedscope},
	{name: "a profile of Pyroscope", is: has("flamebearer"), advice: "export it from Pyroscope as pprof"},
	{name: "a profile of Sentry without its envelope", is: isBareChunk, advice: `put it on one line, after the lines {} and {"type":"profile_chunk"}`},
	{name: "a profile of Sentry without its envelope", is: isBareProfile, advice: `put it on one line, after the lines {} and {"type":"profile"}`},
}

// textFormats are formats of text.
var textFormats = []format{
	{name: "an XML export of Instruments", is: matches(`\A(<\?xml[^>]*>\s*)?<trace-(query-result|toc)`), advice: viaDeepCopy},
	{name: "a flame graph for display (SVG or HTML)", is: matches(`(?i)\A\s*<(\?xml|!doctype|svg|html)\b`), advice: "read the file that it was made from, such as collapsed stacks"},
	{name: "a dump of goroutines", is: matches(`(?m)^goroutine \d+ .*\[[^\]]+\]:$`), advice: "read one of Go's profiles, such as /debug/pprof/goroutine"},
	{name: "a thread dump of Java", is: matches(`(?m)^Full thread dump `), advice: "record a profile with async-profiler"},
	{name: "a profile of callgrind", is: matches(`(?m)^# callgrind format|^(events|creator): `), advice: viaSpeedscope},
	{name: "a log of V8's profiler", is: matches(`^v8-version,`), advice: "convert it with node --prof-process --preprocess; " + viaSpeedscope},
	{name: "output of perf script", is: matches(`(?m)^[^\s#].*\s\d+(/\d+)?\s+(\[\d+\]\s+)?\d+\.\d+:\s.*\n\s+[0-9a-f]+ `), advice: "convert it with inferno-collapse-perf or stackcollapse-perf.pl"},
	{name: "a call tree of Instruments", is: matches(`^(Weight|Running Time|Bytes Used|Sample Count)\s.*Symbol Name`), advice: viaSpeedscope},
}

func begins(magics ...string) func(*evidence) bool {
	return func(e *evidence) bool {
		for _, magic := range magics {
			if bytes.HasPrefix(e.data, []byte(magic)) {
				return true
			}
		}
		return false
	}
}

// has returns a function that reports whether JSON has one of the members, see members.
func has(paths ...string) func(*evidence) bool {
	return func(e *evidence) bool {
		for _, path := range paths {
			if e.has(path) {
				return true
			}
		}
		return false
	}
}

func matches(pattern string) func(*evidence) bool {
	compiled := regexp.MustCompile(pattern)
	return func(e *evidence) bool { return e.text && compiled.Match(e.begin) }
}

func isBareProfile(e *evidence) bool { return has("profile.samples", "profile.thread_metadata")(e) }

// isBareChunk distinguishes continuous profiles, which have a profiler, from those of transactions.
func isBareChunk(e *evidence) bool { return e.has("profiler_id") && isBareProfile(e) }

// isTar reports whether the first header has the magic number of a tar archive.
func isTar(e *evidence) bool {
	const offset = 257
	return len(e.data) > offset && bytes.HasPrefix(e.data[offset:], []byte("ustar"))
}

// isLegacyPprof fits the formats before profile.proto, see legacy_profile.go of google/pprof.
func isLegacyPprof(e *evidence) bool {
	if e.text {
		return legacyText.Match(e.begin)
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, size := range []int{4, 8} {
			if isLegacyHeader(e.data, order, size) {
				return true
			}
		}
	}
	return false
}

var legacyText = regexp.MustCompile(`\A(heap profile: |\S+ profile: total \d+|--- (contentionz|contention|mutex|threadz|Thread|heapz|heap)\b)`)

// isLegacyHeader reports whether a file begins with the five words of a legacy CPU profile: 0, 3,
// 0 or 1 (Java), the period, 0.
func isLegacyHeader(data []byte, order binary.ByteOrder, size int) bool {
	if len(data) < 5*size {
		return false
	}
	var words [5]uint64
	for i := range words {
		if words[i] = uint64(order.Uint32(data[i*size:])); size == 8 {
			words[i] = order.Uint64(data[i*size:])
		}
	}
	return words[0] == 0 && words[1] == 3 && words[2] <= 1 && words[3] > 0 && words[4] == 0
}
