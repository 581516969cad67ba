// SPDX-License-Identifier: Apache-2.0

package flame

import (
	"cmp"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
)

// MaxDepth is the maximum depth of a stack in a graph. The weight of deeper frames counts for the
// last function within the limit. The deepest stacks of our recordings have 130 frames; runaway
// recursion has thousands.
const MaxDepth = 1000

// maxNodes is the maximum number of nodes of a tree, and of functions of a graph. A stack of a few
// bytes can have a thousand inlined functions. The largest tree of our recordings has about ten
// thousand nodes.
const maxNodes = 1 << 19

// Selection is a profile and a filter for its samples.
type Selection struct {
	Profile *timeline.Profile
	Filter  timeline.Filter
	// Collapse omits library functions that are called by library functions: only the first call
	// into a library remains, with the weight of all calls.
	Collapse bool
}

// Source visits selections, the same ones in every call. A selection is not used after its visit,
// so that only one profile at a time is in memory.
type Source func(visit func(Selection) error) error

// Graph is the sum of the samples of a selection, by function.
type Graph struct {
	Measure timeline.Measure
	Frames  []timeline.Frame // of the profiles; the tree may not refer to all of them
	Tree    Tree
	Idle    int64 // weight of samples without a stack
	Samples int64 // number of observations in the tree
	Cut     int64 // number of these that are deeper than MaxDepth
	Reverse bool  // callers are below the functions that they call, so that no node has time of its own

	children [][]int32 // by node, the heaviest first; see order
}

// New returns the graph of profiles, which must have the same measure. Node IDs depend only on the
// selections, and frame IDs only on the profiles.
func New(source Source) (*Graph, error) {
	b := newBuilder()
	if err := source(b.add); err != nil {
		return nil, err
	}
	b.graph.Tree.addUp()
	return b.graph, nil
}

// Size returns the approximate size of the graph in memory.
func (g *Graph) Size() int {
	const node, frame = 84, 120 // with the lists of children
	size := node*len(g.Tree) + frame*len(g.Frames)
	for i := range g.Frames {
		f := &g.Frames[i]
		size += len(f.Name) + len(f.System) + len(f.File) + len(f.Module)
	}
	return size
}

type builder struct {
	graph    *Graph
	children map[call]int32
	frames   map[timeline.Frame]int32
	visited  int // frames
	path     []int32
}

// call is a function, as called by a node.
type call struct{ parent, frame int32 }

func newBuilder() *builder {
	return &builder{
		graph:    &Graph{Tree: Tree{{Parent: -1, Frame: -1}}},
		children: map[call]int32{},
		frames:   map[timeline.Frame]int32{},
	}
}

// number assigns numbers to the frames of a profile.
func (b *builder) number(p *timeline.Profile) ([]int32, error) {
	b.graph.Measure = p.Measure
	numbers := make([]int32, len(p.Frames))
	for i, frame := range p.Frames {
		number, known := b.frames[frame]
		if !known {
			if number = int32(len(b.graph.Frames)); number == maxNodes {
				return nil, timeline.ErrTooLarge
			}
			b.frames[frame] = number
			b.graph.Frames = append(b.graph.Frames, frame)
		}
		numbers[i] = number
	}
	return numbers, nil
}

// sum is the sum of all samples with one stack.
type sum struct{ weight, count int64 }

func (b *builder) add(s Selection) error {
	p := s.Profile
	if err := p.CheckPositive(s.Filter); err != nil {
		return err
	}
	numbers, err := b.number(p)
	if err != nil {
		return err
	}
	sums := make([]sum, len(p.Stacks))
	for _, sample := range p.Selected(s.Filter) {
		if sample.Weight > 0 {
			sums[sample.Stack].weight += sample.Weight
			sums[sample.Stack].count += sample.Count
		}
	}
	for stack := range p.Stacks {
		if sums[stack].count == 0 {
			continue
		}
		if len(p.Stacks[stack]) == 0 {
			b.graph.Idle += sums[stack].weight
			continue
		}
		path, cut, err := b.pathOf(s, numbers, timeline.StackIndex(stack))
		if err != nil {
			return err
		}
		b.graph.Samples += sums[stack].count
		if cut {
			b.graph.Cut += sums[stack].count
		}
		node, err := b.walk(path)
		if err != nil {
			return err
		}
		b.graph.Tree[node].Self += sums[stack].weight
		b.graph.Tree[node].Samples += sums[stack].count
	}
	return nil
}

// pathOf returns the functions of a stack, root first.
func (b *builder) pathOf(s Selection, numbers []int32, stack timeline.StackIndex) (path []int32, cut bool, err error) {
	p, library := s.Profile, false
	b.path = b.path[:0]
	for _, location := range slices.Backward(p.Stacks[stack]) {
		for _, line := range slices.Backward(p.Locations[location].Lines) {
			if len(b.path) == MaxDepth {
				return b.path, true, nil
			}
			if b.visited++; b.visited > timeline.MaxExportedFrames {
				return nil, false, timeline.ErrTooLarge
			}
			inside := library
			if library = p.Frames[line.Frame].InApp == timeline.InAppNo; s.Collapse && inside && library {
				continue
			}
			b.path = append(b.path, numbers[line.Frame])
		}
	}
	return b.path, false, nil
}

func (b *builder) walk(path []int32) (node int32, err error) {
	for _, frame := range path {
		child, known := b.children[call{node, frame}]
		if !known {
			if child = int32(len(b.graph.Tree)); child == maxNodes {
				return 0, timeline.ErrTooLarge
			}
			b.children[call{node, frame}] = child
			b.graph.Tree = append(b.graph.Tree, Node{Parent: node, Frame: frame})
		}
		node = child
	}
	return node, nil
}

// FrameTotal is a function in a tree: its weight, and its number of observations. Totals count
// recursive calls once.
type FrameTotal struct {
	Frame                int32
	Self, Total          int64
	SelfSamples, Samples int64
}

// Top returns the totals of the functions in the tree, by descending self weight.
func (g *Graph) Top() []FrameTotal {
	list := make([]FrameTotal, len(g.Frames))
	for i := range list {
		list[i].Frame = int32(i)
	}
	// open is the number of ancestors with each function during the depth-first walk.
	open := make([]int, len(g.Frames))
	g.order()
	var visit func(id int32)
	visit = func(id int32) { // recursion is limited by MaxDepth
		if n := g.Tree[id]; n.Frame >= 0 {
			list[n.Frame].Self += n.Self
			list[n.Frame].SelfSamples += n.Samples
			if open[n.Frame] == 0 {
				list[n.Frame].Total += n.Total
				list[n.Frame].Samples += n.Samples
			}
			if caller := g.Tree[n.Parent].Frame; caller >= 0 {
				list[caller].SelfSamples -= n.Samples
			}
			open[n.Frame]++
			defer func() { open[n.Frame]-- }()
		}
		for _, child := range g.children[id] {
			visit(child)
		}
	}
	visit(0)
	list = slices.DeleteFunc(list, func(f FrameTotal) bool { return f.Total == 0 })
	slices.SortFunc(list, func(a, b FrameTotal) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Frame, b.Frame))
	})
	return list
}
