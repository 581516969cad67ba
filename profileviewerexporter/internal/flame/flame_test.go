// SPDX-License-Identifier: Apache-2.0

package flame_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/flame"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/flame/flametest"
)

const ms = time.Millisecond

func read(samples ...timelinetest.Sample) *timeline.Profile {
	message := timelinetest.Message("shop", timelinetest.Wall, samples...)
	return timelinetest.Read(message.Dictionary(), timelinetest.Profile(message))
}

func all(profiles ...*timeline.Profile) flame.Source {
	return func(visit func(flame.Selection) error) error {
		for _, p := range profiles {
			if err := visit(flame.Selection{Profile: p}); err != nil {
				return err
			}
		}
		return nil
	}
}

var shop = []timelinetest.Sample{
	{Thread: 1, Stack: "main;handle;libquery", Span: 7, At: []time.Duration{0, 10 * ms, 30 * ms}},
	{Thread: 1, Stack: "main;handle", Span: 8, At: []time.Duration{20 * ms}},
	{Thread: 1, At: []time.Duration{40 * ms}},
	{Thread: 1, Stack: "main;render;main", At: []time.Duration{50 * ms}},
}

// text returns boxes as text: depth, name, weight/self, and the start and the extent where they
// tell more.
func text(g *flame.Graph, drawing flame.Drawing) (lines []string) {
	at := int64(0)
	for _, b := range drawing.Boxes {
		name := map[int32]string{flame.RootFrame: "all", flame.IdleFrame: "idle"}[b.Frame]
		if b.Frame >= 0 {
			name = g.Frames[b.Frame].Name
		}
		line := fmt.Sprintf("%s%s %s/%s", strings.Repeat(" ", int(b.Depth)), name, time.Duration(b.Weight), time.Duration(b.Self))
		if b.Start != at {
			line += fmt.Sprintf(" @%s", time.Duration(b.Start))
			at = b.Start
		}
		if b.Extent != b.Weight {
			line += fmt.Sprintf(" over %s", time.Duration(b.Extent))
		}
		if b.Combined > 0 {
			line += fmt.Sprintf(" ×%d", b.Combined)
		}
		if b.Found {
			line += " found"
		}
		lines = append(lines, line)
	}
	return lines
}

var whole = flame.Window{Pixels: 1000, Most: 100}

func TestMerged(t *testing.T) {
	g, err := flame.New(all(read(shop...)))
	require.NoError(t, err)
	drawing := g.Draw(whole)
	assert.Equal(t, []string{
		"all 50ms/0s",
		" main 50ms/0s",
		"  handle 40ms/10ms",
		"   libquery 30ms/30ms",
		"  render 10ms/0s @40ms",
		"   main 10ms/10ms",
	}, text(g, drawing))
	assert.Equal(t, int64(50*ms)/1000, drawing.Smallest)
	assert.Equal(t, int64(10*ms), g.Idle)
	assert.Equal(t, int64(5), g.Samples)

	var top []string
	for _, f := range g.Top() {
		top = append(top, fmt.Sprint(g.Frames[f.Frame].Name, " ", time.Duration(f.Self), " ", time.Duration(f.Total)))
	}
	assert.Equal(t, []string{"libquery 30ms 30ms", "main 10ms 50ms", "handle 10ms 40ms", "render 0s 10ms"}, top, "recursion counts once")

	twice, err := flame.New(all(read(shop...), read(shop...)))
	require.NoError(t, err)
	assert.Equal(t, 2*g.Tree[0].Total, twice.Tree[0].Total)
	assert.Len(t, twice.Tree, len(g.Tree), "the same functions")
}

// TestTop: Top lists functions with any weight, and none without.
func TestTop(t *testing.T) {
	p := read(timelinetest.Sample{Thread: 1, Stack: "main", At: []time.Duration{0}}, timelinetest.Sample{Thread: 1, Stack: "none", At: []time.Duration{10 * ms}})
	p.Threads[0].Samples[0].Weight, p.Threads[0].Samples[1].Weight = 1, 0
	g, err := flame.New(all(p))
	require.NoError(t, err)
	top := g.Top()
	require.Len(t, top, 1)
	assert.Equal(t, []any{"main", int64(1), int64(1)}, []any{g.Frames[top[0].Frame].Name, top[0].Self, top[0].Total})
}

// TestNarrow: boxes below one pixel are combined, and visible in the sum.
func TestNarrow(t *testing.T) {
	g, err := flame.New(all(read(shop...)))
	require.NoError(t, err)
	assert.Equal(t, []string{"all 50ms/0s", " main 50ms/0s", "  handle 40ms/10ms", "   libquery 30ms/30ms", "  render 10ms/10ms @40ms ×1"},
		text(g, g.Draw(flame.Window{Pixels: 2, Most: 100})), "25 ms per pixel")
	assert.Equal(t, []string{"all 50ms/0s", " main 50ms/0s", "  handle 50ms/50ms ×2"},
		text(g, g.Draw(flame.Window{Pixels: 1, Most: 3})), "not more than three boxes")
	assert.Equal(t, []string{"all 50ms/0s", " main 50ms/0s", "  render 10ms/0s @40ms", "   main 10ms/10ms"},
		text(g, g.Draw(flame.Window{From: int64(40 * ms), To: int64(50 * ms), Pixels: 1000, Most: 100})), "a part of it")
	assert.Equal(t, []string{"all 50ms/0s", " main 50ms/0s", "  handle 50ms/50ms ×2 found"},
		text(g, g.Draw(flame.Window{Pixels: 1, Most: 3, Match: matching(g, "render")})), "of the combined functions, one matches")
	assert.Equal(t, int64(50*ms), g.Matched(matching(g, "main")), "a match in a match counts once")
	assert.Equal(t, int64(30*ms), g.Matched(matching(g, "libquery")))
}

func matching(g *flame.Graph, name string) []bool {
	list := make([]bool, len(g.Frames))
	for i, f := range g.Frames {
		list[i] = f.Name == name
	}
	return list
}

func TestInOrder(t *testing.T) {
	o, err := flame.InOrder(all(read(shop...)))
	require.NoError(t, err)
	assert.Equal(t, []string{
		"all 50ms/0s over 60ms",
		" main 40ms/0s",
		"  handle 40ms/10ms",
		"   libquery 20ms/20ms",
		"   libquery 10ms/10ms @30ms",
		" idle 0s/0s @40ms over 10ms",
		" main 10ms/0s @50ms", // after a pause it is another call
		"  render 10ms/0s",
		"   main 10ms/10ms",
	}, text(o.Graph, o.Draw(whole, timelinetest.Start)))
	assert.Equal(t, []uint64{timelinetest.Start, timelinetest.Start + uint64(60*ms)}, []uint64{o.From, o.To})
	assert.Equal(t, []int64{int64(10 * ms), int64(50 * ms), 5}, []int64{o.Idle, o.Tree[0].Total, o.Samples})

	assert.Equal(t, []string{"all 50ms/0s over 60ms", " main 50ms/50ms over 60ms ×2"},
		text(o.Graph, o.Draw(flame.Window{Pixels: 1, Most: 100}, timelinetest.Start)), "the pause is narrower than a pixel, too")
	assert.Equal(t, []string{"all 50ms/0s over 60ms", " main 40ms/0s", "  handle 40ms/10ms", "   libquery 10ms/10ms @30ms", " idle 0s/0s @40ms over 10ms"},
		text(o.Graph, o.Draw(flame.Window{From: int64(30 * ms), To: int64(50 * ms), Pixels: 1000, Most: 100}, timelinetest.Start)), "a part of it")
}

// TestNothingIsMissing draws graphs of random calls in random windows. In each, the boxes without
// children of their own weigh what the samples of the window weigh.
func TestNothingIsMissing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var samples []timelinetest.Sample
		at := time.Duration(0)
		for range 1 + random.IntN(300) {
			var names []string
			for range random.IntN(6) {
				names = append(names, string(rune('a'+random.IntN(4))))
			}
			samples = append(samples, timelinetest.Sample{Thread: 1, Stack: strings.Join(names, ";"), At: []time.Duration{at}})
			at += time.Duration(1+random.IntN(30)) * ms
		}
		p := read(samples...)
		g, err := flame.New(all(p))
		require.NoError(t, err)
		o, err := flame.InOrder(all(p))
		require.NoError(t, err)
		require.Equal(t, []int64{g.Tree[0].Total, g.Idle}, []int64{o.Tree[0].Total, o.Idle})
		w := flame.Window{Pixels: 1 + random.IntN(400), Most: 8 + random.IntN(200)}
		for _, drawing := range []flame.Drawing{g.Draw(w), o.Draw(w, timelinetest.Start)} {
			require.LessOrEqual(t, len(drawing.Boxes), w.Most)
			require.Equal(t, g.Tree[0].Total, flametest.Self(drawing))
		}
		w.From = random.Int64N(g.Tree[0].Total + 1)
		w.To = w.From + 1 + random.Int64N(g.Tree[0].Total+1)
		require.InDelta(t, float64(min(w.To, g.Tree[0].Total)-w.From), float64(flametest.Drawn(g.Draw(w), w)), 1)
		drawing := o.Draw(w, timelinetest.Start)
		busy := flametest.Busy(p.Threads[0].Samples, w, timelinetest.Start)
		require.InDelta(t, float64(busy), float64(flametest.Drawn(drawing, w)), float64(2*drawing.Smallest+int64(len(drawing.Boxes))),
			"calls at the edges of the window")
	}
}

// TestCollapse: calls inside a library are left out, and their weight is that of the call into it.
func TestCollapse(t *testing.T) {
	p := read(
		timelinetest.Sample{Thread: 1, Stack: "main;libweb;libroute;handle;libdb;libsocket", At: []time.Duration{0, 10 * ms}},
		timelinetest.Sample{Thread: 1, Stack: "main;libweb;liblog", At: []time.Duration{20 * ms}},
	)
	source := func(visit func(flame.Selection) error) error {
		return visit(flame.Selection{Profile: p, Collapse: true})
	}
	g, err := flame.New(source)
	require.NoError(t, err)
	want := []string{"all 30ms/0s", " main 30ms/0s", "  libweb 30ms/10ms", "   handle 20ms/0s", "    libdb 20ms/20ms"}
	assert.Equal(t, want, text(g, g.Draw(whole)))
	o, err := flame.InOrder(source)
	require.NoError(t, err)
	assert.Equal(t, want, text(o.Graph, o.Draw(whole, timelinetest.Start)))
}

func TestDescribe(t *testing.T) {
	p := read(append(shop, timelinetest.Sample{Thread: 1, Stack: "libquery", Span: 7, At: []time.Duration{60 * ms}})...)
	g, err := flame.New(all(p))
	require.NoError(t, err)
	describe := func(name string) *flame.Detail {
		for i, f := range g.Frames {
			if f.Name == name {
				d, err := g.Describe(all(p), int32(i))
				require.NoError(t, err)
				return d
			}
		}
		t.Fatal(name)
		return nil
	}
	d := describe("libquery")
	assert.Equal(t, []int64{int64(40 * ms), int64(40 * ms), 4}, []int64{d.Self, d.Total, d.Samples})
	assert.Equal(t, []flame.LineWeight{
		{Line: 30, Column: 3, Self: int64(30 * ms), Total: int64(30 * ms)},
		{Line: 10, Column: 3, Self: int64(10 * ms), Total: int64(10 * ms)},
	}, d.Lines)
	span := timeline.Link{Trace: timelinetest.Trace(7), Span: timelinetest.Span(7)}
	assert.Equal(t, []flame.SpanWeight{{Link: span, Total: int64(40 * ms)}}, d.Spans)
	assert.Equal(t, []flame.AttributeValues{{Key: "sentry.frame.in_app", Values: []string{"false"}}}, d.Attributes)

	main := describe("main")
	assert.Equal(t, []int64{int64(10 * ms), int64(50 * ms)}, []int64{main.Self, main.Total})
	assert.Equal(t, []flame.LineWeight{
		{Line: 10, Column: 3, Total: int64(50 * ms)},
		{Line: 30, Column: 3, Self: int64(10 * ms), Total: int64(10 * ms)},
	}, main.Lines)
	assert.Len(t, main.Spans, 3, "two spans, and no span")
}

// TestDepth: deep stacks are cut, and a message with too many references to them is an error.
func TestBounds(t *testing.T) {
	testsize.NeedFull(t)
	deep := strings.TrimSuffix(strings.Repeat("f;", 3000), ";")
	g, err := flame.New(all(read(timelinetest.Sample{Thread: 1, Stack: deep, At: []time.Duration{0}})))
	require.NoError(t, err)
	assert.Len(t, g.Tree, flame.MaxDepth+1)
	assert.Equal(t, int64(1), g.Cut)
	assert.Equal(t, int64(10*ms), g.Top()[0].Total)

	bomb := read(timelinetest.Sample{Thread: 1, Stack: strings.TrimSuffix(strings.Repeat("f;", 900), ";"), At: []time.Duration{0}})
	one := bomb.Threads[0].Samples[0]
	for range timeline.MaxExportedFrames/900 + 1 {
		one.Stack++
		one.Time += uint64(2 * one.Weight)
		bomb.Stacks = append(bomb.Stacks, bomb.Stacks[1])
		bomb.Threads[0].Samples = append(bomb.Threads[0].Samples, one)
	}
	_, err = flame.New(all(bomb))
	assert.ErrorIs(t, err, timeline.ErrTooLarge)
	_, err = flame.InOrder(all(bomb))
	assert.ErrorIs(t, err, timeline.ErrTooLarge)
	_, err = g.Describe(all(bomb), 0)
	assert.ErrorIs(t, err, timeline.ErrTooLarge)

	at := make([]time.Duration, 1<<20) // the most that the graph by time has
	for i := range at {
		at[i] = time.Duration(i)
	}
	_, err = flame.InOrder(all(read(timelinetest.Sample{Thread: 1, Stack: "f", At: at})))
	require.NoError(t, err)
	_, err = flame.InOrder(all(read(timelinetest.Sample{Thread: 1, Stack: "f", At: append(at, 1<<20)})))
	assert.ErrorIs(t, err, timeline.ErrTooLarge)
}

func TestNothing(t *testing.T) {
	g, err := flame.New(all())
	require.NoError(t, err)
	assert.Len(t, g.Draw(whole).Boxes, 1)
	o, err := flame.InOrder(all())
	require.NoError(t, err)
	assert.Zero(t, o.To)
	assert.Len(t, o.Draw(whole, 0).Boxes, 1)
}
