package flame

import (
	"cmp"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/timeline"
)

// MaxDepth of a stack that is shown; what is deeper counts for the last function that is. The deepest of our recordings have
// 130 frames, runaway recursion has thousands, of which the first thousand say everything.
const MaxDepth = 1000

// Selection is a profile and the samples of it that are meant.
type Selection struct {
	Profile *timeline.Profile
	Filter  timeline.Filter
}

// Graph is the samples of a selection, added up by function.
type Graph struct {
	Measure timeline.Measure
	Frames  []timeline.Frame
	Tree    Tree
	Idle    int64 // of samples without a stack
	Samples int64 // observations that are in the tree
	Cut     int64 // of them, deeper than MaxDepth

	frames map[timeline.Frame]int32
}

// New adds up the samples of profiles, which must be of one measure. The same profiles give the same graph, with the same
// numbers for frames and nodes.
func New(selections []Selection) (*Graph, error) {
	b := newBuilder()
	for _, s := range selections {
		b.graph.Measure = s.Profile.Measure
		if err := b.add(s); err != nil {
			return nil, err
		}
	}
	b.graph.Tree.addUp()
	return b.graph, nil
}

type builder struct {
	graph    *Graph
	children map[place]int32
	numbers  map[*timeline.Profile][]int32 // of the frames of a profile in the graph, plus 1
	walked   int
	path     []int32
}

// place is a function as called by a node.
type place struct{ parent, frame int32 }

func newBuilder() *builder {
	return &builder{
		graph:    &Graph{Tree: Tree{{Parent: -1, Frame: -1}}, frames: map[timeline.Frame]int32{}},
		children: map[place]int32{},
		numbers:  map[*timeline.Profile][]int32{},
	}
}

// sum is what all samples with one stack weigh.
type sum struct{ weight, count int64 }

func (b *builder) add(s Selection) error {
	p := s.Profile
	sums := make([]sum, len(p.Stacks))
	for _, sample := range p.Selected(s.Filter) {
		if sample.Weight > 0 { // memory that was freed has no width
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
		path, cut, err := b.frames(p, timeline.StackIndex(stack))
		if err != nil {
			return err
		}
		b.graph.Samples += sums[stack].count
		if cut {
			b.graph.Cut += sums[stack].count
		}
		b.graph.Tree[b.walk(path)].Self += sums[stack].weight
	}
	return nil
}

// frames lists the functions of a stack, root first.
func (b *builder) frames(p *timeline.Profile, stack timeline.StackIndex) (path []int32, cut bool, err error) {
	numbers := b.numbers[p]
	if numbers == nil {
		numbers = make([]int32, len(p.Frames))
		b.numbers[p] = numbers
	}
	b.path = b.path[:0]
	for _, location := range slices.Backward(p.Stacks[stack]) {
		for _, line := range slices.Backward(p.Locations[location].Lines) {
			if len(b.path) == MaxDepth {
				return b.path, true, nil
			}
			if numbers[line.Frame] == 0 {
				numbers[line.Frame] = b.graph.intern(p.Frames[line.Frame]) + 1
			}
			b.path = append(b.path, numbers[line.Frame]-1)
		}
	}
	if b.walked += len(b.path); b.walked > timeline.MaxExportedFrames {
		return nil, false, timeline.ErrTooLarge
	}
	return b.path, false, nil
}

func (b *builder) walk(path []int32) (node int32) {
	for _, frame := range path {
		child, known := b.children[place{node, frame}]
		if !known {
			child = int32(len(b.graph.Tree))
			b.children[place{node, frame}] = child
			b.graph.Tree = append(b.graph.Tree, Node{Parent: node, Frame: frame})
		}
		node = child
	}
	return node
}

func (g *Graph) intern(frame timeline.Frame) int32 {
	i, known := g.frames[frame]
	if !known {
		i = int32(len(g.Frames))
		g.frames[frame] = i
		g.Frames = append(g.Frames, frame)
	}
	return i
}

// Heaviest orders siblings by their totals, and by name where those are equal.
func (g *Graph) Heaviest(a, b int32) int {
	return cmp.Or(cmp.Compare(g.Tree[b].Total, g.Tree[a].Total), cmp.Compare(g.name(a), g.name(b)), cmp.Compare(a, b))
}

func (g *Graph) name(node int32) string {
	if frame := g.Tree[node].Frame; frame >= 0 {
		return g.Frames[frame].Name
	}
	return ""
}

// FrameTotal is what a function weighs in a tree. In Total, a function that calls itself counts once.
type FrameTotal struct {
	Frame       int32
	Self, Total int64
}

// Top gives the totals of all functions, the largest own first.
func (g *Graph) Top() []FrameTotal {
	list := make([]FrameTotal, len(g.Frames))
	for i := range list {
		list[i].Frame = int32(i)
	}
	// A node is within another of its function if that is among its ancestors; depth first, a counter tells.
	open := make([]int, len(g.Frames))
	children := make([][]int32, len(g.Tree))
	for id := 1; id < len(g.Tree); id++ {
		parent := g.Tree[id].Parent
		children[parent] = append(children[parent], int32(id))
	}
	var visit func(id int32)
	visit = func(id int32) { // no deeper than MaxDepth
		if n := g.Tree[id]; n.Frame >= 0 {
			list[n.Frame].Self += n.Self
			if open[n.Frame] == 0 {
				list[n.Frame].Total += n.Total
			}
			open[n.Frame]++
			defer func() { open[n.Frame]-- }()
		}
		for _, child := range children[id] {
			visit(child)
		}
	}
	visit(0)
	slices.SortFunc(list, func(a, b FrameTotal) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Frame, b.Frame))
	})
	return list
}
