// SPDX-License-Identifier: Apache-2.0

package flame

import "slices"

// Change selects and shortens the stacks of a graph. Functions are frame IDs.
type Change struct {
	Focus []int32 // only stacks with each of these functions
	Hide  []int32 // without these functions: their callees move to their callers
	Fold  []int32 // without the calls that these functions make, whose weight counts for the functions
}

// IsNone reports whether the change keeps all stacks.
func (c *Change) IsNone() bool { return len(c.Focus)+len(c.Hide)+len(c.Fold) == 0 }

// Changed returns the graph of the changed stacks. Hidden functions that were running count for
// their callers; stacks that consist only of hidden functions are omitted.
func (g *Graph) Changed(c Change) (*Graph, error) {
	graph, err := g.regroup(func(path []int32) []int32 {
		for _, frame := range c.Focus {
			if !slices.Contains(path, frame) {
				return nil
			}
		}
		for _, frame := range c.Fold {
			path = path[:min(outermost(path, frame)+1, len(path))]
		}
		return slices.DeleteFunc(path, func(frame int32) bool { return slices.Contains(c.Hide, frame) })
	})
	if err == nil && len(c.Focus) == 0 {
		graph.Idle, graph.Samples, graph.Cut = g.Idle, g.Samples, g.Cut
	}
	return graph, err
}
