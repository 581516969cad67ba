// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakepyroscope"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/producers"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// push sends messages through the preset to a store, which must accept and keep all of them.
func push(t *testing.T, messages ...pprofile.Profiles) []fakepyroscope.Profile {
	t.Helper()
	steps, err := Preset(PresetPyroscope)
	require.NoError(t, err)
	store := fakepyroscope.Store{}
	for _, p := range messages {
		parts, _ := Apply(p, steps)
		for _, part := range parts {
			require.Empty(t, conformance.Check(part))
			store.MustPush(t, part)
		}
	}
	store.MustSurvive(t)
	return store.Profiles()
}

// startingAt makes a message of one profile with a start and an ID.
func startingAt(start uint64, id byte, rows ...row) pprofile.Profiles {
	p := profileOf(wall, rows...)
	firstProfile(p).SetTime(pcommon.Timestamp(start))
	firstProfile(p).SetProfileID(pprofile.ProfileID{id})
	return p
}

// Ruby states the start of V1 profiles in seconds: three of one second have equal labels and equal
// times. Without the step, compaction keeps one.
func TestProfilesOfOneSecondSurvive(t *testing.T) {
	messages := func() (all []pprofile.Profiles) {
		for i := range byte(3) {
			all = append(all, startingAt(testStart, i+1, row{frame: 1, values: []int64{int64(1 + i)}}))
		}
		return all
	}
	require.Equal(t, int64(10+20+30), fakepyroscope.Sum(push(t, messages()...)))

	store := fakepyroscope.Store{}
	for _, p := range messages() {
		store.MustPush(t, applyOne(t, p, withoutStep[*UniqueTimes](t)))
	}
	require.Len(t, store.Profiles(), 3)
	require.Len(t, store.Compact(), 1)
}

// Parts of a split profile have no timestamps and once had one start.
func TestPartsSurvive(t *testing.T) {
	samples, parts := 20_000, 2
	if testsize.Full() {
		samples, parts = 60_000, 4
	}
	for name, start := range map[string]uint64{"precise": testStart + 123_456_789, "seconds": testStart} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rows []row
			for i := range samples {
				rows = append(rows, row{frame: uint64(i), values: []int64{1}})
			}
			stored := push(t, startingAt(start, 1, rows...))
			require.Len(t, stored, parts)
			require.Equal(t, int64(10*samples), fakepyroscope.Sum(stored))
		})
	}
}

// Pyroscope accepts and keeps a recording of the eBPF profiler as CPU time, under the names of the
// executables.
func TestEBPFRecording(t *testing.T) {
	stored := push(t, producers.EBPFRecording(t)...)
	services := map[string]int64{}
	for _, profile := range stored {
		require.Equal(t, "process_cpu:cpu:nanoseconds:cpu:nanoseconds", profile.Type)
		services[profile.Labels["service_name"]] += profile.Total
	}
	samples := int64(0)
	for _, p := range producers.EBPFRecording(t) {
		for _, resource := range p.ResourceProfiles().All() {
			for _, s := range resource.ScopeProfiles().At(0).Profiles().At(0).Samples().All() {
				samples += int64(s.TimestampsUnixNano().Len())
			}
		}
	}
	require.Len(t, services, 2)
	require.Equal(t, samples*50_000_000, services["python3"]+services["checkout"])
}

// The profiler on a host states one start for all its processes; those of one service differ in
// nothing else once the process ID is no label.
func TestProfilesOfOneMessageSurvive(t *testing.T) {
	p := startingAt(testStart+123_456_789, 0, row{frame: 1, values: []int64{1}})
	profiles := p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles()
	for range 1000 {
		firstProfile(p).CopyTo(profiles.AppendEmpty())
	}
	for _, profile := range profiles.All() {
		profile.SetProfileID(pprofile.NewProfileIDEmpty())
	}
	require.Len(t, push(t, p), 1001)
}

// The offset is below the precision of the source, equal each time, and the true start stays.
func TestUniqueTimes(t *testing.T) {
	for start, room := range map[uint64]uint64{
		testStart: 1_000_000, testStart + 5_000_000: 1_000_000, testStart + 5_000: 1_000, testStart + 5: 1,
	} {
		p := applyOne(t, startingAt(start, 9, row{frame: 1, values: []int64{1}}), []Step{&UniqueTimes{}})
		got := uint64(firstProfile(p).Time())
		require.GreaterOrEqual(t, got, start)
		require.Less(t, got, start+room)
		again := applyOne(t, startingAt(start, 9, row{frame: 1, values: []int64{1}}), []Step{&UniqueTimes{}})
		require.Equal(t, got, uint64(firstProfile(again).Time()))
		original, moved := dictionary.NewView(p.Dictionary()).Get(firstProfile(p).AttributeIndices(), semconv.SplitTimeUnixNano)
		require.Equal(t, got != start, moved)
		if moved {
			require.Equal(t, int64(start), original.Int())
		}
		twice := applyOne(t, p, []Step{&UniqueTimes{}})
		require.Equal(t, got, uint64(firstProfile(twice).Time()), "it does not move again")
	}
	timed := applyOne(t, startingAt(testStart, 9, row{frame: 1, times: []uint64{testStart}}), []Step{&UniqueTimes{}})
	require.Equal(t, uint64(testStart), uint64(firstProfile(timed).Time()), "a start after the first timestamp is invalid")
}

// One integer on a resource or scope made Pyroscope reject the request.
func TestIntegerAttributes(t *testing.T) {
	message := func() pprofile.Profiles {
		p := profileOf(wall, row{frame: 1, values: []int64{3}})
		resource := p.ResourceProfiles().At(0)
		resource.Resource().Attributes().PutInt("shard", 3)
		resource.Resource().Attributes().PutEmptySlice("process.group_ids").AppendEmpty().SetInt(7)
		resource.Resource().Attributes().PutDouble("load", 0.5)
		resource.ScopeProfiles().At(0).Scope().Attributes().PutInt("build", 4)
		return p
	}
	store := fakepyroscope.Store{}
	require.Contains(t, fmt.Sprint(store.Push(applyOne(t, message(), withoutStep[*ResourceToSamples](t)))), "invalid label name ''")

	p := message()
	stored := push(t, p)
	require.Equal(t, map[string]string{"service_name": "shop", "shard": "3", "process_group_ids": "7", "build": "4"}, stored[0].Labels)
	_, has := p.ResourceProfiles().At(0).Resource().Attributes().Get("load")
	require.True(t, has, "Pyroscope ignores other numbers")

	p = message()
	for i := range 20 {
		p.ResourceProfiles().At(0).Resource().Attributes().PutInt(fmt.Sprint("n", i), 1)
	}
	require.Len(t, push(t, p)[0].Labels, 1+8+1, "of the service, the resource and the scope")
}

// The profiler for a whole host does not know services.
func TestServiceFallsBackToExecutable(t *testing.T) {
	p := profileOf(wall, row{frame: 1, values: []int64{3}})
	attributes := p.ResourceProfiles().At(0).Resource().Attributes()
	attributes.Remove(semconv.ServiceName)
	attributes.PutStr(semconv.ProcessExecutableName, "nginx")
	attributes.PutStr(semconv.ServiceVersion, "1.2")
	attributes.PutStr(semconv.DeploymentEnvironment, "old")
	attributes.PutStr(semconv.DeploymentEnvironmentName, "new")
	e := dictionary.NewEditor(p.Dictionary())
	dictionary.SetAttributes(firstProfile(p).Samples().At(0).AttributeIndices(),
		attributeOf(e, semconv.CPULogicalNumber, int64(3)), attributeOf(e, semconv.ThreadName, "worker"))
	require.Equal(t, map[string]string{"service_name": "nginx", "service_version": "1.2", "deployment_environment": "new"}, push(t, p)[0].Labels)
}

func TestPyroscopeTypes(t *testing.T) {
	for _, c := range []struct {
		name  string
		kind  kind
		rows  row
		typ   string
		total int64
	}{
		{"eBPF on CPU", kind{"samples", "count", "cpu", "nanoseconds", 50}, row{times: []uint64{5, 6, 7}}, "process_cpu:cpu:nanoseconds:cpu:nanoseconds", 150},
		{"eBPF off CPU", kind{"off_cpu", "nanoseconds", "", "", 0}, row{times: []uint64{5, 6}, values: []int64{70, 80}}, "off_cpu:off_cpu:nanoseconds::", 150},
		{"eBPF probe", kind{"events", "count", "", "", 0}, row{times: []uint64{5, 6}}, "events:events:count:events:count", 2},
		{"Sentry", wall, row{times: []uint64{100, 125}}, "wall:wall:nanoseconds:wall:nanoseconds", 35},
		{"Go, pprof", kind{"cpu", "nanoseconds", "cpu", "nanoseconds", 10}, row{values: []int64{30}}, "process_cpu:cpu:nanoseconds:cpu:nanoseconds", 30},
		{"CPU time, no multiple", kind{"cpu", "microseconds", "cpu", "nanoseconds", 10}, row{values: []int64{3}}, "process_cpu:cpu:nanoseconds:cpu:nanoseconds", 3000},
		{"async-profiler", kind{"ctimer", "count", "ctimer", "ns", 10}, row{values: []int64{3}}, "process_cpu:cpu:nanoseconds:cpu:nanoseconds", 30},
		{"async-profiler, total", kind{"itimer", "ns", "itimer", "ns", 10}, row{values: []int64{33}}, "process_cpu:cpu:nanoseconds:cpu:nanoseconds", 33},
		{"async-profiler, wall", kind{"wall", "count", "wall", "ns", 10}, row{values: []int64{3}}, "wall:wall:nanoseconds:wall:nanoseconds", 30},
		{"async-profiler, event", kind{"cache-misses", "count", "cache-misses", "total", 10}, row{values: []int64{3}}, "cache_misses:cache_misses:count:cache_misses:total", 3},
		{"heap", kind{"alloc_space", "bytes", "space", "bytes", 524288}, row{values: []int64{3}}, "space:alloc_space:bytes:space:bytes", 3},
		{"nothing stated", kind{}, row{times: []uint64{5}}, "samples:samples:count:samples:count", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			stored := push(t, profileOf(c.kind, c.rows))
			require.Len(t, stored, 1)
			require.Equal(t, c.typ, stored[0].Type)
			require.Equal(t, c.total, stored[0].Total)
		})
	}
}

// Labels stay within Pyroscope's limits, and equal names do not meet.
func TestLabels(t *testing.T) {
	p := profileOf(wall, row{frame: 1, values: []int64{3}})
	e := dictionary.NewEditor(p.Dictionary())
	list := []dictionary.AttributeIndex{
		attributeOf(e, "a.b", "first"), attributeOf(e, "a-b", "second"), attributeOf(e, "9 lives", strings.Repeat("ä", 3000)), attributeOf(e, "", "empty"),
		attributeOf(e, strings.Repeat("k", 3000), "long"),
	}
	for i := range 50 {
		list = append(list, attributeOf(e, fmt.Sprint("k", i), "v"))
	}
	dictionary.SetAttributes(firstProfile(p).Samples().At(0).AttributeIndices(), list...)
	labels := push(t, p)[0].Labels
	require.Equal(t, "first", labels["a_b"])
	require.Equal(t, strings.Repeat("ä", 1024), labels["_9_lives"])
	require.Equal(t, "empty", labels["_"])
	require.Equal(t, "shop", labels["service_name"], "it is not counted out")
	require.Len(t, labels, 21)
}

// Messages of any producer pass, and none of their time is lost.
func TestPresetPyroscopeTakesAll(t *testing.T) {
	for seed := range seeds() {
		r := rand.New(rand.NewPCG(seed, 7))
		p := randomProfiles(r)
		e := dictionary.NewEditor(p.Dictionary())
		for _, resource := range p.ResourceProfiles().All() {
			if r.IntN(3) == 0 {
				resource.Resource().Attributes().Remove(semconv.ServiceName)
				resource.Resource().Attributes().PutStr(semconv.ProcessExecutableName, "nginx")
			}
			resource.Resource().Attributes().PutInt(semconv.ProcessPID, int64(r.IntN(2)))
			for _, profile := range resource.ScopeProfiles().At(0).Profiles().All() {
				name, unit := pick(r, "samples", "cpu", "off_cpu", "cache-misses", "a:b", ""), pick(r, "count", "nanoseconds", "ns", "bytes", "")
				dictionary.SetValueType(profile.SampleType(), e.String(name), e.String(unit))
				dictionary.SetValueType(profile.PeriodType(), e.String(pick(r, "cpu", "wall", "space", name, "")), e.String(pick(r, "nanoseconds", "ns", "bytes")))
				profile.SetPeriod(int64(r.IntN(3)))
				for _, s := range profile.Samples().All() {
					s.AttributeIndices().Append(int32(attributeOf(e, pick(r, "a.b", "http.route", "ä"), pick(r, "x", "y"))))
				}
			}
		}
		push(t, p)
		if t.Failed() {
			t.Fatal("seed ", seed)
		}
	}
}

func pick(r *rand.Rand, texts ...string) string { return texts[r.IntN(len(texts))] }

// applyOne returns the only resulting message.
func applyOne(t *testing.T, p pprofile.Profiles, steps []Step) pprofile.Profiles {
	t.Helper()
	parts, _ := Apply(p, steps)
	require.Len(t, parts, 1)
	require.Empty(t, conformance.Check(parts[0]))
	return parts[0]
}

// withoutStep returns the preset without one of its steps.
func withoutStep[S Step](t *testing.T) []Step {
	steps, err := Preset(PresetPyroscope)
	require.NoError(t, err)
	n := len(steps)
	steps = slices.DeleteFunc(steps, func(s Step) bool { _, is := s.(S); return is })
	require.Len(t, steps, n-1)
	return steps
}

// Profiles of other producers survive, with the time that they represent.
func TestPyroscopeProducers(t *testing.T) {
	for engine, p := range producers.AsyncProfiler(t) {
		profile, want := firstProfile(p), int64(0)
		for _, s := range profile.Samples().All() {
			want += s.Values().At(0) * profile.Period()
		}
		stored := push(t, p)
		require.Equal(t, want, fakepyroscope.Sum(stored), engine)
	}
	var messages []pprofile.Profiles
	for n, host := range []string{"a", "b"} { // hosts are no labels; their starts differ, in nanoseconds
		for i := range uint64(2) {
			messages = append(messages, producers.EBPF(host, 3, testStart+uint64(1+n)+i*5_000_000_000))
		}
	}
	sums := map[string]int64{}
	for _, p := range push(t, messages...) {
		require.Equal(t, "shop", p.Labels["service_name"])
		require.Contains(t, p.Labels, "process_pid")
		require.Len(t, p.Labels, 2)
		sums[p.Type] += p.Total
	}
	require.Equal(t, map[string]int64{
		"process_cpu:cpu:nanoseconds:cpu:nanoseconds": 2 * 2 * 3 * producers.EBPFSamples * 50_000_000,
		"off_cpu:off_cpu:nanoseconds::":               2 * 2 * 3 * producers.EBPFSamples * 2_000_000,
	}, sums)
}
