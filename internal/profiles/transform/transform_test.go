// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakepyroscope"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Nothing configured, nothing touched.
func TestNoSteps(t *testing.T) {
	p := profileOf(wall, row{frame: 1, times: []uint64{100}})
	p.MarkReadOnly() // a write would panic
	parts, lost := Apply(p, nil)
	require.Equal(t, []pprofile.Profiles{p}, parts)
	require.Empty(t, lost)
}

// Where nothing is left, nothing goes on.
func TestNothingLeft(t *testing.T) {
	parts, lost := Apply(profileOf(wall, row{frame: 0, times: []uint64{100, 110}}), []Step{&DropIdle{}})
	require.Empty(t, parts)
	require.Equal(t, Losses{Idle: 2}, lost)
}

// A profile that came without samples is not one that a step emptied: it may have measurements.
func TestEmptyProfileGoesOn(t *testing.T) {
	parts, lost := Apply(profileOf(wall), []Step{&DropIdle{}})
	require.Len(t, parts, 1)
	require.Empty(t, lost)
}

// A profile with a broken reference goes, its neighbor stays; a malformed sample goes, its
// neighbors stay.
func TestBrokenInput(t *testing.T) {
	p := profileOf(wall, row{frame: 1, times: []uint64{100}}, row{frame: 2, times: []uint64{100, 110}, values: []int64{1, 2, 3}})
	profiles := p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles()
	broken := profiles.AppendEmpty()
	firstProfile(p).CopyTo(broken)
	broken.Samples().At(0).SetStackIndex(1000)

	parts, lost := Apply(p, []Step{&ActiveThreadOnly{}})
	require.Len(t, parts, 1)
	require.Equal(t, Losses{BrokenReference: 4, MalformedSample: 3}, lost)
	require.Equal(t, 1, profiles.Len())
	require.Equal(t, 1, profiles.At(0).Samples().Len())
	require.Empty(t, conformance.Check(p))
}

// A location with very many lines and attributes is not taken apart, and a record with very many
// attributes is read once.
func TestHostileLocation(t *testing.T) {
	p := stackProfile([]namedFrame{{functions: strings.Repeat("a b ", longList)}})
	e := dictionary.NewEditor(p.Dictionary())
	attributes := p.Dictionary().LocationTable().At(1).AttributeIndices()
	for i := range longList {
		attributes.Append(int32(attributeOf(e, fmt.Sprint("k", i), int64(i))))
	}
	attributes.CopyTo(firstProfile(p).Samples().At(0).AttributeIndices())
	linear(t, size(p), func() {
		parts, _ := Apply(p, []Step{&Frames{Action: ActionCollapse, Name: "x", Match: []FrameMatch{
			{Function: regexp.MustCompile("^a$"), Module: regexp.MustCompile("")},
		}}})
		require.Len(t, parts, 1)
	})
	require.Equal(t, "x", functionNames(p, firstProfile(p).Samples().At(0)))
	require.Equal(t, longList, firstProfile(p).Samples().At(0).AttributeIndices().Len())
}

// A thread id of megabytes is read once, not with every sample.
func TestHostileThread(t *testing.T) {
	p := profileOf(wall, oneInstant(longList)...)
	e := dictionary.NewEditor(p.Dictionary())
	large := map[string]any{}
	for i := range longList {
		large[fmt.Sprint("k", i)] = int64(i)
	}
	id := attributeOf(e, semconv.ThreadID, large)
	for _, s := range firstProfile(p).Samples().All() {
		dictionary.SetAttributes(s.AttributeIndices(), id)
	}
	linear(t, size(p), func() {
		parts, _ := Apply(p, []Step{&Threads{Drop: patterns("^nobody$")}, &ActiveThreadOnly{}, &Aggregate{Unit: UnitNanoseconds}})
		require.Len(t, parts, 1)
	})
}

// A stack that refers to a location over and over does not multiply its lines.
func TestHostileStack(t *testing.T) {
	p := stackProfile([]namedFrame{{functions: strings.Repeat("a b ", 10_000)}})
	stack := p.Dictionary().StackTable().At(1).LocationIndices()
	stack.FromRaw(slices.Repeat(stack.AsRaw(), 10_000))
	Apply(p, []Step{&Frames{Action: ActionCollapse, Name: "x", Match: []FrameMatch{{Function: regexp.MustCompile("^a$")}}}})
	require.Empty(t, conformance.Check(p))
	require.LessOrEqual(t, p.Dictionary().StackTable().At(1).LocationIndices().Len(), maxExpanded+10_000)
}

// A message whose tables lack entry 0 is read as far as it can be.
func TestMissingZeroEntries(t *testing.T) {
	p := pprofile.NewProfiles()
	profile := p.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	profile.SetDurationNano(1)
	profile.Samples().AppendEmpty().TimestampsUnixNano().Append(0)
	for name, c := range oracles {
		t.Run(name, func(t *testing.T) {
			copied := pprofile.NewProfiles()
			p.CopyTo(copied)
			parts, _ := Apply(copied, []Step{c.step})
			for _, part := range parts {
				require.Empty(t, conformance.Check(part))
			}
		})
	}
}

func TestValidate(t *testing.T) {
	for want, steps := range map[string][]Step{
		"aggregate: unit: is \"seconds\"":         {&Aggregate{Unit: "seconds"}},
		"aggregate: max_gap: is -1ns":             {&Aggregate{Unit: UnitNanoseconds, MaxGap: -1}},
		"aggregate: max_gap: has no effect":       {&Aggregate{Unit: UnitCount, MaxGap: time.Second}},
		"resource_to_samples: attributes: ":       {&ResourceToSamples{}},
		"resource_to_samples: first_of: \"a\": ":  {&ResourceToSamples{FirstOf: map[string][]string{"a": nil}}},
		"aggregate: keep_counts: ":                {&Aggregate{Unit: UnitCount, KeepCounts: []string{"cpu"}}},
		"labels: max_per_sample: is 0":            {&Labels{MaxValueBytes: 1}},
		"labels: max_value_bytes: is 0":           {&Labels{MaxPerSample: 1}},
		"labels: keep: ":                          {&Labels{MaxPerSample: 1, MaxValueBytes: 1, Keep: []string{""}}},
		"drop_attributes: ":                       {&DropAttributes{}},
		"threads: ":                               {&Threads{}},
		"frames: action: is \"\"":                 {&Frames{}},
		"frames: name: ":                          {&Frames{Action: ActionKeep}},
		"frames: match: ":                         {&Frames{Action: ActionKeep, Name: "x"}},
		"frames: match[0]: ":                      {&Frames{Action: ActionKeep, Name: "x", Match: []FrameMatch{{}}}},
		"scrub: preset: is \"house\"":             {&Scrub{Preset: "house"}},
		"scrub: ":                                 {&Scrub{}},
		"scrub: rules[1]: pattern: ":              {&Scrub{Rules: []ScrubRule{{Pattern: regexp.MustCompile("a")}, {}}}},
		"max_bytes, max_samples and max_duration": {&Split{}},
		"split: max_bytes: is 9":                  {&Split{MaxBytes: 9}},
		"split: max_samples: ":                    {&Split{MaxSamples: -1}},
		"split: max_duration: is -1ns":            {&Split{MaxDuration: -1}},
		"split: must be the last":                 {&Split{MaxSamples: 1}, &DropIdle{}},
		"aggregate: unit nanoseconds":             {&DropAttributes{Samples: []string{"thread.id"}}, &Aggregate{Unit: UnitNanoseconds}},
		"aggregate: after drop_idle":              {&DropIdle{}, &Aggregate{Unit: UnitNanoseconds}},
	} {
		require.ErrorContains(t, validate(steps), want)
	}
	require.NoError(t, validate([]Step{&DropAttributes{Samples: []string{"thread.id"}}, &Aggregate{Unit: UnitCount}}))
}

// validate checks as the processor does: each step, then their order.
func validate(steps []Step) error {
	for _, step := range steps {
		if err := step.Validate(); err != nil {
			return err
		}
	}
	return ValidateOrder(steps)
}

// Every preset is valid; pyroscope's output is what Pyroscope takes.
func TestPresets(t *testing.T) {
	for _, name := range PresetNames() {
		steps, err := Preset(name)
		require.NoError(t, err)
		require.NoError(t, validate(steps), name)
	}
	_, err := Preset("parca")
	require.ErrorContains(t, err, "kafka, otlp_grpc, pyroscope")
}

func TestPresetPyroscope(t *testing.T) {
	steps, _ := Preset(PresetPyroscope)
	p := profileOf(wall, row{1, 1, []uint64{100, 125}, nil}, row{1, 2, []uint64{100}, nil}, row{0, 1, []uint64{112}, nil})
	parts, _ := Apply(p, steps)
	require.Len(t, parts, 1)
	v := dictionary.NewView(p.Dictionary())
	var got []string
	for _, s := range firstProfile(p).Samples().All() {
		list, _ := v.Attributes(s.AttributeIndices(), nil)
		require.Len(t, list, 1, "threads are no series")
		got = append(got, fmt.Sprint(len(spellStack(v, s.StackIndex())), " frames ", list[0].Key, "=", list[0].Value.AsString(), " ",
			s.Values().AsRaw(), s.TimestampsUnixNano().Len()))
	}
	require.Equal(t, []string{"1 frames service.name=shop [32] 0", "0 frames service.name=shop [13] 0"}, got)
	typ, unit, _ := v.ValueType(firstProfile(p).SampleType())
	require.Equal(t, "wall nanoseconds", typ+" "+unit)
	require.NotZero(t, firstProfile(p).Period())
	new(fakepyroscope.Store).MustPush(t, p)
}

// Whatever pdata accepts as a message, all steps in a row end without a panic, and nothing vanishes
// without being counted.
func FuzzApply(f *testing.F) {
	p := profileOf(wall, row{frame: 1, thread: 1, times: []uint64{100, 110}}, row{frame: 2, times: []uint64{100}})
	p.MarkReadOnly()
	encoded, err := new(pprofile.ProtoMarshaler).MarshalProfiles(p)
	require.NoError(f, err)
	for i := 0; i < len(encoded); i += 5 {
		broken := append([]byte(nil), encoded...)
		broken[i] ^= 0x55
		f.Add(broken)
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		var steps []Step
		for _, name := range []string{"scrub", "frames", "resource_to_samples", "threads", "drop_idle", "active_thread_only"} {
			steps = append(steps, oracles[name].step)
		}
		steps = append(steps, &Aggregate{Unit: UnitNanoseconds}, oracles["drop_attributes"].step, oracles["split"].step)
		p, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(encoded)
		if err != nil {
			return
		}
		in := 0
		newMessage(p).each(func(_ pcommon.Resource, profile pprofile.Profile) {
			for _, s := range profile.Samples().All() {
				in += observations(s)
			}
		})
		parts, lost := Apply(p, steps)
		if in > 0 && len(parts) == 0 && total(lost) != in {
			t.Errorf("%d observations, none goes on, %d are counted", in, total(lost))
		}
	})
}

// TestDropWaiting: threads that wait outside of spans are dropped only if the user wants it, and
// only in profiles of wall-clock time.
func TestDropWaiting(t *testing.T) {
	samples := []timelinetest.Sample{
		{Thread: 1, Stack: "main;compute", At: []time.Duration{0}},
		{Thread: 1, Stack: "main;java.lang.Object.wait", Span: 7, At: []time.Duration{10}},
		{Thread: 2, Stack: "worker;java.lang.Object.wait", At: []time.Duration{20, 30}},
	}
	onCPU := timelinetest.Shape{Type: "samples", Unit: "count", PeriodType: "cpu", PeriodUnit: "nanoseconds"}
	for _, test := range []struct {
		step    DropIdle
		shape   timelinetest.Shape
		dropped int
	}{
		{DropIdle{Waiting: true}, timelinetest.Wall, 2},
		{DropIdle{}, timelinetest.Wall, 0},
		{DropIdle{Waiting: true}, onCPU, 0},
	} {
		_, lost := Apply(timelinetest.Message("shop", test.shape, samples...), []Step{&test.step})
		require.Equal(t, test.dropped, lost[Idle])
	}
}
