// SPDX-License-Identifier: Apache-2.0

package timeline_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

const ms = time.Millisecond

func read(shape timelinetest.Shape, samples ...timelinetest.Sample) *timeline.Profile {
	message := timelinetest.Message("shop", shape, samples...)
	return timelinetest.Read(message.Dictionary(), timelinetest.Profile(message))
}

// lines returns a text line per sample.
func lines(p *timeline.Profile, filter timeline.Filter) (list []string) {
	for t, s := range p.Selected(filter) {
		var names []string
		for _, location := range p.Stacks[s.Stack] {
			for _, line := range p.Locations[location].Lines {
				names = append(names, p.Frames[line.Frame].Name)
			}
		}
		at := time.Duration(s.Time - timelinetest.Start)
		if s.Time == 0 {
			at = -1
		}
		list = append(list, fmt.Sprintf("%s@%s %s +%s x%d", p.Threads[t].ID, at, strings.Join(names, "<"), time.Duration(s.Weight), s.Count))
	}
	return list
}

func TestWallTimeIsTheGapToTheNextSampleOfTheThread(t *testing.T) {
	p := read(timelinetest.Wall,
		timelinetest.Sample{Thread: 1, Stack: "main;a", At: []time.Duration{0, 30 * ms}},
		timelinetest.Sample{Thread: 1, Stack: "main;b", At: []time.Duration{12 * ms}},
		timelinetest.Sample{Thread: 2, Stack: "main;a", At: []time.Duration{5 * ms, 9 * ms, 3 * time.Second}},
		timelinetest.Sample{Thread: 2, At: []time.Duration{7 * ms}},
		timelinetest.Sample{Thread: 3, Stack: "(root);(idle)", At: []time.Duration{0}},
		timelinetest.Sample{Thread: 2, Stack: "main;c", At: []time.Duration{5 * ms}},
	)
	assert.Equal(t, []string{
		"1@0s a<main +12ms x1",
		"1@12ms b<main +18ms x1",
		"1@30ms a<main +10ms x1", // the last: one period
		"2@5ms a<main +1ms x1",
		"2@5ms c<main +1ms x1", // at one instant: half of the gap each
		"2@7ms  +2ms x1",
		"2@9ms a<main +6ms x1", // before a hole: three times the median
		"2@3s a<main +10ms x1",
		"3@0s  +10ms x1", // V8's way to say so
	}, lines(p, timeline.Filter{}))
	assert.Equal(t, timeline.Measure{Type: "wall", Unit: "nanoseconds"}, p.Measure)
	assert.Equal(t, "main", p.Threads[0].Name)
	assert.Zero(t, p.Broken)
	assert.Equal(t, uint64(timelinetest.Start), p.Start)
	assert.Equal(t, uint64(timelinetest.Start+3010*ms), p.End)
}

// Producers name the same time differently: the page shows all of it in nanoseconds of its clock.
func TestTypesOfProducers(t *testing.T) {
	for name, c := range map[string]struct {
		shape   timelinetest.Shape
		measure timeline.Measure
		weight  int64
	}{
		"async-profiler":        {timelinetest.Shape{Type: "ctimer", Unit: "count", PeriodType: "ctimer", PeriodUnit: "ns"}, timeline.Measure{Type: "cpu", Unit: "nanoseconds"}, 3 * int64(timelinetest.Interval)},
		"async-profiler, wall":  {timelinetest.Shape{Type: "wall", Unit: "count", PeriodType: "wall", PeriodUnit: "ns"}, timeline.Measure{Type: "wall", Unit: "nanoseconds"}, 3 * int64(timelinetest.Interval)},
		"async-profiler, total": {timelinetest.Shape{Type: "itimer", Unit: "ns", PeriodType: "itimer", PeriodUnit: "ns"}, timeline.Measure{Type: "cpu", Unit: "nanoseconds"}, 3},
		"microseconds":          {timelinetest.Shape{Type: "cpu", Unit: "microseconds", PeriodType: "cpu", PeriodUnit: "nanoseconds"}, timeline.Measure{Type: "cpu", Unit: "nanoseconds"}, 3000},
		"async-profiler, locks": {timelinetest.Shape{Type: "lock_tracer", Unit: "count", PeriodType: "lock_tracer", PeriodUnit: "ns"}, timeline.Measure{Type: "lock_tracer", Unit: "count"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			p := read(c.shape, timelinetest.Sample{Stack: "main;a", Values: []int64{3}})
			assert.Equal(t, c.measure, p.Measure)
			assert.Equal(t, c.weight, p.Threads[0].Samples[0].Weight)
		})
	}
}

func TestShapes(t *testing.T) {
	times := []time.Duration{0, 7 * ms}
	for name, c := range map[string]struct {
		shape   timelinetest.Shape
		sample  timelinetest.Sample
		measure timeline.Measure
		want    []string
	}{
		"cpu: the period": {timelinetest.Shape{Type: "samples", Unit: "count", PeriodType: "cpu", PeriodUnit: "nanoseconds"}, timelinetest.Sample{Thread: 1, Stack: "a", At: times},
			timeline.Measure{Type: "cpu", Unit: "nanoseconds"}, []string{"1@0s a +10ms x1", "1@7ms a +10ms x1"}},
		"no thread": {timelinetest.Wall, timelinetest.Sample{Stack: "a", At: times},
			timeline.Measure{Type: "wall", Unit: "nanoseconds"}, []string{"@0s a +7ms x1", "@7ms a +10ms x1"}},
		"a count of samples": {timelinetest.Wall, timelinetest.Sample{Thread: 1, Stack: "a", Values: []int64{5}},
			timeline.Measure{Type: "wall", Unit: "nanoseconds"}, []string{"1@-1ns a +50ms x5"}},
		"no period": {timelinetest.Shape{Type: "samples", Unit: "count"}, timelinetest.Sample{Thread: 1, Stack: "a", At: times},
			timeline.Measure{Type: "samples", Unit: "count"}, []string{"1@0s a +1ns x1", "1@7ms a +1ns x1"}},
		"bytes": {timelinetest.Shape{Type: "alloc_space", Unit: "bytes", PeriodType: "space", PeriodUnit: "bytes"}, timelinetest.Sample{Stack: "a", Values: []int64{512}},
			timeline.Measure{Type: "alloc_space", Unit: "bytes"}, []string{"@-1ns a +512ns x1"}},
		"a value per time": {timelinetest.Shape{Type: "off_cpu", Unit: "nanoseconds"}, timelinetest.Sample{Thread: 1, Stack: "a", At: times, Values: []int64{3, 4}},
			timeline.Measure{Type: "off_cpu", Unit: "nanoseconds"}, []string{"1@0s a +3ns x1", "1@7ms a +4ns x1"}},
		"more than there is room for": {timelinetest.Wall, timelinetest.Sample{Stack: "a", Values: []int64{math.MaxInt64}},
			timeline.Measure{Type: "wall", Unit: "nanoseconds"}, []string{"@-1ns a +2562047h47m16.854775807s x9223372036854775807"}},
	} {
		p := read(c.shape, c.sample)
		assert.Equal(t, c.measure, p.Measure, name)
		assert.Equal(t, c.want, lines(p, timeline.Filter{}), name)
	}
}

func TestFilter(t *testing.T) {
	p := read(timelinetest.Wall,
		timelinetest.Sample{Thread: 1, Stack: "a", Span: 7, At: []time.Duration{0, 10 * ms}},
		timelinetest.Sample{Thread: 1, Stack: "a", At: []time.Duration{20 * ms}},
		timelinetest.Sample{Thread: 2, Stack: "b", Span: 7, At: []time.Duration{20 * ms}},
		timelinetest.Sample{Thread: 2, Stack: "b", Span: 8, At: []time.Duration{30 * ms}},
	)
	span := &timeline.Link{Trace: timelinetest.Trace(7), Span: timelinetest.Span(7)}
	second, found := p.FindThread("2")
	require.True(t, found)
	from := timeline.Range{From: timelinetest.Start + uint64(20*ms)}

	assert.Equal(t, []string{"1@0s a +10ms x1", "1@10ms a +10ms x1", "2@20ms b +10ms x1"}, lines(p, timeline.Filter{Link: span}))
	assert.Equal(t, []string{"2@20ms b +10ms x1"}, lines(p, timeline.Filter{Link: span, Thread: &second}))
	assert.Equal(t, []string{"1@20ms a +10ms x1", "2@20ms b +10ms x1", "2@30ms b +10ms x1"}, lines(p, timeline.Filter{Range: from}))
	from.To = from.From + uint64(10*ms)
	assert.Equal(t, []string{"1@20ms a +10ms x1", "2@20ms b +10ms x1"}, lines(p, timeline.Filter{Range: from}), "half-open")
	assert.Equal(t, []string{"1@20ms a +10ms x1"}, lines(p, timeline.Filter{Link: &timeline.Link{}}), "samples without a span")
	_, found = p.FindThread("3")
	assert.False(t, found)
}

func TestFrames(t *testing.T) {
	p := read(timelinetest.Wall,
		timelinetest.Sample{Thread: 1, Stack: "main;libwork", At: []time.Duration{0}},
		timelinetest.Sample{Thread: 1, Stack: "libwork", At: []time.Duration{10 * ms}}, // on another line
	)
	require.Len(t, p.Frames, 2, "a function on two lines is one function")
	assert.Equal(t, timeline.Frame{Name: "libwork", File: "/app/libwork.py", InApp: timeline.InAppNo}, p.Frames[0])
	assert.Equal(t, timeline.InAppYes, p.Frames[1].InApp)
	assert.Len(t, p.Locations, 3)
	assert.Equal(t, []timeline.Line{{Frame: 0, Line: 20, Column: 3}}, p.Locations[0].Lines)
}

func TestNamesOfFramesWithoutName(t *testing.T) {
	message := pprofile.NewProfiles()
	b := dictionary.NewBuilder(message.Dictionary())
	mapping := b.Mapping(dictionary.Mapping{Start: 0x1000, Limit: 0x2000, Filename: b.String("/lib/libshop.so")})
	line := func(f dictionary.Function) []dictionary.Line { return []dictionary.Line{{Function: b.Function(f)}} }
	stack := b.Stack([]dictionary.LocationIndex{
		b.Location(dictionary.Location{Address: 0x1234, Mapping: mapping}),
		b.Location(dictionary.Location{Address: 0x99}),
		b.Location(dictionary.Location{Lines: line(dictionary.Function{SystemName: b.String("_Zmain")})}),
		b.Location(dictionary.Location{Lines: line(dictionary.Function{Filename: b.String("/srv/app.js")})}),
		b.Location(dictionary.Location{Lines: []dictionary.Line{{Line: 3}}}),
	})
	p := message.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	sample := p.Samples().AppendEmpty()
	sample.SetStackIndex(int32(stack))
	sample.Values().Append(1)
	b.Finish()
	assert.Equal(t, []string{"@-1ns libshop.so+0x234<0x99<_Zmain<(anonymous in app.js)<(unknown) +1ns x1"},
		lines(timelinetest.Read(message.Dictionary(), p), timeline.Filter{}))
}

// TestBroken: broken references of a message are not followed.
func TestBrokenReferences(t *testing.T) {
	message := timelinetest.Message("shop", timelinetest.Wall,
		timelinetest.Sample{Thread: 1, Stack: "main;a", Span: 1, At: []time.Duration{0}})
	d, p := message.Dictionary(), timelinetest.Profile(message)
	d.StackTable().At(1).LocationIndices().SetAt(0, 99)
	d.FunctionTable().At(1).SetNameStrindex(-5)
	d.LinkTable().At(1).SetSpanID([8]byte{})
	p.PeriodType().SetUnitStrindex(1 << 30)
	broken := p.Samples().AppendEmpty()
	broken.SetStackIndex(77)
	broken.TimestampsUnixNano().Append(timelinetest.Start, timelinetest.Start)
	broken.Values().Append(1)
	p.Samples().AppendEmpty().AttributeIndices().Append(50)

	got := timelinetest.Read(d, p)
	assert.Equal(t, []string{"1@0s (anonymous in main.py) +1ns x1"}, lines(got, timeline.Filter{}))
	assert.Positive(t, got.Broken)
}

// Symbolicated frames have both names.
func TestRawNames(t *testing.T) {
	message := pprofile.NewProfiles()
	b := dictionary.NewBuilder(message.Dictionary())
	name := func(name, file string) dictionary.FunctionIndex {
		return b.Function(dictionary.Function{Name: b.String(name), SystemName: b.String("n"), Filename: b.String(file)})
	}
	ok, module := b.AttrString("symbolication.status", "ok"), b.AttrString("sentry.frame.module", "com.example.Cart")
	stack := b.Stack([]dictionary.LocationIndex{
		b.Location(dictionary.Location{Lines: []dictionary.Line{{Function: name("price", "item.ts"), Line: 3}, {Function: name("total", "cart.ts"), Line: 7}}, Attributes: []dictionary.AttributeIndex{
			ok, b.AttrString("sentry.frame.raw_function", "n"), b.AttrString("sentry.frame.raw_file", "app.js"), b.AttrInt("sentry.frame.raw_line", 1), b.AttrInt("sentry.frame.raw_column", 99),
		}}),
		b.Location(dictionary.Location{Lines: []dictionary.Line{{Function: name("add", "Cart.kt"), Line: 3}}, Attributes: []dictionary.AttributeIndex{
			ok, module, b.AttrString("sentry.frame.raw_module", "a.b"), b.AttrString("sentry.frame.raw_function", "a"),
		}}),
		b.Location(dictionary.Location{Address: 0x99, Lines: []dictionary.Line{{Function: name("main", "main.cc"), Line: 3}}, Attributes: []dictionary.AttributeIndex{ok}}),
		b.Location(dictionary.Location{Lines: []dictionary.Line{{Function: name("same", "x.js"), Line: 5}}, Attributes: []dictionary.AttributeIndex{b.AttrString("symbolication.status", "no_symbol")}}),
	})
	p := message.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	sample := p.Samples().AppendEmpty()
	sample.SetStackIndex(int32(stack))
	sample.Values().Append(1)
	b.Finish()
	named := timelinetest.Read(message.Dictionary(), p)
	assert.True(t, named.Symbolicated)
	assert.Equal(t, []string{"@-1ns price<total<add<main<same +1ns x1"}, lines(named, timeline.Filter{}))
	reader := timeline.NewReader(message.Dictionary())
	reader.Raw()
	raw := reader.Read(p)
	assert.True(t, raw.Symbolicated)
	assert.Equal(t, []string{"@-1ns n<a<0x99<same +1ns x1"}, lines(raw, timeline.Filter{}))
	assert.Equal(t, timeline.Frame{Name: "n", File: "app.js", InApp: raw.Frames[0].InApp, Guessed: raw.Frames[0].Guessed}, raw.Frames[0])
	assert.Equal(t, []timeline.Line{{Frame: 0, Line: 1, Column: 99}}, raw.Locations[0].Lines)
	assert.Equal(t, "a.b", raw.Frames[1].Module)
	assert.True(t, reader.Read(p).Symbolicated, "also a profile without new locations")
}
