// SPDX-License-Identifier: Apache-2.0

package flame

import (
	"cmp"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
)

// Ordered is the graph of the calls of a thread in order of time. Nodes of its tree have a Start. A
// call ends at the first sample without its function, or at a pause between samples.
type Ordered struct {
	*Graph
	From, To   uint64 // Unix nanoseconds: from the first sample to the end of the last
	Resolution uint64 // of closer samples, the graph contains the longest
}

// maxMoments is the maximum number of samples in order of time: an hour of a thread has 360,000 at
// 100 Hz.
const maxMoments = 1_000_000

// InOrder returns the calls of the selected samples, which should be of one thread. It reduces them
// to at most the given number of steps.
func InOrder(source Source, steps int) (*Ordered, error) {
	b := newBuilder()
	out := &Ordered{Graph: b.graph}
	moments, err := collect(source)
	if err != nil {
		return nil, err
	}
	if len(moments) > 0 {
		out.From, out.To = moments[0].time, moments[len(moments)-1].end
		out.Resolution = (out.To - out.From) / uint64(steps)
	}
	moments = thin(moments, out.Resolution)
	if err := b.paths(source, moments); err != nil {
		return nil, err
	}
	if err := b.calls(moments); err != nil {
		return nil, err
	}
	b.graph.Tree.addUp()
	return out, nil
}

// moment is a sample, or several combined samples.
type moment struct {
	time, end uint64
	stack     timeline.StackIndex
	profile   int32   // its index in the source
	path      []int32 // its functions, root first
	cut       bool
}

// collect returns the samples by time. Each ends no later than the next one starts.
func collect(source Source) (list []moment, err error) {
	profile := int32(0)
	err = source(func(s Selection) error {
		for _, sample := range s.Profile.Selected(s.Filter) {
			if sample.Time != 0 && sample.Weight > 0 {
				if len(list) == maxMoments {
					return timeline.ErrTooLarge
				}
				list = append(list, moment{time: sample.Time, end: sample.Time + uint64(sample.Weight), stack: sample.Stack, profile: profile})
			}
		}
		profile++
		return nil
	})
	slices.SortStableFunc(list, func(a, b moment) int { return cmp.Compare(a.time, b.time) })
	for i := range len(list) - 1 {
		list[i].end = min(list[i].end, list[i+1].time)
	}
	return list, err
}

// thin combines adjacent samples within the resolution. The result has the stack of the longest.
func thin(list []moment, resolution uint64) []moment {
	kept := list[:0]
	var longest uint64
	for _, m := range list {
		last := len(kept) - 1
		if last < 0 || m.end-kept[last].time > resolution || m.time != kept[last].end {
			kept, longest = append(kept, m), m.end-m.time
			continue
		}
		if length := m.end - m.time; length > longest {
			kept[last].stack, kept[last].profile, longest = m.stack, m.profile, length
		}
		kept[last].end = m.end
	}
	return kept
}

// paths sets the functions of the moments, one profile at a time.
func (b *builder) paths(source Source, moments []moment) error {
	byProfile := map[int32][]*moment{}
	for i := range moments {
		m := &moments[i]
		byProfile[m.profile] = append(byProfile[m.profile], m)
	}
	profile := int32(0)
	return source(func(s Selection) error {
		numbers, err := b.number(s.Profile)
		if err != nil {
			return err
		}
		found := map[timeline.StackIndex]*moment{}
		for _, m := range byProfile[profile] {
			if same := found[m.stack]; same != nil {
				m.path, m.cut = same.path, same.cut
				continue
			}
			path, cut, err := b.pathOf(s.Profile, numbers, m.stack)
			if err != nil {
				return err
			}
			m.path, m.cut = slices.Clone(path), cut
			found[m.stack] = m
		}
		profile++
		return nil
	})
}

// calls adds a node for each call: adjacent moments with a common path share nodes.
func (b *builder) calls(moments []moment) error {
	var open []int32 // the nodes of the running calls, root first
	var at uint64
	for _, m := range moments {
		if m.time > at {
			open = open[:0]
		}
		at = m.end
		if open = b.follow(open, m.path, m.time); len(b.graph.Tree) > maxNodes {
			return timeline.ErrTooLarge
		}
		if len(open) == 0 {
			b.graph.Idle += int64(m.end - m.time)
			continue
		}
		b.graph.Samples++
		if m.cut {
			b.graph.Cut++
		}
		b.graph.Tree[open[len(open)-1]].Self += int64(m.end - m.time)
	}
	return nil
}

// follow ends the calls that are not in the path and starts its new calls.
func (b *builder) follow(open, path []int32, now uint64) []int32 {
	tree := &b.graph.Tree
	same := 0
	for same < min(len(open), len(path)) && (*tree)[open[same]].Frame == path[same] {
		same++
	}
	open = open[:same]
	for _, frame := range path[same:] {
		parent := int32(0)
		if len(open) > 0 {
			parent = open[len(open)-1]
		}
		open = append(open, int32(len(*tree)))
		*tree = append(*tree, Node{Parent: parent, Frame: frame, Start: now})
	}
	return open
}

// Earliest compares siblings by time.
func (o *Ordered) Earliest(a, b int32) int {
	return cmp.Or(cmp.Compare(o.Tree[a].Start, o.Tree[b].Start), cmp.Compare(a, b))
}
