// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// randomProfiles returns a message as any profiler might send it: all three shapes of samples,
// inlined calls, mappings with and without IDs, and randomly missing optional fields. Values have
// small ranges, so that duplicates occur.
func randomProfiles(r *rand.Rand) pprofile.Profiles {
	out := pprofile.NewProfiles()
	b := dictionary.NewBuilder(out.Dictionary())
	defer b.Release()
	for range 1 + r.IntN(2) {
		resource := out.ResourceProfiles().AppendEmpty()
		maybe(r, func() { resource.Resource().Attributes().PutStr("service.name", "shop") })
		maybe(r, func() { resource.Resource().Attributes().PutStr("service.version", "1.2") })
		maybe(r, func() {
			resource.Resource().Attributes().PutStr("telemetry.sdk.language", pick(r, "go", "java", "webjs", "nodejs", "klingon"))
		})
		scope := resource.ScopeProfiles().AppendEmpty()
		maybe(r, func() { scope.Scope().SetName("profiler") })
		for range 1 + r.IntN(3) {
			randomProfile(r, b, scope.Profiles().AppendEmpty())
		}
	}
	b.Finish()
	return out
}

func maybe(r *rand.Rand, do func()) {
	if r.IntN(3) > 0 {
		do()
	}
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

const someTime = 1_777_629_600_000_000_000

func randomProfile(r *rand.Rand, b *dictionary.Builder, p pprofile.Profile) {
	types := pick(r, [2]string{"samples", "count"}, [2]string{"samples", "count"}, [2]string{"cpu", "nanoseconds"}, [2]string{"wall", "ms"},
		[2]string{"alloc_space", "bytes"}, [2]string{"delay", "nanoseconds"})
	dictionary.SetValueType(p.SampleType(), b.String(types[0]), b.String(types[1]))
	maybe(r, func() {
		dictionary.SetValueType(p.PeriodType(), b.String(pick(r, "cpu", "wall", "space")), b.String(pick(r, "nanoseconds", "ms", "bytes")))
		p.SetPeriod(pick[int64](r, 0, -1, 10_000_000, 50, math.MaxInt64))
	})
	maybe(r, func() { p.SetTime(someTime) })
	maybe(r, func() { p.SetDurationNano(pick[uint64](r, 1, 10_000_000_000, 200_000_000_000)) })
	maybe(r, func() { p.SetProfileID(pprofile.ProfileID{1, byte(r.IntN(4))}) })
	shape := r.IntN(3)
	for range r.IntN(12) {
		sample := p.Samples().AppendEmpty()
		var stack []dictionary.LocationIndex
		for range r.IntN(5) {
			stack = append(stack, randomLocation(r, b))
		}
		sample.SetStackIndex(int32(b.Stack(stack)))
		var attributes []dictionary.AttributeIndex
		maybe(r, func() { attributes = append(attributes, b.AttrInt("thread.id", int64(r.IntN(3)))) })
		maybe(r, func() { attributes = append(attributes, b.AttrString("thread.name", pick(r, "main", "worker"))) })
		dictionary.SetAttributes(sample.AttributeIndices(), attributes...)
		if shape == 0 {
			sample.Values().Append(pick[int64](r, 0, 1, 3, 25_000_000, math.MaxInt64))
			continue
		}
		for range 1 + r.IntN(6) {
			sample.TimestampsUnixNano().Append(someTime + uint64(r.IntN(1000))*pick[uint64](r, 1, 1_000_000, 150_000_000))
			if shape == 2 {
				sample.Values().Append(pick[int64](r, 0, 1, 30_000_000, math.MaxInt64))
			}
		}
	}
}

func randomLocation(r *rand.Rand, b *dictionary.Builder) dictionary.LocationIndex {
	var l dictionary.Location
	maybe(r, func() {
		var ids []dictionary.AttributeIndex
		maybe(r, func() {
			ids = append(ids, b.AttrString("process.executable.build_id.gnu", pick(r, "f1c3bcc0279865fe3058404b2831d9e64135386c", "not hex", "ab")))
		})
		maybe(r, func() {
			ids = append(ids, b.AttrString("sentry.debug_id", pick(r, "c0bcc3f1-9827-fe65-3058-404b2831d9e6", "x")))
		})
		l.Mapping = b.Mapping(dictionary.Mapping{
			Start: 0x400000, Limit: 0x500000, FileOffset: pick[uint64](r, 0, 0x1000, math.MaxUint64),
			Filename: b.String(pick(r, "/usr/lib/libc.so.6", "/app/server", "")), Attributes: ids,
		})
		l.Address = 0x400000 + uint64(r.IntN(3))*0x1000
	})
	for range r.IntN(4) {
		l.Lines = append(l.Lines, dictionary.Line{
			Function: b.Function(dictionary.Function{Name: b.String(pick(r, "", "net/http.(*Server).Serve", "a\x00\"b")), Filename: b.String(pick(r, "", "/src/a.go", "rel.py"))}),
			Line:     pick[int64](r, 0, 1, math.MaxUint32, math.MaxUint32+1), Column: int64(r.IntN(2)),
		})
	}
	maybe(r, func() {
		l.Attributes = append(l.Attributes, b.AttrString("profile.frame.type", pick(r, "go", "kernel", "native", "jvm", "v8js", "odd")))
	})
	return b.Location(l)
}

// checkExport checks that ingest accepts the output of a message, that losses have a reason, that
// the result is deterministic, and that the message stays unchanged.
func checkExport(t testing.TB, profiles pprofile.Profiles, o ExportOptions) Export {
	t.Helper()
	before, after := pprofile.NewProfiles(), pprofile.NewProfiles()
	profiles.CopyTo(before)
	out := ProfilesToChunks(profiles, o)
	profiles.CopyTo(after)
	require.Equal(t, before, after, "the message was changed")
	require.Equal(t, out, ProfilesToChunks(profiles, o), "not the same again")
	ids := map[string]string{}
	for i := range out.Items {
		if i < 20 || i == len(out.Items)-1 { // a hostile profile may last a day, with a similar chunk for each minute
			checkIngest(t, "", &out.Items[i].Item)
		}
		require.LessOrEqual(t, len(out.Items[i].Payload), limitOf(o))
		id := chunkIDOf(t, out.Items[i].Payload)
		require.Empty(t, ids[id], "one id for two chunks")
		ids[id] = id
	}
	for _, loss := range out.Lost {
		require.NotEmpty(t, loss.Reason)
		require.Positive(t, loss.Count)
	}
	return out
}

func limitOf(o ExportOptions) int {
	if o.MaxItemBytes > 0 {
		return o.MaxItemBytes
	}
	return 45 << 20
}

// isBounded reports whether data was dropped because of the size of the export.
func isBounded(e Export) bool {
	return slices.ContainsFunc(e.Lost, func(l discard.Loss) bool { return l.Reason == discard.ReasonExceedSizeLimit })
}

// TestAnyProfiles exports messages as created by a profiler, and as received by the otlp receiver
// from a sender that stores texts in the dictionary.
func TestAnyProfiles(t *testing.T) {
	t.Parallel()
	accepted, bounded, lost := 0, 0, map[string]int{}
	seeds := uint64(150)
	if !testsize.Full() {
		seeds = 20
	}
	for seed := range seeds {
		profiles := randomProfiles(rand.New(rand.NewPCG(seed, 1)))
		o := exportOptions
		if seed%10 == 0 {
			o.MaxItemBytes = 1500 // small enough to split
		}
		out := checkExport(t, profiles, o)
		accepted += len(out.Items)
		for _, loss := range out.Lost {
			lost[string(loss.Reason)] += loss.Count
		}
		if seed%5 == 0 {
			require.NoError(t, dictionarytest.CheckWire(profiles))
			arrived := throughWire(t, profiles)
			again := ProfilesToChunks(arrived, o)
			if isBounded(out) { // by the size of the message, which depends on texts in the dictionary
				bounded++
				out, again = again, ProfilesToChunks(throughWire(t, arrived), o)
			}
			require.True(t, reflect.DeepEqual(out, again), "seed %d: another export", seed)
		}
	}
	t.Log(accepted, lost)
	require.Greater(t, accepted, 2*int(seeds))
	require.LessOrEqual(t, bounded, int(seeds)/10, "exports of seeds with small items at most")
	for _, reason := range []string{"sample_type_not_time", "profile_without_time", "profiling_not_enough_samples", "profiling_exceed_size_limit"} {
		require.Positive(t, lost[reason], reason)
	}
}

// throughWire marshals a mutable message, which moves the texts of its resources into the
// dictionary, and unmarshals it.
func throughWire(t testing.TB, profiles pprofile.Profiles) pprofile.Profiles {
	mutable := pprofile.NewProfiles()
	profiles.CopyTo(mutable)
	encoded, err := new(pprofile.ProtoMarshaler).MarshalProfiles(mutable)
	require.NoError(t, err)
	decoded, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(encoded)
	require.NoError(t, err)
	return decoded
}

// TestHostileDictionaries breaks references everywhere, and removes entries from the tables, zero
// entries first.
func TestHostileDictionaries(t *testing.T) {
	t.Parallel()
	lost, flaws := map[string]int{}, map[string]int{}
	seeds := uint64(150)
	if !testsize.Full() {
		seeds = 20
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 2))
		profiles := randomProfiles(r)
		breakReferences(r, profiles)
		out := checkExport(t, profiles, exportOptions)
		for _, loss := range out.Lost {
			lost[string(loss.Reason)] += loss.Count
		}
		for _, flaw := range out.Flaws {
			flaws[flaw.Field] += flaw.Count
		}
	}
	t.Log(lost, flaws)
	require.Positive(t, lost["profiling_malformed_samples"])
	require.Positive(t, flaws["dictionary_reference"])
}

func breakReferences(r *rand.Rand, p pprofile.Profiles) {
	index := func(set func(int32)) {
		if r.IntN(4) == 0 {
			set(pick[int32](r, -1, math.MinInt32, math.MaxInt32, 0, 1, 2, 100))
		}
	}
	list := func(indices pcommon.Int32Slice) {
		for i := range indices.Len() {
			index(func(to int32) { indices.SetAt(i, to) })
		}
	}
	for _, resource := range p.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				index(profile.SampleType().SetUnitStrindex)
				index(profile.PeriodType().SetTypeStrindex)
				list(profile.AttributeIndices())
				for _, sample := range profile.Samples().All() {
					index(sample.SetStackIndex)
					index(sample.SetLinkIndex)
					list(sample.AttributeIndices())
				}
			}
		}
	}
	d := p.Dictionary()
	for _, stack := range d.StackTable().All() {
		list(stack.LocationIndices())
	}
	for _, location := range d.LocationTable().All() {
		index(location.SetMappingIndex)
		list(location.AttributeIndices())
		for _, line := range location.Lines().All() {
			index(line.SetFunctionIndex)
		}
	}
	for _, function := range d.FunctionTable().All() {
		index(function.SetNameStrindex)
		index(function.SetFilenameStrindex)
	}
	for _, mapping := range d.MappingTable().All() {
		index(mapping.SetFilenameStrindex)
		list(mapping.AttributeIndices())
	}
	for _, attribute := range d.AttributeTable().All() {
		index(attribute.SetKeyStrindex)
	}
	cut(r, d)
}

// cut empties tables or removes their zero entries.
func cut(r *rand.Rand, d pprofile.ProfilesDictionary) {
	mode := r.IntN(3)
	n := 0
	gone := func() bool {
		n++
		return mode == 2 || mode == 1 && n == 1
	}
	switch r.IntN(7) {
	case 0:
		d.StackTable().RemoveIf(func(pprofile.Stack) bool { return gone() })
	case 1:
		d.LocationTable().RemoveIf(func(pprofile.Location) bool { return gone() })
	case 2:
		d.FunctionTable().RemoveIf(func(pprofile.Function) bool { return gone() })
	case 3:
		d.MappingTable().RemoveIf(func(pprofile.Mapping) bool { return gone() })
	case 4:
		d.AttributeTable().RemoveIf(func(pprofile.KeyValueAndUnit) bool { return gone() })
	case 5:
		d.StringTable().FromRaw(d.StringTable().AsRaw()[min(mode, d.StringTable().Len()):])
	}
}

// FuzzProfilesToChunks starts with messages of all kinds, including broken ones.
func FuzzProfilesToChunks(f *testing.F) {
	seeds := uint64(60)
	if !testsize.Full() {
		seeds = 20
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 3))
		profiles := randomProfiles(r)
		if seed%2 == 1 {
			breakReferences(r, profiles)
		}
		encoded, err := new(pprofile.ProtoMarshaler).MarshalProfiles(profiles)
		require.NoError(f, err)
		f.Add(encoded)
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		profiles, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(encoded)
		if err != nil {
			return
		}
		checkExport(t, profiles, exportOptions)
	})
}
