// SPDX-License-Identifier: Apache-2.0

package dictionary_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// A stack in words: what goes into a Builder and must come out of a View.
type (
	wordFrame struct {
		function, system, file string
		start, line, column    int64
	}
	wordLocation struct {
		frames     []wordFrame
		address    uint64
		mapping    string // file name; "" for none
		attributes map[string]any
	}
	wordSample struct {
		stack      []wordLocation
		attributes map[string]any
		trace      byte // 0 = no link
		times      []uint64
	}
)

// Small ranges on purpose: equal entries must meet.
func randomSamples(r *rand.Rand) []wordSample {
	name := func() string {
		return []string{"", "a", "b", "名", "a\x00b", "long name " + fmt.Sprint(r.IntN(3))}[r.IntN(6)]
	}
	attributes := func() map[string]any {
		m := map[string]any{}
		for range r.IntN(4) {
			var v any
			switch r.IntN(6) {
			case 0:
				v = name()
			case 1:
				v = int64(r.IntN(3) - 1)
			case 2:
				v = []float64{0, 1, math.Copysign(0, -1), math.Inf(1)}[r.IntN(4)]
			case 3:
				v = r.IntN(2) == 0
			case 4:
				v = []any{name(), int64(r.IntN(2))}
			case 5:
				v = map[string]any{name(): name(), "k": int64(1)}
			}
			m["key."+string(rune('a'+r.IntN(4)))] = v
		}
		return m
	}
	var samples []wordSample
	seen := map[string]bool{}
	for range r.IntN(20) {
		s := wordSample{attributes: attributes(), trace: byte(r.IntN(3)), times: []uint64{1000 + uint64(r.IntN(50))}}
		for range r.IntN(6) {
			l := wordLocation{address: uint64(r.IntN(3)), attributes: attributes()}
			if r.IntN(2) == 0 {
				l.mapping = "lib" + fmt.Sprint(r.IntN(2))
			}
			for range r.IntN(3) {
				l.frames = append(l.frames, wordFrame{
					function: "f" + name(), system: name(), file: name(),
					start: int64(r.IntN(2)), line: int64(r.IntN(3)), column: int64(r.IntN(2)),
				})
			}
			s.stack = append(s.stack, l)
		}
		if id := fmt.Sprintf("%#v %#v %d", s.stack, s.attributes, s.trace); !seen[id] {
			seen[id] = true
			samples = append(samples, s)
		}
	}
	return samples
}

// build writes the samples; before asks for entries in some other order first, so that their
// positions differ from one message to the next.
func build(samples []wordSample, before *rand.Rand) pprofile.Profiles {
	p := pprofile.NewProfiles()
	b := dictionary.NewBuilder(p.Dictionary())
	defer b.Release()
	resource := p.ResourceProfiles().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "test")
	profile := resource.ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	profile.SetTime(1000)
	profile.SetDurationNano(50)
	dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))

	attributes := func(m map[string]any) []dictionary.AttributeIndex {
		var list []dictionary.AttributeIndex
		for k, v := range m { // in Go's random order: a set has none
			value := pcommon.NewValueEmpty()
			if err := value.FromRaw(v); err != nil {
				panic(err)
			}
			list = append(list, b.Attribute(k, dictionary.AnyValue(value), ""))
		}
		return list
	}
	stack := func(words []wordLocation) dictionary.StackIndex {
		var list []dictionary.LocationIndex
		for _, w := range words {
			l := dictionary.Location{Address: w.address, Attributes: attributes(w.attributes)}
			if w.mapping != "" {
				l.Mapping = b.Mapping(dictionary.Mapping{
					Filename: b.String(w.mapping), Attributes: []dictionary.AttributeIndex{b.AttrString("process.executable.build_id.gnu", w.mapping)},
				})
			}
			for _, f := range w.frames {
				l.Lines = append(l.Lines, dictionary.Line{Line: f.line, Column: f.column, Function: b.Function(dictionary.Function{
					Name: b.String(f.function), SystemName: b.String(f.system), Filename: b.String(f.file), StartLine: f.start,
				})})
			}
			list = append(list, b.Location(l))
		}
		return b.Stack(list)
	}
	if before != nil {
		for _, i := range before.Perm(len(samples)) {
			stack(samples[i].stack)
		}
	}
	for _, w := range samples {
		s := profile.Samples().AppendEmpty()
		dictionary.SetAttributes(s.AttributeIndices(), attributes(w.attributes)...)
		s.SetStackIndex(int32(stack(w.stack)))
		if w.trace != 0 {
			s.SetLinkIndex(int32(b.Link(pcommon.TraceID{w.trace}, pcommon.SpanID{1})))
		}
		s.TimestampsUnixNano().FromRaw(w.times)
	}
	b.Finish()
	return p
}

// read takes a message apart again through the View.
func read(t *testing.T, p pprofile.Profiles) []wordSample {
	v := dictionary.NewView(p.Dictionary())
	must := func(ok bool) {
		if !ok {
			t.Fatal("the view finds a broken reference")
		}
	}
	attributes := func(indices []dictionary.AttributeIndex) map[string]any {
		m := map[string]any{}
		for _, i := range indices {
			a, ok := v.Attribute(i)
			must(ok)
			m[a.Key] = a.Value.AsRaw()
		}
		return m
	}
	var samples []wordSample
	var l dictionary.Location
	var m dictionary.Mapping
	for _, s := range dictionarytest.FirstProfile(p).Samples().All() {
		var indices []dictionary.AttributeIndex
		for _, i := range s.AttributeIndices().All() {
			indices = append(indices, dictionary.AttributeIndex(i))
		}
		trace, _, ok := v.Link(dictionary.LinkIndex(s.LinkIndex()))
		must(ok)
		w := wordSample{attributes: attributes(indices), trace: trace[0], times: s.TimestampsUnixNano().AsRaw()}
		stack, ok := v.Stack(dictionary.StackIndex(s.StackIndex()), nil)
		must(ok)
		for _, i := range stack {
			must(v.Location(i, &l) && v.Mapping(l.Mapping, &m))
			location := wordLocation{address: l.Address, mapping: v.Text(m.Filename), attributes: attributes(l.Attributes)}
			for _, line := range l.Lines {
				f, ok := v.Function(line.Function)
				must(ok)
				location.frames = append(location.frames, wordFrame{
					function: v.Text(f.Name), system: v.Text(f.SystemName), file: v.Text(f.Filename),
					start: f.StartLine, line: line.Line, column: line.Column,
				})
			}
			w.stack = append(w.stack, location)
		}
		samples = append(samples, w)
	}
	return samples
}

// seeds returns a number of random messages: a sixth of that of the full size in small size.
func seeds(full uint64) uint64 {
	if testsize.Full() {
		return full
	}
	return full / 6
}

// Whatever goes in comes out, the message is valid, and neither the order of the tables nor that of
// the samples is part of the content.
func TestRoundTripOfRandomMessages(t *testing.T) {
	t.Parallel()
	for seed := range seeds(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		samples := randomSamples(r)
		p := build(samples, nil)
		// %#v prints maps by key and tells 0 from -0.
		if got, want := fmt.Sprintf("%#v", read(t, p)), fmt.Sprintf("%#v", samples); got != want {
			t.Fatalf("seed %d: got\n%s\nwant\n%s", seed, got, want)
		}
		for _, v := range conformance.Check(p) {
			t.Errorf("seed %d: %v", seed, v)
		}

		shuffled := slices.Clone(samples)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if diff := dictionarytest.Diff(p, build(shuffled, r)); diff != "" {
			t.Fatalf("seed %d: order matters: %s", seed, diff)
		}
		if other := build(samples, r); dictionarytest.Dump(other) != dictionarytest.Dump(p) {
			t.Fatalf("seed %d: the dump depends on the order of the tables", seed)
		}
		if len(samples) > 0 {
			shuffled[0].times = []uint64{1049, 1001}
			if dictionarytest.Diff(p, build(shuffled, nil)) == "" {
				t.Fatalf("seed %d: another message compares equal", seed)
			}
		}
	}
}
