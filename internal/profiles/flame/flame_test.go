// SPDX-License-Identifier: Apache-2.0

package flame_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/flame"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
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

// text returns a pruned tree as text: depth, name, total/self.
func text(g *flame.Graph, list []flame.Visible) (lines []string) {
	depth := make([]int, len(list))
	for i, v := range list {
		name := "all"
		if v.Parent >= 0 {
			depth[i] = depth[v.Parent] + 1
		}
		if v.Node.Frame >= 0 {
			name = g.Frames[v.Node.Frame].Name
		}
		line := fmt.Sprintf("%s%s %s/%s", strings.Repeat(" ", depth[i]), name, time.Duration(v.Node.Total), time.Duration(v.Node.Self))
		if v.Node.Start != 0 {
			line += fmt.Sprintf(" @%s", time.Duration(v.Node.Start-timelinetest.Start))
		}
		if v.Hidden {
			line += " …"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestMerged(t *testing.T) {
	g, err := flame.New(all(read(shop...)))
	require.NoError(t, err)
	list, smallest := g.Tree.Prune(flame.Part{Most: 100}, g.Heaviest)
	assert.Equal(t, []string{
		"all 50ms/0s",
		" main 50ms/0s",
		"  handle 40ms/10ms",
		"   libquery 30ms/30ms",
		"  render 10ms/0s",
		"   main 10ms/10ms",
	}, text(g, list))
	assert.Equal(t, int64(1), smallest)
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

func TestPrune(t *testing.T) {
	g, err := flame.New(all(read(shop...)))
	require.NoError(t, err)
	list, smallest := g.Tree.Prune(flame.Part{Share: 0.5, Most: 100}, g.Heaviest)
	assert.Equal(t, []string{"all 50ms/0s", " main 50ms/0s …", "  handle 40ms/10ms", "   libquery 30ms/30ms"}, text(g, list))
	assert.Equal(t, int64(25*ms), smallest)

	list, smallest = g.Tree.Prune(flame.Part{Most: 3}, g.Heaviest)
	assert.Equal(t, []string{"all 50ms/0s", " main 50ms/0s …", "  handle 40ms/10ms …"}, text(g, list))
	assert.Equal(t, int64(30*ms)+1, smallest)

	handle := list[2].ID
	list, _ = g.Tree.Prune(flame.Part{Root: handle, Most: 100}, g.Heaviest)
	assert.Equal(t, []string{"handle 40ms/10ms", " libquery 30ms/30ms"}, text(g, list))
	assert.Equal(t, int32(-1), list[0].Parent)
	ancestors := g.Tree.Ancestors(handle)
	require.Len(t, ancestors, 2)
	assert.Zero(t, ancestors[0])
}

func TestInOrder(t *testing.T) {
	o, err := flame.InOrder(all(read(shop...)), 1000)
	require.NoError(t, err)
	list, _ := o.Tree.Prune(flame.Part{Most: 100}, o.Earliest)
	assert.Equal(t, []string{
		"all 50ms/0s",
		" main 40ms/0s @0s",
		"  handle 40ms/10ms @0s",
		"   libquery 20ms/20ms @0s",
		"   libquery 10ms/10ms @30ms",
		" main 10ms/0s @50ms", // after a pause it is another call
		"  render 10ms/0s @50ms",
		"   main 10ms/10ms @50ms",
	}, text(o.Graph, list))
	assert.Equal(t, []uint64{timelinetest.Start, timelinetest.Start + uint64(60*ms)}, []uint64{o.From, o.To})
	assert.Equal(t, int64(10*ms), o.Idle)

	coarse, err := flame.InOrder(all(read(shop...)), 1)
	require.NoError(t, err)
	list, _ = coarse.Tree.Prune(flame.Part{Most: 100}, coarse.Earliest)
	assert.Equal(t, []string{"all 60ms/0s", " main 60ms/0s @0s", "  handle 60ms/0s @0s", "   libquery 60ms/60ms @0s"}, text(coarse.Graph, list),
		"the longest of combined samples")
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
	if testing.Short() {
		t.Skip("walks 60 million frames")
	}
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
	_, err = flame.InOrder(all(bomb), 1<<20)
	assert.ErrorIs(t, err, timeline.ErrTooLarge)
	_, err = g.Describe(all(bomb), 0)
	assert.ErrorIs(t, err, timeline.ErrTooLarge)
}

func TestNothing(t *testing.T) {
	g, err := flame.New(all())
	require.NoError(t, err)
	list, _ := g.Tree.Prune(flame.Part{Most: 10}, g.Heaviest)
	assert.Len(t, list, 1)
	o, err := flame.InOrder(all(), 1000)
	require.NoError(t, err)
	assert.Zero(t, o.To)
}
