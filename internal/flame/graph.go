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
	Frames  []timeline.Frame // of the profiles; some may not be in the tree
	Tree    Tree
	Idle    int64 // of samples without a stack
	Samples int64 // observations that are in the tree
	Cut     int64 // of them, deeper than MaxDepth
}

// New adds up the samples of profiles, which must be of one measure. The same selections give the same numbers for nodes, and the
// same profiles those for frames, whatever is selected of them.
func New(selections []Selection) (*Graph, error) {
	b := newBuilder(selections)
	for _, s := range selections {
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
	numbers  map[*timeline.Profile][]int32 // of a profile's frames in the graph
	walked   int
	path     []int32
}

// place is a function as called by a node.
type place struct{ parent, frame int32 }

func newBuilder(selections []Selection) *builder {
	b := &builder{
		graph:    &Graph{Tree: Tree{{Parent: -1, Frame: -1}}},
		children: map[place]int32{},
		numbers:  map[*timeline.Profile][]int32{},
	}
	frames := map[timeline.Frame]int32{}
	for _, s := range selections {
		b.graph.Measure = s.Profile.Measure
		numbers := make([]int32, len(s.Profile.Frames))
		for i, frame := range s.Profile.Frames {
			number, known := frames[frame]
			if !known {
				number = int32(len(b.graph.Frames))
				frames[frame] = number
				b.graph.Frames = append(b.graph.Frames, frame)
			}
			numbers[i] = number
		}
		b.numbers[s.Profile] = numbers
	}
	return b
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
	b.path = b.path[:0]
	for _, location := range slices.Backward(p.Stacks[stack]) {
		for _, line := range slices.Backward(p.Locations[location].Lines) {
			if len(b.path) == MaxDepth {
				return b.path, true, nil
			}
			b.path = append(b.path, numbers[line.Frame])
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

// Top gives the totals of the functions in the tree, the largest own first.
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
	list = slices.DeleteFunc(list, func(f FrameTotal) bool { return f.Total == 0 })
	slices.SortFunc(list, func(a, b FrameTotal) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Frame, b.Frame))
	})
	return list
}
