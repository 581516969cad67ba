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
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// What is left of a message after some samples are gone is what is built from the others.
func TestCompactOfRandomRemovals(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		samples := randomSamples(r)
		p := build(samples, r)
		keep := make([]bool, len(samples))
		var kept []wordSample
		for i, s := range samples {
			if keep[i] = r.IntN(2) == 0; keep[i] {
				kept = append(kept, s)
			}
		}
		i := -1
		dictionarytest.FirstProfile(p).Samples().RemoveIf(func(pprofile.Sample) bool { i++; return !keep[i] })
		dictionary.Compact(p)
		mustBeClean(t, seed, p)
		if diff := dictionarytest.Diff(build(kept, nil), p); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

// Entries and samples that are there twice become one again, with all their observations.
func TestCompactOfRandomDuplicates(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		p := build(randomSamples(r), nil)
		for _, s := range dictionarytest.FirstProfile(p).Samples().All() {
			s.TimestampsUnixNano().Append(s.TimestampsUnixNano().At(0), 1049)
		}
		torn := pprofile.NewProfiles()
		p.CopyTo(torn)
		tear(torn, r)
		dictionary.Compact(torn)
		mustBeClean(t, seed, torn)
		if diff := dictionarytest.Diff(p, torn); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

// tear moves observations of some samples to samples of their own, with copies of what they refer
// to.
func tear(p pprofile.Profiles, r *rand.Rand) {
	v, e := dictionary.NewView(p.Dictionary()), dictionary.NewEditor(p.Dictionary())
	samples := dictionarytest.FirstProfile(p).Samples()
	for i := range samples.Len() {
		if r.IntN(2) == 0 {
			continue
		}
		twin := samples.AppendEmpty()
		s := samples.At(i)
		s.CopyTo(twin)
		s.TimestampsUnixNano().FromRaw(s.TimestampsUnixNano().AsRaw()[1:])
		twin.TimestampsUnixNano().FromRaw(twin.TimestampsUnixNano().AsRaw()[:1])
		var reversed []dictionary.AttributeIndex // and each twice: a set has neither order nor number
		for _, a := range slices.Backward(twin.AttributeIndices().AsRaw()) {
			attribute, _ := v.Attribute(dictionary.AttributeIndex(a))
			reversed = append(reversed, e.Attribute(attribute.Key, attribute.Value), e.Attribute(attribute.Key, attribute.Value))
		}
		dictionary.SetAttributes(twin.AttributeIndices(), reversed...)
		stack, _ := v.Stack(dictionary.StackIndex(s.StackIndex()), nil)
		for j := range stack {
			var l dictionary.Location
			v.Location(stack[j], &l)
			for k := range l.Lines {
				f, _ := v.Function(l.Lines[k].Function)
				f.Name = appendString(p, v.Text(f.Name))
				l.Lines[k].Function = appendFunction(p, f)
			}
			stack[j] = e.Location(l)
		}
		twin.SetStackIndex(int32(e.Stack(stack)))
	}
}

// appendString and appendFunction add an entry even if the table has an equal one.
func appendString(p pprofile.Profiles, s string) dictionary.StringIndex {
	p.Dictionary().StringTable().Append(s)
	return dictionary.StringIndex(p.Dictionary().StringTable().Len() - 1)
}

func appendFunction(p pprofile.Profiles, f dictionary.Function) dictionary.FunctionIndex {
	entry := p.Dictionary().FunctionTable().AppendEmpty()
	entry.SetNameStrindex(int32(f.Name))
	entry.SetSystemNameStrindex(int32(f.SystemName))
	entry.SetFilenameStrindex(int32(f.Filename))
	entry.SetStartLine(f.StartLine)
	return dictionary.FunctionIndex(p.Dictionary().FunctionTable().Len() - 1)
}

func mustBeClean(t *testing.T, seed uint64, p pprofile.Profiles) {
	t.Helper()
	for _, v := range conformance.Check(p) {
		t.Errorf("seed %d: %v", seed, v)
	}
}

func TestCompactMergesValues(t *testing.T) {
	p := build(nil, nil)
	samples := dictionarytest.FirstProfile(p).Samples()
	add := func(values []int64, times []uint64) {
		s := samples.AppendEmpty()
		s.Values().FromRaw(values)
		s.TimestampsUnixNano().FromRaw(times)
	}
	add([]int64{1, 2}, []uint64{1009, 1001})
	add([]int64{7}, nil)
	add([]int64{3}, []uint64{1004})
	add([]int64{math.MaxInt64}, nil)
	add(nil, []uint64{1002})
	add([]int64{4, 5}, []uint64{1006}) // no shape: left alone
	dictionary.Compact(p)

	want := []struct {
		values []int64
		times  []uint64
	}{
		{[]int64{2, 3, 1}, []uint64{1001, 1004, 1009}},
		{[]int64{math.MaxInt64}, nil},
		{nil, []uint64{1002}},
		{[]int64{4, 5}, []uint64{1006}},
	}
	if samples.Len() != len(want) {
		t.Fatalf("%d samples, want %d", samples.Len(), len(want))
	}
	for i, w := range want {
		s := samples.At(i)
		if !slices.Equal(s.Values().AsRaw(), w.values) || !slices.Equal(s.TimestampsUnixNano().AsRaw(), w.times) {
			t.Errorf("sample %d: %v at %v, want %v at %v", i, s.Values().AsRaw(), s.TimestampsUnixNano().AsRaw(), w.values, w.times)
		}
	}
}

// A record with very many attributes has each once, like one with few.
func TestCompactOfManyAttributes(t *testing.T) {
	p := build(nil, nil)
	s, e := dictionarytest.FirstProfile(p).Samples().AppendEmpty(), dictionary.NewEditor(p.Dictionary())
	s.Values().Append(1)
	var all []dictionary.AttributeIndex
	for range 2 {
		for i := range 100 {
			all = append(all, e.Attribute(fmt.Sprint("k", i), pcommon.NewValueInt(1)))
		}
	}
	dictionary.SetAttributes(s.AttributeIndices(), all...)
	dictionary.Compact(p)
	mustBeClean(t, 0, p)
	if got := s.AttributeIndices().Len(); got != 100 {
		t.Errorf("%d attributes, want 100", got)
	}
}

// Restart makes a message of its own for the next part.
func TestCopierRestarts(t *testing.T) {
	samples := randomSamples(rand.New(rand.NewPCG(1, 4)))
	p := build(samples, nil)
	var c *dictionary.Copier
	for i, s := range dictionarytest.FirstProfile(p).Samples().All() {
		part := build(nil, nil)
		fresh := pprofile.NewProfilesDictionary()
		b := dictionary.NewBuilder(fresh)
		if c == nil {
			c = dictionary.NewCopier(dictionary.NewView(p.Dictionary()), b)
		} else {
			c.Restart(b)
		}
		c.ValueType(dictionarytest.FirstProfile(p).SampleType(), dictionarytest.FirstProfile(part).SampleType())
		to := dictionarytest.FirstProfile(part).Samples().AppendEmpty()
		s.CopyTo(to)
		c.Sample(s, to)
		b.Finish()
		b.Release()
		fresh.MoveTo(part.Dictionary())
		mustBeClean(t, 0, part)
		if diff := dictionarytest.Diff(build(samples[i:i+1], nil), part); diff != "" {
			t.Fatalf("sample %d: %s", i, diff)
		}
	}
}

func TestIntegrity(t *testing.T) {
	for name, damage := range map[string]func(p pprofile.Profiles, s pprofile.Sample){
		"stack":     func(_ pprofile.Profiles, s pprofile.Sample) { s.SetStackIndex(99) },
		"link":      func(_ pprofile.Profiles, s pprofile.Sample) { s.SetLinkIndex(-1) },
		"attribute": func(_ pprofile.Profiles, s pprofile.Sample) { s.AttributeIndices().Append(99) },
		"profile attribute": func(p pprofile.Profiles, _ pprofile.Sample) {
			dictionarytest.FirstProfile(p).AttributeIndices().Append(99)
		},
		"sample type": func(p pprofile.Profiles, _ pprofile.Sample) {
			dictionarytest.FirstProfile(p).SampleType().SetUnitStrindex(99)
		},
		"location": func(p pprofile.Profiles, _ pprofile.Sample) {
			p.Dictionary().StackTable().At(1).LocationIndices().Append(99)
		},
		"function": func(p pprofile.Profiles, _ pprofile.Sample) {
			p.Dictionary().LocationTable().At(1).Lines().AppendEmpty().SetFunctionIndex(99)
		},
		"location attribute": func(p pprofile.Profiles, _ pprofile.Sample) {
			p.Dictionary().LocationTable().At(1).AttributeIndices().Append(99)
		},
		"mapping": func(p pprofile.Profiles, _ pprofile.Sample) { p.Dictionary().LocationTable().At(1).SetMappingIndex(99) },
		"mapping attribute": func(p pprofile.Profiles, _ pprofile.Sample) {
			p.Dictionary().MappingTable().At(1).AttributeIndices().Append(99)
		},
		"name": func(p pprofile.Profiles, _ pprofile.Sample) { p.Dictionary().FunctionTable().At(1).SetNameStrindex(-5) },
		"key of a mapping's": func(p pprofile.Profiles, _ pprofile.Sample) {
			i := p.Dictionary().MappingTable().At(1).AttributeIndices().At(0)
			p.Dictionary().AttributeTable().At(int(i)).SetKeyStrindex(99)
		},
		"key": func(p pprofile.Profiles, _ pprofile.Sample) { p.Dictionary().AttributeTable().At(1).SetKeyStrindex(99) },
	} {
		t.Run(name, func(t *testing.T) {
			p := build([]wordSample{{
				stack: []wordLocation{{
					frames: []wordFrame{{function: "f"}}, mapping: "lib", attributes: map[string]any{"k": int64(1)},
				}},
				times: []uint64{1001}, trace: 1, attributes: map[string]any{"k": int64(1)},
			}}, nil)
			if !dictionary.NewIntegrity(dictionary.NewView(p.Dictionary())).Profile(dictionarytest.FirstProfile(p)) {
				t.Fatal("broken before the damage")
			}
			damage(p, dictionarytest.FirstProfile(p).Samples().At(0))
			if dictionary.NewIntegrity(dictionary.NewView(p.Dictionary())).Profile(dictionarytest.FirstProfile(p)) {
				t.Error("the damage is not seen")
			}
			dictionary.Compact(p)
			if !dictionary.NewIntegrity(dictionary.NewView(p.Dictionary())).Profile(dictionarytest.FirstProfile(p)) {
				t.Error("broken references survive")
			}
		})
	}
}

func TestEditorWritesZeroEntries(t *testing.T) {
	p := build(nil, nil)
	pprofile.NewProfilesDictionary().CopyTo(p.Dictionary())
	e := dictionary.NewEditor(p.Dictionary())
	s := dictionarytest.FirstProfile(p).Samples().AppendEmpty()
	s.Values().Append(1)
	dictionary.SetAttributes(s.AttributeIndices(), e.Attribute("k", pcommon.NewValueStr("v")))
	s.SetStackIndex(int32(e.Stack([]dictionary.LocationIndex{e.Location(dictionary.Location{Address: 1})})))
	dictionary.SetValueType(dictionarytest.FirstProfile(p).SampleType(), e.String("samples"), e.String("count"))
	dictionary.Compact(p)
	mustBeClean(t, 0, p)
	if value, ok := dictionary.NewView(p.Dictionary()).Get(s.AttributeIndices(), "k"); !ok || value.Str() != "v" || s.StackIndex() == 0 {
		t.Errorf("got %v, stack %d", value, s.StackIndex())
	}
}

func TestAddSaturated(t *testing.T) {
	for _, c := range [][3]int64{
		{1, 2, 3}, {-1, 1, 0}, {math.MaxInt64, 1, math.MaxInt64}, {math.MinInt64, -1, math.MinInt64},
		{math.MinInt64, math.MinInt64, math.MinInt64}, {math.MaxInt64, math.MinInt64, -1},
	} {
		if got := dictionary.AddSaturated(c[0], c[1]); got != c[2] {
			t.Errorf("%d + %d = %d, want %d", c[0], c[1], got, c[2])
		}
	}
}
