// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/sentrytest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// foreign is a hand-written profile of another profiler.
type foreign struct {
	pprofile.Profiles
	pprofile.Profile
	b *dictionary.Builder
}

func newForeign(kind, unit, periodKind string, period int64) foreign {
	f := foreign{Profiles: pprofile.NewProfiles()}
	f.b = dictionary.NewBuilder(f.Dictionary())
	resource := f.ResourceProfiles().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "shop")
	resource.Resource().Attributes().PutStr("service.version", "1.2")
	f.Profile = resource.ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	dictionary.SetValueType(f.SampleType(), f.b.String(kind), f.b.String(unit))
	dictionary.SetValueType(f.PeriodType(), f.b.String(periodKind), f.b.String("nanoseconds"))
	f.SetPeriod(period)
	f.SetTime(someTime)
	return f
}

func (f foreign) sample(frameType, function, file string, thread int64, times, values []uint64) {
	stack := []dictionary.LocationIndex{f.b.Location(dictionary.Location{
		Lines:      []dictionary.Line{{Function: f.b.Function(dictionary.Function{Name: f.b.String(function), Filename: f.b.String(file)})}},
		Attributes: []dictionary.AttributeIndex{f.b.AttrString("profile.frame.type", frameType)},
	})}
	sample := f.Samples().AppendEmpty()
	sample.SetStackIndex(int32(f.b.Stack(stack)))
	if thread != 0 {
		dictionary.SetAttributes(sample.AttributeIndices(), f.b.AttrInt("thread.id", thread))
	}
	for _, time := range times {
		sample.TimestampsUnixNano().Append(someTime + time)
	}
	for _, value := range values {
		sample.Values().Append(int64(value))
	}
}

// inWords returns the exported samples as text: milliseconds, thread and leaf of each.
func (f foreign) inWords(t *testing.T) string {
	t.Helper()
	f.b.Finish()
	out := checkExport(t, f.Profiles, exportOptions)
	require.Empty(t, out.Lost)
	var words []string
	for i := range out.Items {
		read, err := sentrytest.Read(2, out.Items[i].Payload)
		require.NoError(t, err)
		for _, s := range read.Samples {
			leaf := "idle"
			if len(s.Stack) > 0 {
				leaf = s.Stack[0].Function
			}
			words = append(words, fmt.Sprintf("%g/%s/%s", float64(s.Time-someTime)/1e6, s.Thread, leaf))
		}
	}
	return strings.Join(words, " ")
}

// TestWeights: in Sentry's views, a sample lasts until the next one of its thread. The times of a
// profile must be represented in this way.
func TestWeights(t *testing.T) {
	const ms = 1_000_000
	f := newForeign("samples", "count", "cpu", 10*ms) // eBPF: a thread without samples is not running
	f.sample("go", "main.a", "", 7, []uint64{0, 10 * ms, 500 * ms}, nil)
	f.sample("go", "main.b", "", 7, []uint64{20 * ms}, nil)
	f.sample("go", "main.c", "", 8, []uint64{15 * ms}, nil)
	require.Equal(t, "0/7/a 10/7/a 15/8/c 20/7/b 25/8/c 30/7/idle 500/7/a 510/7/a", f.inWords(t))

	f = newForeign("samples", "count", "wall", 10*ms) // a wall clock samples every thread all the time
	f.sample("go", "main.a", "", 7, []uint64{0, 500 * ms}, nil)
	require.Equal(t, "0/7/a 500/7/a 510/7/a", f.inWords(t))

	f = newForeign("cpu", "nanoseconds", "cpu", 10*ms) // pprof: two values that fill 40 ms
	f.SetDurationNano(40 * ms)
	f.sample("go", "main.a", "", 0, nil, []uint64{30 * ms})
	f.sample("go", "main.b", "", 0, nil, []uint64{10 * ms})
	require.Equal(t, "0/0/a 10/0/a 20/0/a 30/0/b 40/0/b", f.inWords(t))

	f = newForeign("samples", "count", "cpu", 10*ms) // the same as counts over 80 ms: half of the time is idle
	f.SetDurationNano(80 * ms)
	f.sample("go", "main.a", "", 0, nil, []uint64{3})
	f.sample("go", "main.b", "", 0, nil, []uint64{1})
	require.Equal(t, "0/0/a 10/0/idle 20/0/a 30/0/idle 40/0/a 50/0/idle 60/0/b 70/0/b", f.inWords(t))

	f = newForeign("samples", "count", "cpu", 10*ms) // counts with a timestamp
	f.sample("go", "main.a", "", 7, []uint64{0, 100 * ms}, []uint64{2, 1})
	require.Equal(t, "0/7/a 10/7/a 20/7/idle 100/7/a 110/7/a", f.inWords(t))

	f = newForeign("samples", "count", "wall", 10*ms) // a closing sample precedes other samples of the same time
	f.sample("go", "main.a", "", 7, []uint64{0}, nil)
	idle := f.Samples().AppendEmpty()
	dictionary.SetAttributes(idle.AttributeIndices(), f.b.AttrInt("thread.id", 7))
	idle.TimestampsUnixNano().Append(someTime + 5*ms)
	require.Equal(t, "0/7/a 5/7/a 5/7/idle", f.inWords(t))

	f = newForeign("samples", "count", "wall", 10*ms) // a thread that continues in the next chunk
	f.sample("go", "main.a", "", 7, []uint64{0, 59_995 * ms, 60_000 * ms, 60_010 * ms}, nil)
	require.Equal(t, "0/7/a 59995/7/a 60000/7/a 60000/7/a 60010/7/a 60020/7/a", f.inWords(t))
}

// TestTimesOfOurs: samples without a time get one, and are counted.
func TestTimesOfOurs(t *testing.T) {
	const ms = 1_000_000
	f := newForeign("cpu", "nanoseconds", "cpu", 10*ms)
	f.SetDurationNano(40 * ms)
	f.sample("go", "main.a", "", 0, nil, []uint64{30 * ms})
	f.sample("go", "main.b", "", 0, nil, []uint64{10 * ms})
	f.b.Finish()
	require.Equal(t, []discard.Flaw{{Field: "sample_time", Count: 2}}, checkExport(t, f.Profiles, exportOptions).Flaws)

	f = newForeign("samples", "count", "wall", 10*ms)
	f.sample("go", "main.a", "", 7, []uint64{0, 20 * ms}, nil)
	f.b.Finish()
	require.Empty(t, checkExport(t, f.Profiles, exportOptions).Flaws)
}

// TestManyRepeats: above the limit, each observation represents more time, and the proportions
// remain.
func TestManyRepeats(t *testing.T) {
	f := newForeign("samples", "count", "cpu", 1_000)
	f.SetDurationNano(30_000_000_000)
	f.sample("go", "main.a", "", 0, nil, []uint64{20_000_000})
	f.sample("go", "main.b", "", 0, nil, []uint64{10_000_000})
	f.b.Finish()
	out := checkExport(t, f.Profiles, exportOptions)
	require.Len(t, out.Items, 1)
	read, err := sentrytest.Read(2, out.Items[0].Payload)
	require.NoError(t, err)
	require.InDelta(t, maxRepeats, len(read.Samples), 2)
	spent := map[string]float64{}
	for i, s := range read.Samples[1:] {
		if stack := read.Samples[i].Stack; len(stack) > 0 {
			spent[stack[0].Function] += float64(s.Time - read.Samples[i].Time)
		}
	}
	require.InDelta(t, 2, spent["a"]/spent["b"], 0.01)
	require.InDelta(t, 30e9, spent["a"]+spent["b"], 0.01e9)
}

// TestRefusedTypes: values that are not time are not exported as time.
func TestRefusedTypes(t *testing.T) {
	for _, types := range [][3]string{
		{"alloc_space", "bytes", "space"}, {"alloc_objects", "count", "space"}, {"samples", "count", "space"}, {"contentions", "count", ""},
		{"delay", "nanoseconds", ""}, {"events", "count", ""}, {"off_cpu", "nanoseconds", ""}, {"inuse_space", "bytes", "space"}, {"", "", ""},
	} {
		f := newForeign(types[0], types[1], types[2], 1)
		f.sample("go", "main.a", "", 0, []uint64{0, 5}, []uint64{1, 2})
		f.b.Finish()
		out := ProfilesToChunks(f.Profiles, exportOptions)
		require.Empty(t, out.Items)
		require.Equal(t, []discard.Loss{{Reason: ReasonNotTime, Count: 2}}, out.Lost, types)
	}
}

// TestGoStatesTwice: Go sends CPU profiles as counts and again in nanoseconds.
func TestGoStatesTwice(t *testing.T) {
	f := newForeign("samples", "count", "cpu", 10_000_000)
	f.SetDurationNano(1_000_000_000)
	f.sample("go", "main.a", "", 0, nil, []uint64{3})
	again := f.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().AppendEmpty()
	f.Profile.CopyTo(again)
	dictionary.SetValueType(again.SampleType(), f.b.String("cpu"), f.b.String("nanoseconds"))
	again.Samples().At(0).Values().SetAt(0, 30_000_000)
	f.b.Finish()
	out := ProfilesToChunks(f.Profiles, exportOptions)
	require.Len(t, out.Items, 1)
	require.Equal(t, []discard.Loss{{Reason: ReasonProfileRestated, Count: 1}}, out.Lost)
}

// TestNotRestated: a profile with the same time, duration and period as the counts, but of another
// clock, process or sample, is kept.
func TestNotRestated(t *testing.T) {
	for name, change := range map[string]func(f foreign, again pprofile.Profile){
		"wall": func(f foreign, again pprofile.Profile) {
			dictionary.SetValueType(again.SampleType(), f.b.String("wall"), f.b.String("nanoseconds"))
			dictionary.SetValueType(again.PeriodType(), f.b.String("wall"), f.b.String("nanoseconds"))
		},
		"wall, period of the CPU": func(f foreign, again pprofile.Profile) {
			dictionary.SetValueType(again.SampleType(), f.b.String("wall"), f.b.String("nanoseconds"))
		},
		"process of the profile": func(f foreign, again pprofile.Profile) {
			again.AttributeIndices().Append(int32(f.b.AttrInt("process.pid", 7)))
		},
		"process of the samples": func(f foreign, again pprofile.Profile) {
			again.Samples().At(0).AttributeIndices().Append(int32(f.b.AttrInt("process.pid", 7)))
		},
		"other values": func(_ foreign, again pprofile.Profile) { again.Samples().At(0).Values().SetAt(0, 50_000_000) },
		"more samples": func(_ foreign, again pprofile.Profile) { again.Samples().At(0).CopyTo(again.Samples().AppendEmpty()) },
		"other stacks": func(f foreign, again pprofile.Profile) {
			stack := f.b.Stack([]dictionary.LocationIndex{f.b.Location(dictionary.Location{Address: 7})})
			again.Samples().At(0).SetStackIndex(int32(stack))
		},
	} {
		f := newForeign("samples", "count", "cpu", 10_000_000)
		f.SetDurationNano(1_000_000_000)
		f.sample("go", "main.a", "", 0, nil, []uint64{3})
		again := f.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().AppendEmpty()
		f.Profile.CopyTo(again)
		dictionary.SetValueType(again.SampleType(), f.b.String("cpu"), f.b.String("nanoseconds"))
		again.Samples().At(0).Values().SetAt(0, 30_000_000)
		change(f, again)
		f.b.Finish()
		out := ProfilesToChunks(f.Profiles, exportOptions)
		require.Len(t, out.Items, 2, name)
		require.Empty(t, out.Lost, name)
	}
}

// TestForeignFrames: module, platform and in_app of frames whose profiler does not state them.
func TestForeignFrames(t *testing.T) {
	for _, test := range []struct{ frameType, function, file, module, name, inApp, platform string }{
		{"go", "net/http.(*Server).Serve", "/usr/local/go/src/net/http/server.go", "net/http", "(*Server).Serve", "false", ""},
		{"go", "example.com/shop/cart.(*Cart[...]).Add", "/src/cart.go", "example.com/shop/cart", "(*Cart[...]).Add", "true", ""},
		{"go", "example.com/lib.F", "/root/go/pkg/mod/example.com/lib@v1/f.go", "example.com/lib", "F", "false", ""},
		{"go", "main.main.func1", "/src/main.go", "main", "main.func1", "true", ""},
		{"jvm", "com.example.Cart.add", "Cart.java", "com.example.Cart", "add", "true", "java"},
		{"jvm", "java.lang.Thread.run", "Thread.java", "java.lang.Thread", "run", "false", "java"},
		{"cpython", "Cart.add", "/app/cart.py", "", "Cart.add", "", "python"},
		{"kernel", "do_syscall_64", "", "", "do_syscall_64", "false", "native"},
		{"ruby", "Cart#add", "/usr/lib/ruby/gems/3/cart.rb", "", "Cart#add", "false", "ruby"},
		{"dotnet", "System.String.Concat", "", "", "System.String.Concat", "false", "csharp"},
	} {
		f := newForeign("samples", "count", "cpu", 10_000_000)
		f.ResourceProfiles().At(0).Resource().Attributes().PutStr("telemetry.sdk.language", "go")
		f.sample(test.frameType, test.function, test.file, 1, []uint64{0}, nil)
		f.b.Finish()
		out := checkExport(t, f.Profiles, exportOptions)
		read, err := sentrytest.Read(2, out.Items[0].Payload)
		require.NoError(t, err)
		frame := read.Samples[0].Stack[0]
		got := []string{frame.Module, frame.Function, frame.InApp, frame.Platform}
		require.Equal(t, []string{test.module, test.name, test.inApp, test.platform}, got, test.function)
		require.Equal(t, "go", out.Items[0].Header.Platform)
		require.Contains(t, string(out.Items[0].Payload), `"release":"shop@1.2"`)
	}
}

// TestInlinedAndMapped: each line of a location becomes a frame, and the last one has the address.
// The mapping becomes an image with a debug ID derived from the build ID; the expected ID is the
// published test vector (relay-event-schema, debugmeta.rs).
func TestInlinedAndMapped(t *testing.T) {
	f := newForeign("samples", "count", "cpu", 10_000_000)
	b := f.b
	line := func(name string) dictionary.Line {
		return dictionary.Line{Function: b.Function(dictionary.Function{Name: b.String(name)}), Line: 3}
	}
	mapping := b.Mapping(dictionary.Mapping{
		Start: 0x401000, Limit: 0x402000, FileOffset: 0x1000, Filename: b.String("/app/server"),
		Attributes: []dictionary.AttributeIndex{b.AttrString("process.executable.build_id.gnu", "f1c3bcc0279865fe3058404b2831d9e64135386c")},
	})
	stack := b.Stack([]dictionary.LocationIndex{
		b.Location(dictionary.Location{Mapping: mapping, Address: 0x401234, Lines: []dictionary.Line{line("inlined"), line("caller")}}),
		b.Location(dictionary.Location{Mapping: mapping, Address: 0x401300}),
	})
	sample := f.Samples().AppendEmpty()
	sample.SetStackIndex(int32(stack))
	sample.TimestampsUnixNano().Append(someTime)
	b.Finish()

	out := checkExport(t, f.Profiles, exportOptions)
	payload := string(out.Items[0].Payload)
	require.Contains(t, payload, `"debug_meta":{"images":[{"type":"symbolic","code_file":"/app/server","code_id":"f1c3bcc0279865fe3058404b2831d9e64135386c",`+
		`"debug_id":"c0bcc3f1-9827-fe65-3058-404b2831d9e6","image_addr":"0x400000","image_size":8192}]}`)
	require.Contains(t, payload, `"stacks":[[0,1,2]],"frames":[`+
		`{"function":"inlined","package":"/app/server","lineno":3,"in_app":true},`+
		`{"function":"caller","package":"/app/server","lineno":3,"in_app":true,"instruction_addr":"0x401234"},`+
		`{"package":"/app/server","in_app":true,"instruction_addr":"0x401300"}]`)
}

// TestBombs: input that would result in a much larger output. The output is bounded, and omitted
// data is counted.
func TestBombs(t *testing.T) {
	f := newForeign("samples", "count", "cpu", 10_000_000)
	b := f.b
	long := strings.Repeat("x", 1<<20)
	var lines []dictionary.Line
	for i := range 2000 {
		lines = append(lines, dictionary.Line{Function: b.Function(dictionary.Function{Name: b.String(long)}), Line: int64(i)})
	}
	inlined := b.Location(dictionary.Location{Lines: lines}) // 2000 frames of a megabyte
	for i := range 200 {
		stack := []dictionary.LocationIndex{b.Location(dictionary.Location{Address: uint64(i) + 1})}
		for range 20 {
			stack = append(stack, inlined)
		}
		sample := f.Samples().AppendEmpty()
		sample.SetStackIndex(int32(b.Stack(stack)))
		sample.TimestampsUnixNano().Append(someTime + uint64(i))
	}
	b.Finish()
	out := ProfilesToChunks(f.Profiles, exportOptions)
	require.Empty(t, out.Items)
	lost := lossOf(out.Lost)
	require.Equal(t, 200, lost[discard.ReasonTooManyFrames]+lost[discard.ReasonExceedSizeLimit], lost)
}
