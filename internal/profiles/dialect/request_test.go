// SPDX-License-Identifier: Apache-2.0

package dialect_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dialect"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/otlpsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

func read(t testing.TB, path ...string) []byte {
	t.Helper()
	encoded, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return encoded
}

func parse(t testing.TB, encoded []byte) pprofile.Profiles {
	t.Helper()
	p, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(encoded)
	require.NoError(t, err)
	return p
}

func encode(t testing.TB, p pprofile.Profiles) []byte {
	t.Helper()
	encoded, err := new(pprofile.ProtoMarshaler).MarshalProfiles(p)
	require.NoError(t, err)
	return encoded
}

// of1_7 makes the messages of testdata/make1_7.py in the current dialect: one profile for each
// type.
func of1_7(types [][2]string, samples ...[]sample) pprofile.Profiles {
	p := pprofile.NewProfiles()
	e := dictionary.NewEditor(p.Dictionary())
	e.Attribute("thread.name", pcommon.NewValueStr("main"))
	size := e.Attribute("size", pcommon.NewValueInt(12))
	p.Dictionary().AttributeTable().At(int(size)).SetUnitStrindex(int32(e.String("By")))
	app := p.Dictionary().MappingTable().AppendEmpty()
	app.SetMemoryStart(4096)
	app.SetMemoryLimit(8192)
	app.SetFilenameStrindex(int32(e.String("app")))
	main := e.Location(dictionary.Location{Mapping: 1, Address: 5000, Attributes: []dictionary.AttributeIndex{size},
		Lines: []dictionary.Line{{Function: e.Function(dictionary.Function{Name: e.String("main")}), Line: 3}}})
	query := e.Location(dictionary.Location{Lines: []dictionary.Line{{Function: e.Function(dictionary.Function{Name: e.String("query")})}}})
	e.Stack([]dictionary.LocationIndex{main})
	e.Stack([]dictionary.LocationIndex{query, main})
	link := p.Dictionary().LinkTable().AppendEmpty()
	link.SetTraceID(pcommon.TraceID{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
	link.SetSpanID(pcommon.SpanID{1, 1, 1, 1, 1, 1, 1, 1})
	resource := p.ResourceProfiles().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "shop")
	scope := resource.ScopeProfiles().AppendEmpty()
	scope.Scope().SetName("old-profiler")
	scope.Scope().SetVersion("0.7")
	for i, of := range types {
		profile := scope.Profiles().AppendEmpty()
		dictionary.SetValueType(profile.SampleType(), e.String(of[0]), e.String(of[1]))
		dictionary.SetValueType(profile.PeriodType(), e.String("cpu"), e.String("nanoseconds"))
		profile.SetTime(start)
		profile.SetDurationNano(1_000_000_000)
		profile.SetPeriod(10_000_000)
		profile.AttributeIndices().Append(int32(size))
		if i == 0 {
			profile.SetProfileID(pprofile.ProfileID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
			profile.SetOriginalPayloadFormat("jfr")
			profile.OriginalPayload().Append('x')
		}
		addSamples(profile, samples[i]...)
	}
	return p
}

var count = [][2]string{{"samples", "count"}}

// A request of each older version equals the same profile in today's dialect.
func TestDecode(t *testing.T) {
	of1_8 := today(0, sample{stack: 1, times: []uint64{start, start + 5}}, sample{stack: 2, times: []uint64{start + 7}})
	profile := dictionarytest.FirstProfile(of1_8)
	profile.SetProfileID(pprofile.ProfileID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
	profile.SetOriginalPayloadFormat("jfr")
	profile.OriginalPayload().Append('x')
	profile.AttributeIndices().Append(1)

	for _, c := range []struct {
		path string
		from dialect.Version
		want pprofile.Profiles
	}{
		{"otlp-1.9/totals.pb", dialect.V1_9, today(0, sample{stack: 1, values: []int64{70}}, sample{stack: 2, values: []int64{3}})},
		{"otlp-1.9/linked.pb", dialect.V1_9, today(2, sample{stack: 1, link: 1, values: []int64{70}}, sample{stack: 2, link: 2, values: []int64{3}})},
		{"otlp-1.9/points.pb", dialect.V1_9, today(1, sample{stack: 1, values: []int64{70, 80}, times: []uint64{start, start + 5}},
			sample{stack: 2, link: 1, values: []int64{3}, times: []uint64{start + 7}})},
		{"otlp-1.9/timestamps.pb", dialect.V1_10, today(0, sample{stack: 1, times: []uint64{start, start + 5}}, sample{stack: 2, times: []uint64{start + 7}})},
		{"otlp-1.9/attributes.pb", dialect.V1_9, today(0, sample{stack: 1, attributes: []int32{1}, values: []int64{70}}, sample{stack: 2, attributes: []int32{2}, values: []int64{3}})},
		{"otlp-1.9/large.pb", dialect.V1_9, today(0, sample{stack: 1, values: []int64{3_000_000_000}})},
		{"otlp-1.8/attributes.pb", dialect.V1_8, today(0, sample{stack: 1, attributes: []int32{1}, values: []int64{70}}, sample{stack: 2, attributes: []int32{2}, values: []int64{3}})},
		{"otlp-1.8/timestamps.pb", dialect.V1_8, of1_8},
		{"otlp-1.7/totals.pb", dialect.V1_7, of1_7(count, []sample{{stack: 2, attributes: []int32{1}, link: 1, values: []int64{70}}, {stack: 1, values: []int64{3}}})},
		{"otlp-1.7/types.pb", dialect.V1_7, of1_7([][2]string{{"samples", "count"}, {"cpu", "nanoseconds"}},
			[]sample{{stack: 2, attributes: []int32{1}, values: []int64{7}}, {stack: 1, values: []int64{1}}},
			[]sample{{stack: 2, attributes: []int32{1}, values: []int64{70_000_000}}, {stack: 1, values: []int64{3_000_000_000}}})},
		{"otlp-1.7/times.pb", dialect.V1_7, of1_7(count, []sample{{stack: 2, times: []uint64{start, start + 5}}, {stack: 1, times: []uint64{start + 7}}})},
		{"otlp-1.7/points.pb", dialect.V1_7, of1_7(count, []sample{{stack: 2, values: []int64{70, 80}, times: []uint64{start, start + 5}}, {stack: 1, values: []int64{3}, times: []uint64{start + 7}}})},
	} {
		t.Run(c.path, func(t *testing.T) {
			request := read(t, "testdata", c.path)
			before := string(request)
			current, from, err := dialect.Decode(request)
			require.NoError(t, err)
			require.Equal(t, c.from, from)
			require.Equal(t, before, string(request), "the request belongs to the caller")
			require.Equal(t, dictionarytest.Dump(c.want), dictionarytest.Dump(parse(t, current)))
			again, from, err := dialect.Decode(current)
			require.NoError(t, err)
			require.Equal(t, dialect.V1_10, from)
			require.Equal(t, string(current), string(again))
		})
	}
}

// Messages that have no meaning in the current dialect are rejected with one line.
func TestDecodeRejects(t *testing.T) {
	says := func(err error, facts ...string) {
		for _, fact := range append(facts, "update the producer") {
			require.ErrorContains(t, err, fact)
		}
		require.NotContains(t, err.Error(), "\n")
	}
	for path, reason := range map[string]string{
		"otlp-1.7/ambiguous.pb": "1 values and 2 times for 1 sample types",
		"otlp-1.7/outside.pb":   "2 locations from 3, of 4",
	} {
		_, _, err := dialect.Decode(read(t, "testdata", path))
		says(err, "old-profiler 0.7", "OTLP 1.7", reason)
	}
	tables := append(read(t, "testdata", "otlp-1.9", "totals.pb"), 0x1a, 0) // OTLP 1.6: tables in the request
	_, _, err := dialect.Decode(tables)
	says(err, "old-profiler 0.9", "OTLP 1.6")
}

// Recordings of one program by versions of async-profiler that have different dialects.
func TestDecodeAsyncProfiler(t *testing.T) {
	for version, want := range map[string]dialect.Version{"4.1": dialect.V1_7, "4.3": dialect.V1_9, "4.4": dialect.V1_9, "4.5": dialect.V1_10} {
		current, from, err := dialect.Decode(read(t, golden.Root(t), "testdata", "otlp", "async-profiler", version+"-itimer.pb"))
		require.NoError(t, err)
		require.Equal(t, want, from)
		p := parse(t, current)
		dictionary.Compact(p) // async-profiler writes equal stacks twice
		require.Empty(t, conformance.Check(p))
		require.Contains(t, dictionarytest.Dump(p), "Work.checkout")
	}
}

// The collector's library of OTLP 1.9 reads an encoded request as the same profile;
// testdata/pdata1_9 wrote what it read. Decode is the inverse.
func TestEncode(t *testing.T) {
	cases := map[string]pprofile.Profiles{
		"attributes": today(2, sample{stack: 1, link: 1, attributes: []int32{1}, values: []int64{70}}, sample{stack: 2, link: 2, attributes: []int32{1, 2}, values: []int64{3_000_000_000}}),
		"points":     today(0, sample{stack: 1, attributes: []int32{2}, values: []int64{70, 80}, times: []uint64{start, start + 5}}),
		"timestamps": today(0, sample{stack: 1, attributes: []int32{2}, times: []uint64{start, start + 5}}),
		"resource":   today(0, sample{stack: 1, values: []int64{70}}),
	}
	attributes := cases["resource"].ResourceProfiles().At(0).Resource().Attributes()
	attributes.PutEmptyMap("deep").PutEmptySlice("list").AppendEmpty().SetStr("value of a list")
	attributes.PutInt("shard", 3)
	attributes.PutStr("empty", "")
	cases["resource"].ResourceProfiles().At(0).ScopeProfiles().At(0).Scope().Attributes().PutStr("scope", "text")
	for name, p := range cases {
		t.Run(name, func(t *testing.T) {
			request := encode(t, p)
			want := dictionarytest.Dump(parse(t, request))
			encoded, err := dialect.Encode(request, dialect.V1_9, false)
			require.NoError(t, err)
			path := filepath.Join("testdata", "encoded", name+".pb")
			if os.Getenv("UPDATE") != "" { // then run testdata/pdata1_9
				require.NoError(t, os.WriteFile(path, encoded, 0o644))
			}
			require.Equal(t, read(t, path), encoded)
			judged, err := new(pprofile.JSONUnmarshaler).UnmarshalProfiles(read(t, "testdata", "encoded", name+".json"))
			require.NoError(t, err)
			require.Equal(t, want, dictionarytest.Dump(judged))

			current, from, err := dialect.Decode(encoded)
			require.NoError(t, err)
			if name != "timestamps" {
				require.Equal(t, dialect.V1_9, from)
			}
			require.Equal(t, want, dictionarytest.Dump(parse(t, current)))

			inline, err := dialect.Encode(request, dialect.V1_10, true)
			require.NoError(t, err)
			require.Equal(t, want, dictionarytest.Dump(parse(t, inline)))
			require.Contains(t, string(inline), "\x0a\x0cservice.name\x12\x06\x0a\x04shop", "key and value are text")
			same, err := dialect.Encode(request, dialect.V1_10, false)
			require.NoError(t, err)
			require.Equal(t, request, same)
		})
	}
}

// One long value × many references: the result is bounded by the request.
func TestBounded(t *testing.T) {
	p := today(0, sample{stack: 1, values: []int64{70}})
	long := string(make([]byte, 1<<20))
	for i := range 1000 {
		p.ResourceProfiles().At(0).Resource().Attributes().PutStr(fmt.Sprint(i), long)
	}
	_, err := dialect.Encode(encode(t, p), dialect.V1_9, false)
	require.ErrorContains(t, err, "too large")

	closest := 0.0
	for n := 400; ; n += n / 16 {
		request := manyRanges(n)
		current, _, err := dialect.Decode(request)
		if err != nil {
			require.ErrorContains(t, err, "too large")
			break
		}
		require.LessOrEqual(t, len(current), 4*len(request)+1<<20)
		closest = max(closest, float64(len(current))/float64(4*len(request)+1<<20))
	}
	t.Logf("%.2f of the bound", closest)
	require.Greater(t, closest, 0.8)

	stacks := manyRanges(20_000)
	_, _, err = dialect.Decode(stacks)
	require.ErrorContains(t, err, "too large")
	require.Less(t, testing.AllocsPerRun(1, func() { _, _, _ = dialect.Decode(stacks) }), 1e6)
}

// TestDecodeWithin: the memory of a translation, and of its result in the receiver, is reserved. A
// few bytes of OTLP 1.7 with many sample types become many samples.
func TestDecodeWithin(t *testing.T) {
	const types, samples = 16, 1000
	appendBytes := func(b []byte, number protowire.Number, value []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), value)
	}
	var profile []byte
	for range types {
		profile = appendBytes(profile, 1, []byte{1 << 3, 1, 2 << 3, 2})
	}
	for range samples {
		profile = appendBytes(profile, 2, appendBytes([]byte{1 << 3, 0, 2 << 3, 1}, 3, make([]byte, types)))
	}
	profile = appendBytes(profile, 3, []byte{0, 0})
	request := appendBytes(nil, 1, appendBytes(nil, 2, appendBytes(nil, 2, profile)))
	tables := appendBytes(nil, 2, []byte{2 << 3, 1})
	for _, text := range []string{"", "cpu", "ns"} {
		tables = appendBytes(tables, 5, []byte(text))
	}
	request = appendBytes(request, 2, tables)

	reserved := 0
	current, from, err := dialect.DecodeWithin(request, func(bytes int) error { reserved += bytes; return nil })
	require.NoError(t, err)
	require.Equal(t, dialect.V1_7, from)
	memory, err := otlpsize.Profiles.Estimate(current, math.MaxInt)
	require.NoError(t, err)
	require.Greater(t, memory, types*samples*90)
	require.Greater(t, reserved, memory)
	none := errors.New("no memory")
	for _, limit := range []int{0, memory} { // of the translation, and of the result
		left := limit
		_, _, err = dialect.DecodeWithin(request, func(bytes int) error {
			if left -= bytes; left < 0 {
				return none
			}
			return nil
		})
		require.ErrorIs(t, err, none)
	}
	require.Less(t, testing.AllocsPerRun(1, func() {
		_, _, _ = dialect.DecodeWithin(request, func(int) error { return none })
	}), 100.0)
}

// manyRanges is a request of OTLP 1.7 with a list of n locations and n samples with long ranges of
// it.
func manyRanges(n int) []byte {
	var profile, samples []byte
	for i := range n {
		sample := protowire.AppendVarint([]byte{1 << 3}, uint64(i))
		sample = protowire.AppendVarint(append(sample, 2<<3), uint64(n-i))
		samples = protowire.AppendBytes(append(samples, 2<<3|2), append(sample, 3<<3|2, 1, 1))
	}
	profile = append([]byte{1<<3 | 2, 4, 8, 1, 16, 2}, samples...)
	profile = protowire.AppendBytes(append(profile, 3<<3|2), make([]byte, n))
	scope := protowire.AppendBytes([]byte{2<<3 | 2}, profile)
	resource := protowire.AppendBytes([]byte{2<<3 | 2}, scope)
	return protowire.AppendBytes([]byte{1<<3 | 2}, resource)
}

func FuzzDecode(f *testing.F) {
	for _, pattern := range []string{"otlp-*/*.pb", "encoded/*.pb"} {
		paths, err := filepath.Glob(filepath.Join("testdata", pattern))
		require.NoError(f, err)
		for _, path := range paths {
			f.Add(read(f, path))
		}
	}
	f.Fuzz(func(t *testing.T, request []byte) {
		before := string(request)
		current, from, err := dialect.Decode(request)
		require.Equal(t, before, string(request))
		if err == nil {
			require.LessOrEqual(t, len(current), 4*len(request)+1<<20)
			if from != dialect.V1_10 {
				parse(t, current)
			}
		}
		_, _ = dialect.Encode(request, dialect.V1_9, true)
		require.Equal(t, before, string(request))
	})
}
