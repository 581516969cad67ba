// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/flame"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
)

const (
	// smallestShare of what is shown that a node of a flame graph must have: less than one pixel of a thousand is not seen.
	smallestShare = 0.001
	// mostNodes of a flame graph: browsers move some thousand rectangles at ease. Of recorded profiles, the busiest has 900 at
	// that share.
	mostNodes = 2000
	// orderedSteps is how many samples of a thread a graph in the order of time shows.
	orderedSteps = 1000
	// maxTop is how many functions the table lists.
	maxTop = 200
)

// graphAnswer is what both kinds of graph have in common.
type graphAnswer struct {
	omissions
	Profiles []string      `json:"profiles"` // for further requests about the same samples
	Origin   string        `json:"origin"`
	Measure  measureAnswer `json:"measure"`
	Total    int64         `json:"total"` // of the whole selection
	Idle     int64         `json:"idle"`
	Samples  int64         `json:"samples"`
	Cut      int64         `json:"cut"`      // samples with more than so many functions on their stack
	Smallest int64         `json:"smallest"` // nodes below are not in the list
	Hidden   bool          `json:"hidden"`   // there are such
	Frames   []frameAnswer `json:"frames"`   // those of the nodes
}

// frameAnswer is a function.
type frameAnswer struct {
	Number int32  `json:"number"` // for requests about it
	Name   string `json:"name"`
	File   string `json:"file,omitempty"`
	Module string `json:"module,omitempty"`
	InApp  *bool  `json:"in_app,omitempty"` // absent: not known
}

// flameAnswer is a merged graph. Nodes are numbers, since there are many: id, position of the parent, position of the frame,
// total, self, and 1 where children are hidden. The first is the root; it has no parent and, in the whole graph, no frame: -1.
type flameAnswer struct {
	graphAnswer
	Nodes     [][6]int64 `json:"nodes"`
	Ancestors [][2]int64 `json:"ancestors"` // of the root that was asked for: ids and positions of frames, the outermost first
	Top       []topLine  `json:"top"`       // the most self time first
	// Threads are those of the selection, the heaviest first, no more than maxListed; not if it has one of them.
	Threads []threadShare `json:"threads,omitempty"`
}

type threadShare struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Weight int64  `json:"weight"`
}

type topLine struct {
	frameAnswer
	Self  int64 `json:"self"`
	Total int64 `json:"total"`
}

// orderedAnswer is a graph in the order of time. Nodes: id, position of the parent, position of the frame, nanoseconds after the
// origin, duration, and 1 where children are hidden.
type orderedAnswer struct {
	graphAnswer
	From       uint64     `json:"from"` // nanoseconds after the origin
	To         uint64     `json:"to"`
	Resolution uint64     `json:"resolution"` // nanoseconds; of samples closer together the longest is drawn
	Nodes      [][6]int64 `json:"nodes"`
}

func (v *viewer) flameGraph(r *http.Request) (any, error) {
	query := r.URL.Query()
	s, err := v.selectionOf(query)
	if err != nil {
		return nil, err
	}
	var out flameAnswer
	var threads threadShares
	graph, err := flame.New(func(visit func(flame.Selection) error) error {
		return s.each(func(one flame.Selection) error {
			threads.add(one)
			return visit(one)
		})
	})
	if err != nil {
		return nil, err
	}
	root, err := number(query, "root", len(graph.Tree))
	if err != nil {
		return nil, err
	}
	nodes, smallest := graph.Tree.Prune(flame.Part{Root: root, Share: smallestShare, Most: mostNodes}, graph.Heaviest)
	frames := frameList{positions: map[int32]int64{}}
	for _, n := range nodes {
		out.Nodes = append(out.Nodes, [6]int64{
			int64(n.ID), int64(n.Parent), frames.position(n.Node.Frame), n.Node.Total, n.Node.Self, flag(n.Hidden),
		})
		out.Hidden = out.Hidden || n.Hidden
	}
	out.Ancestors = [][2]int64{}
	if root != 0 {
		for _, id := range graph.Tree.Ancestors(root)[1:] {
			out.Ancestors = append(out.Ancestors, [2]int64{int64(id), frames.position(graph.Tree[id].Frame)})
		}
	}
	out.describe(s, graph, smallest, &frames, maxTexts/2)
	out.Top = []topLine{}
	totals := graph.Top()
	totals = totals[:min(maxTop, len(totals))]
	for _, f := range totals {
		texts := perEntry(maxTexts/4, len(totals), &out.omissions)
		out.Top = append(out.Top, topLine{describeFrame(graph, f.Frame, &texts), f.Self, f.Total})
	}
	if s.thread == nil {
		out.Threads = threads.list(maxTexts/4, &out.omissions)
	}
	return out, nil
}

// threadShares says what is selected of each thread.
type threadShares struct {
	positions map[string]int
	shares    []threadShare
}

func (t *threadShares) add(s flame.Selection) {
	if t.positions == nil {
		t.positions = map[string]int{}
	}
	for i, sample := range s.Profile.Selected(s.Filter) {
		thread := &s.Profile.Threads[i]
		position, known := t.positions[thread.ID]
		if !known {
			position = len(t.shares)
			t.positions[thread.ID] = position
			t.shares = append(t.shares, threadShare{ID: thread.ID, Name: thread.Name})
		}
		if len(s.Profile.Stacks[sample.Stack]) > 0 {
			t.shares[position].Weight += sample.Weight
		}
	}
}

func (t *threadShares) list(bytes int, omissions *omissions) []threadShare {
	slices.SortStableFunc(t.shares, func(a, b threadShare) int { return cmp.Compare(b.Weight, a.Weight) })
	out := t.shares[:min(len(t.shares), maxListed)]
	for i := range out {
		texts := perEntry(bytes, len(out), omissions)
		out[i].ID, out[i].Name = texts.text(out[i].ID), texts.text(out[i].Name)
	}
	return out
}

func (v *viewer) orderedGraph(r *http.Request) (any, error) {
	s, err := v.selectionOf(r.URL.Query())
	if err != nil {
		return nil, err
	}
	if s.thread == nil {
		return nil, badRequest("thread: is missing; only one thread at a time has an order")
	}
	var out orderedAnswer
	graph, err := flame.InOrder(s.each, orderedSteps)
	if err != nil {
		return nil, err
	}
	nodes, smallest := graph.Tree.Prune(flame.Part{Share: smallestShare, Most: mostNodes}, graph.Earliest)
	frames := frameList{positions: map[int32]int64{}}
	for _, n := range nodes {
		out.Nodes = append(out.Nodes, [6]int64{
			int64(n.ID), int64(n.Parent), frames.position(n.Node.Frame), int64(offset(n.Node.Start, s.origin)), n.Node.Total, flag(n.Hidden),
		})
		out.Hidden = out.Hidden || n.Hidden
	}
	out.From, out.To, out.Resolution = offset(graph.From, s.origin), offset(graph.To, s.origin), graph.Resolution
	out.describe(s, graph.Graph, smallest, &frames, maxTexts)
	return out, nil
}

func (a *graphAnswer) describe(s *selection, graph *flame.Graph, smallest int64, frames *frameList, bytes int) {
	for _, p := range s.profiles {
		a.Profiles = append(a.Profiles, strconv.FormatUint(p.id, 10))
	}
	texts := perEntry(bytes, len(frames.list)+1, &a.omissions)
	a.Origin, a.Measure = nanos(s.origin), listMeasure(s.profiles[0].measure, &texts)
	a.Total, a.Idle, a.Samples, a.Cut = graph.Tree[0].Total, graph.Idle, graph.Samples, graph.Cut
	a.Smallest = smallest
	for _, frame := range frames.list {
		texts := perEntry(bytes, len(frames.list)+1, &a.omissions)
		a.Frames = append(a.Frames, describeFrame(graph, frame, &texts))
	}
}

// frameList collects the frames that nodes refer to.
type frameList struct {
	list      []int32
	positions map[int32]int64
}

func (l *frameList) position(frame int32) int64 {
	if frame < 0 {
		return -1
	}
	position, known := l.positions[frame]
	if !known {
		position = int64(len(l.list))
		l.positions[frame] = position
		l.list = append(l.list, frame)
	}
	return position
}

func describeFrame(graph *flame.Graph, number int32, texts *budget) frameAnswer {
	frame := &graph.Frames[number]
	out := frameAnswer{Number: number, Name: texts.text(frame.Name), File: texts.text(frame.File), Module: texts.text(frame.Module)}
	if frame.InApp != timeline.InAppUnknown {
		inApp := frame.InApp == timeline.InAppYes
		out.InApp = &inApp
	}
	return out
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// detailAnswer is everything about one function of a selection.
type detailAnswer struct {
	omissions
	frameAnswer
	System     string         `json:"system,omitempty"`
	StartLine  int64          `json:"start_line,omitempty"`
	Self       int64          `json:"self"`
	Total      int64          `json:"total"`
	Samples    int64          `json:"samples"`
	Lines      []lineAnswer   `json:"lines"`
	LineCount  int            `json:"line_count"`
	Spans      []spanSamples  `json:"spans"`      // that ran it
	Unlinked   int64          `json:"unlinked"`   // weight outside of spans
	Attributes []valuesAnswer `json:"attributes"` // of its places in the code
}

type lineAnswer struct {
	Line    int64  `json:"line,omitempty"`
	Column  int64  `json:"column,omitempty"`
	Address string `json:"address,omitempty"`
	Self    int64  `json:"self"`
	Total   int64  `json:"total"`
}

type valuesAnswer struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
	Unit   string   `json:"unit,omitempty"`
	More   bool     `json:"more,omitempty"` // there are other values
}

// maxLines of a function that are listed.
const maxLines = 50

func (v *viewer) frameDetail(r *http.Request) (any, error) {
	query := r.URL.Query()
	s, err := v.selectionOf(query)
	if err != nil {
		return nil, err
	}
	var out detailAnswer
	spans := map[timeline.Link]linked{}
	graph, err := flame.New(s.each)
	if err != nil {
		return nil, err
	}
	frame, err := number(query, "frame", len(graph.Frames))
	if err != nil {
		return nil, err
	}
	detail, err := graph.Describe(s.each, frame)
	if err != nil {
		return nil, err
	}
	for _, span := range detail.Spans {
		if span.Link == (timeline.Link{}) {
			out.Unlinked = span.Total
		} else {
			spans[span.Link] = linked{weight: span.Total}
		}
	}
	texts := perEntry(maxTexts/4, 1, &out.omissions)
	out.frameAnswer = describeFrame(graph, frame, &texts)
	out.System = texts.text(detail.Frame.System)
	out.describe(detail)
	out.Spans = v.listSpans(spans, maxTexts/4, &out.omissions)
	return out, nil
}

func (a *detailAnswer) describe(d *flame.Detail) {
	a.StartLine = d.Frame.StartLine
	a.Self, a.Total, a.Samples, a.LineCount = d.Self, d.Total, d.Samples, len(d.Lines)
	a.Lines, a.Attributes = []lineAnswer{}, []valuesAnswer{}
	for _, l := range d.Lines[:min(len(d.Lines), maxLines)] {
		line := lineAnswer{Line: l.Line, Column: l.Column, Self: l.Self, Total: l.Total}
		if l.Address != 0 {
			line.Address = "0x" + strconv.FormatUint(l.Address, 16)
		}
		a.Lines = append(a.Lines, line)
	}
	listed := d.Attributes[:min(len(d.Attributes), maxAttributes)]
	for _, values := range listed {
		texts := perEntry(maxTexts/2, len(listed), &a.omissions)
		out := valuesAnswer{Key: texts.text(values.Key), Unit: texts.text(values.Unit), More: values.More}
		for _, value := range values.Values {
			out.Values = append(out.Values, texts.text(value))
		}
		a.Attributes = append(a.Attributes, out)
	}
	if missing := len(d.Attributes) - len(listed); missing > 0 {
		a.Attributes = append(a.Attributes, valuesAnswer{Key: "…", Values: []string{moreText(missing)}})
	}
}
