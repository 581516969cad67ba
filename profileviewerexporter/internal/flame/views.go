// SPDX-License-Identifier: Apache-2.0

package flame

import (
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
)

// Inverted returns the graph with all stacks reversed: the functions that were running come first,
// their callers are below them.
func (g *Graph) Inverted() (*Graph, error) {
	return g.reversed(func(path []int32) []int32 { return path })
}

// Callees returns the calls of a function: the parts of all stacks from the function on. A
// recursive function counts once, from its outermost call.
func (g *Graph) Callees(frame int32) (*Graph, error) {
	return g.regroup(func(path []int32) []int32 {
		return path[outermost(path, frame):]
	})
}

// Callers returns the callers of a function: the parts of all stacks up to the function, reversed.
// It has the same total as [Graph.Callees].
func (g *Graph) Callers(frame int32) (*Graph, error) {
	return g.reversed(func(path []int32) []int32 {
		at := outermost(path, frame)
		if at == len(path) {
			return nil
		}
		return path[:at+1]
	})
}

// reversed is regroup with the new stacks reversed.
func (g *Graph) reversed(other func(path []int32) []int32) (*Graph, error) {
	graph, err := g.regroup(func(path []int32) []int32 {
		path = other(path)
		slices.Reverse(path)
		return path
	})
	if err != nil {
		return nil, err
	}
	graph.Reverse = !g.Reverse
	return graph, nil
}

// outermost returns the index of a function in a path, or the length of the path.
func outermost(path []int32, frame int32) int {
	if at := slices.Index(path, frame); at >= 0 {
		return at
	}
	return len(path)
}

// regroup returns a graph of other stacks with the same weights. other returns the new functions of
// a stack, root first, or none to omit the stack. Frame IDs remain; numbers of samples are unknown,
// because nodes have only weights.
func (g *Graph) regroup(other func(path []int32) []int32) (*Graph, error) {
	b := newBuilder()
	b.graph.Measure, b.graph.Frames = g.Measure, g.Frames
	for id := range g.Tree {
		if g.Tree[id].Self == 0 {
			continue
		}
		b.path = g.pathTo(int32(id), b.path[:0])
		if b.visited += len(b.path); b.visited > timeline.MaxExportedFrames {
			return nil, timeline.ErrTooLarge
		}
		path := other(b.path)
		if len(path) == 0 {
			continue
		}
		node, err := b.walk(path)
		if err != nil {
			return nil, err
		}
		b.graph.Tree[node].Self += g.Tree[id].Self
	}
	b.graph.Tree.addUp()
	return b.graph, nil
}

// pathTo appends the functions of the stack of a node, root first.
func (g *Graph) pathTo(node int32, path []int32) []int32 {
	for ; g.Tree[node].Frame >= 0; node = g.Tree[node].Parent {
		path = append(path, g.Tree[node].Frame)
	}
	slices.Reverse(path)
	return path
}
