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
	// smallestShare is the minimum share of a node in a flame graph: one pixel in a thousand.
	smallestShare = 0.001
	// mostNodes is the maximum number of nodes of a flame graph: browsers draw some thousand
	// rectangles without delay. The largest graph of our recordings has 900 nodes above
	// smallestShare.
	mostNodes = 2000
	// orderedSteps is the maximum number of samples in a graph in order of time.
	orderedSteps = 1000
	// maxTop is the maximum number of functions in the table.
	maxTop = 200
)

// graphAnswer is the common part of all graphs.
type graphAnswer struct {
	omissions
	Profiles []string      `json:"profiles"` // for further requests for the same samples
	Origin   string        `json:"origin"`
	Measure  measureAnswer `json:"measure"`
	Total    int64         `json:"total"` // of the selection
	Idle     int64         `json:"idle"`
	Samples  int64         `json:"samples"`
	Cut      int64         `json:"cut"`      // samples whose stacks were cut: they are too deep
	Smallest int64         `json:"smallest"` // nodes with a smaller total are not listed
	Hidden   bool          `json:"hidden"`   // some nodes are not listed
	Frames   []frameAnswer `json:"frames"`   // of the nodes
}

// frameAnswer describes a function.
type frameAnswer struct {
	Number int32  `json:"number"` // in requests for its details
	Name   string `json:"name"`
	File   string `json:"file,omitempty"`
	Module string `json:"module,omitempty"`
	InApp  *bool  `json:"in_app,omitempty"` // absent: unknown
}

// flameAnswer is a merged graph. Nodes are numbers, to save space: ID, index of the parent, index
// of the frame, total, self, and 1 if children are hidden. The first node is the root: its parent
// is -1 and, in a graph of all samples, its frame is -1.
type flameAnswer struct {
	graphAnswer
	Nodes     [][6]int64 `json:"nodes"`
	Ancestors [][2]int64 `json:"ancestors"` // of the requested root: IDs and indices of frames, the outermost first
	Top       []topLine  `json:"top"`       // by self time, the highest first
	// Threads of the selection, the heaviest first, no more than maxListed. Absent if the query
	// selects one.
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

// orderedAnswer is a graph in order of time. Nodes: ID, index of the parent, index of the frame,
// nanoseconds after the origin, duration, and 1 if children are hidden.
type orderedAnswer struct {
	graphAnswer
	From       uint64     `json:"from"` // nanoseconds after the origin
	To         uint64     `json:"to"`
	Resolution uint64     `json:"resolution"` // nanoseconds; of closer samples, the graph contains the longest
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
	frames := frameList{indices: map[int32]int64{}}
	for _, n := range nodes {
		out.Nodes = append(out.Nodes, [6]int64{
			int64(n.ID), int64(n.Parent), frames.index(n.Node.Frame), n.Node.Total, n.Node.Self, flag(n.Hidden),
		})
		out.Hidden = out.Hidden || n.Hidden
	}
	out.Ancestors = [][2]int64{}
	if root != 0 {
		for _, id := range graph.Tree.Ancestors(root)[1:] {
			out.Ancestors = append(out.Ancestors, [2]int64{int64(id), frames.index(graph.Tree[id].Frame)})
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

// threadShares sums the selected samples by thread.
type threadShares struct {
	indices map[string]int
	shares  []threadShare
}

func (t *threadShares) add(s flame.Selection) {
	if t.indices == nil {
		t.indices = map[string]int{}
	}
	for i, sample := range s.Profile.Selected(s.Filter) {
		thread := &s.Profile.Threads[i]
		index, known := t.indices[thread.ID]
		if !known {
			index = len(t.shares)
			t.indices[thread.ID] = index
			t.shares = append(t.shares, threadShare{ID: thread.ID, Name: thread.Name})
		}
		if len(s.Profile.Stacks[sample.Stack]) > 0 {
			t.shares[index].Weight += sample.Weight
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
		return nil, badRequest("thread: is missing; a graph in order of time shows one thread")
	}
	var out orderedAnswer
	graph, err := flame.InOrder(s.each, orderedSteps)
	if err != nil {
		return nil, err
	}
	nodes, smallest := graph.Tree.Prune(flame.Part{Share: smallestShare, Most: mostNodes}, graph.Earliest)
	frames := frameList{indices: map[int32]int64{}}
	for _, n := range nodes {
		out.Nodes = append(out.Nodes, [6]int64{
			int64(n.ID), int64(n.Parent), frames.index(n.Node.Frame), int64(offset(n.Node.Start, s.origin)), n.Node.Total, flag(n.Hidden),
		})
		out.Hidden = out.Hidden || n.Hidden
	}
	out.From, out.To, out.Resolution = offset(graph.From, s.origin), offset(graph.To, s.origin), graph.Resolution
	out.describe(s, graph.Graph, smallest, &frames, maxTexts)
	return out, nil
}

func (a *graphAnswer) describe(s *selection, graph *flame.Graph, smallest int64, frames *frameList, bytes int) {
	for _, p := range s.profiles {
		a.Profiles = append(a.Profiles, strconv.FormatUint(p.ID, 10))
	}
	texts := perEntry(bytes, len(frames.list)+1, &a.omissions)
	a.Origin, a.Measure = nanos(s.origin), listMeasure(s.profiles[0].Measure, &texts)
	a.Total, a.Idle, a.Samples, a.Cut = graph.Tree[0].Total, graph.Idle, graph.Samples, graph.Cut
	a.Smallest = smallest
	for _, frame := range frames.list {
		texts := perEntry(bytes, len(frames.list)+1, &a.omissions)
		a.Frames = append(a.Frames, describeFrame(graph, frame, &texts))
	}
}

// frameList collects the frames that nodes refer to.
type frameList struct {
	list    []int32
	indices map[int32]int64
}

func (l *frameList) index(frame int32) int64 {
	if frame < 0 {
		return -1
	}
	index, known := l.indices[frame]
	if !known {
		index = int64(len(l.list))
		l.indices[frame] = index
		l.list = append(l.list, frame)
	}
	return index
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
