// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
)

// recognized are begins of files, with members in the orders of several tools.
var recognized = map[string]string{
	`{"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":[]}`:                                                                      Speedscope,
	`{"profiles":[{"name":"resourceProfiles"}],"shared":{"frames":[{"name":"platform"}]},"$schema":"https://www.speedscope.app/file-format-schema.json"}`: Speedscope,
	`{"profiles":[],"shared":{"frames":[]}}`: Speedscope,
	`{"nodes":[{"id":1,"callFrame":{"functionName":"platform","url":"resourceProfiles"}}],"samples":[1],"timeDeltas":[0]}`: CPUProfile,
	`{"timeDeltas":[0],"samples":[1],"endTime":1,"nodes":[]}`:                                                              CPUProfile,
	`{"startTime":1,"nodes":[{"platform":"x","callFrame":{}}]}`:                                                            CPUProfile,
	`{"meta":{"platform":"Macintosh","preprocessedProfileVersion":70},"libs":[],"threads":[]}`:                             Firefox,
	`{"threads":[{"a":[{"callFrame":1}]}],"libs":[],"meta":{"preprocessedProfileVersion":24}}`:                             Firefox,
	`{"meta":{"version":29,"interval":1},"libs":[],"threads":[],"processes":[]}`:                                           Firefox, // Gecko's
	`{"resourceProfiles":[],"dictionary":{}}`:                                                                              OTLPJSON,
	`{"dictionary":{"stringTable":[""]},"resourceProfiles":[]}`:                                                            OTLPJSON,
	"{}\n" + `{"resourceSpans":[]}`:                                                                                        OTLPJSON,
	`{"resource_logs":[]}`:                                                                                                 OTLPJSON,
	`{"event_id":"9ec79c33ec9942ab8353589fcb2e04dc","dsn":"https://a@b/1"}` + "\n" + `{"type":"event"}` + "\n{}":           Sentry,
	"{}\n" + `{"length":2,"type":"profile_chunk"}` + "\n{}":                                                                Sentry,
	`{"sdk":{"name":"nodes"}}` + "\n" + `{"type":"profile","platform":"python"}` + "\n" + `{"nodes":[{"callFrame":{}}]}`:   Sentry,
	`{"message":"preprocessedProfileVersion callFrame","platform":"python"}`:                                               Sentry,
	"main;handle 3\n":                             Collapsed,
	"{main};foo.php 7\n":                          Collapsed,
	"[unknown];main 12.5\n":                       Collapsed,
	"# comment\r\n\r\n<module>;a b 6.\r\nc 1\r\n": Collapsed,
}

func TestRecognize(t *testing.T) {
	for file, want := range recognized {
		for way, packed := range inEveryWay(t, file) {
			loaded, err := Load(bytes.NewReader(packed), 1<<20)
			require.NoError(t, err, way)
			require.NoError(t, loaded.Cut, way)
			got, err := Recognize(loaded.Data)
			assert.NoError(t, err, "%s: %s", way, file)
			assert.Equal(t, want, got, "%s: %s", way, file)
		}
	}
}

// inEveryWay returns a file in the ways in which tools and shells write it.
func inEveryWay(t *testing.T, text string) map[string][]byte {
	var units []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		units = binary.LittleEndian.AppendUint16(units, unit)
	}
	plain := []byte(text)
	return map[string][]byte{
		"plain": plain, "after white space": append([]byte("\n\t "), plain...), "with a BOM": append([]byte("\ufeff"), plain...), "UTF-16": units,
		"gzip": zipped(t, plain), "zstd": zstandard(t, plain), "gzip, twice": zipped(t, zipped(t, plain)), "zstd of gzip": zstandard(t, zipped(t, plain)),
		"gzip of UTF-16": zipped(t, units),
	}
}

func zipped(t *testing.T, data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func zstandard(t *testing.T, data []byte) []byte {
	w, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	return w.EncodeAll(data, nil)
}

// others are begins of files in formats that are not supported, or unknown, with a text of the
// error.
var others = map[string]string{
	`{"head":{"callFrame":{"functionName":"(root)"},"selfSize":0,"children":[]},"samples":[]}`:                    "a heap profile of V8",
	`{"snapshot":{"meta":{"node_fields":["type"]}},"nodes":[1,2],"edges":[],"samples":[],"strings":["platform"]}`: "a heap snapshot of V8",
	`{"traceEvents":[{"ph":"P","args":{"data":{"cpuProfile":{"nodes":[{"callFrame":{}}]}}}}],"metadata":{}}`:      "a Chrome trace",
	`[{"pid":1,"ph":"X","name":"platform"},`:                                                                       "a Chrome trace",
	`{"version":1,"recording":{"displayName":"Timeline","records":[]},"overview":{}}`:                              "a timeline of Safari",
	`{"version":1.2,"mode":"cpu","interval":1000,"samples":1,"gc_samples":0,"missed_samples":0,"frames":{"1":{}}}`: "a profile of stackprof",
	`{"start_time":1,"duration":1,"sample_count":3,"root_frame":{"function":"a"}}`:                                 "a profile of pyinstrument",
	`{"start_time":1,"duration":1,"sample_count":3,"start_call_stack":["a"],"frame_records":[]}`:                   "a session of pyinstrument",
	`{"code":[{"name":"a","type":"CPP"}],"functions":[],"ticks":[{"tm":1,"vm":6,"s":[1]}]}`:                        "a preprocessed log of V8's profiler",
	`{"label":"","markers":[],"profile":{"libs":[],"threads":[]},"systemHost":{"name":"Firefox"}}`:                 "a recording of Firefox's old performance tool",
	`{"flamebearer":{"names":["total"]},"metadata":{}}`:                                                            "a profile of Pyroscope",
	`{"version":"2","profiler_id":"1","profile":{"frames":[],"stacks":[],"samples":[],"thread_metadata":{}}}`:      `without its envelope, which is not supported: put it on one line, after the lines {} and {"type":"profile_chunk"}`,
	`{"version":"1","platform":"python","profile":{"frames":[],"stacks":[],"samples":[],"thread_metadata":{}}}`:    `without its envelope, which is not supported: put it on one line, after the lines {} and {"type":"profile"}`,
	"FLR\x00\x00\x02":           "Java Flight Recorder",
	"PERFILE2\x00":              "perf.data",
	"\x04\x08{\x07:\x0cversion": "a dump of stackprof",
	"cksum 1234 [001] 123.456789:     250000 cycles:ppp:\n\tffffffff8105 native_write_msr+0x4 ([kernel.kallsyms])\n\n": "output of perf script",
	"goroutine 1 [running]:\nmain.main()\n\t/a/main.go:5 +0x1d\n":                                                      "a dump of goroutines",
	"goroutine profile: total 4\n1 @ 0x43e7b6\n#\t0x1\tmain.main+0x1\t/a.go:5\n":                                       "the legacy format of pprof",
	"heap profile: 13: 1595680 [1: 2] @ heap/1048576\n":                                                                "the legacy format of pprof",
	"--- mutex:\ncycles/second=1000\n":                                                                                 "the legacy format of pprof",
	"# callgrind format\nversion: 1\nevents: Ir\nfl=(1) a.c\nfn=(1) main\n1 20\n":                                      "a profile of callgrind",
	"version: 1\ncreator: xdebug 3.3.1 (PHP 8.2)\ncmd: a.php\npart: 1\n\nevents: Time_(10ns) Memory\nfl=(1) php\n":     "a profile of callgrind",
	"v8-version,11,3,244,8,-node.1,0\n":                                                                                "a log of V8's profiler",
	"Weight\tSelf Weight\t\tSymbol Name\n1.0 s  100.0%\t0 s\t \tmain (1)\n":                                            "a call tree of Instruments",
	"<?xml version=\"1.0\"?>\n<trace-query-result>\n":                                                                  "an XML export of Instruments",
	"<!DOCTYPE html>\n<title>flame graph</title>":                                                                      "a flame graph for display",
	"PK\x03\x04\x14\x00": "a zip archive",
	"2026-11-27\nFull thread dump OpenJDK 64-Bit Server VM:\n": "a thread dump of Java",
	"{)\x03\xfa\x01~": "Python's cProfile",

	"":                            "its format is unknown: it is empty",
	"{}":                          "its format is unknown: JSON without members",
	`{"a":1,"b":{"platform":1}}`:  `its format is unknown: JSON with ["a" "b"]`,
	`[1,2]`:                       `its format is unknown: text that begins with "[1,2]"`,
	"some prose\nand more 3\nx y": `its format is unknown: text that begins with "some prose"`,
	"\x00\x01":                    "its format is unknown: binary data that begin with 00 01",
	"\x89PNG\r\n\x1a\n":           "its format is unknown: binary data",
}

// TestOtherFormats: the error names the format that the file has, and how to convert it.
func TestOtherFormats(t *testing.T) {
	for file, want := range others {
		format, content, err := Read(File{Data: []byte(file)}, "", importer.Options{})
		assert.Empty(t, format)
		assert.Empty(t, content)
		assert.ErrorContains(t, err, want, "%q", file)
		if !IsUnknown(err) {
			assert.ErrorContains(t, err, "which is not supported: ")
		}
	}
}

// TestRecognitionIsBounded: the number of members does not matter, nor their depth.
func TestRecognitionIsBounded(t *testing.T) {
	wide := `{"a":1` + strings.Repeat(`,"b`+strings.Repeat("x", 100)+`":{}`, 10_000) + `}`
	values := membersOf([]byte(wide))
	assert.LessOrEqual(t, len(values[0].places), maxPlaces)
	deep := `{"a":` + strings.Repeat(`{"a":[`, 1<<20)
	assert.Len(t, membersOf([]byte(deep))[0].places, 2)
	deep += strings.Repeat("]}", 1<<20) + `,"resourceSpans":[]}`
	format, err := Recognize([]byte(deep))
	require.NoError(t, err)
	assert.Equal(t, OTLPJSON, format)
}
