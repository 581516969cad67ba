package flame

import (
	"cmp"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/timeline"
)

// Ordered is the calls of a thread in the order of time. Nodes of its tree have a Start; a call ends when its function is no
// longer in the samples, or when there is a pause between them.
type Ordered struct {
	*Graph
	From, To   uint64 // Unix nanoseconds: from the first sample to the end of the last
	Resolution uint64 // of samples closer together than this, only the longest is drawn
}

// InOrder gives the calls of the selected samples, which should be of one thread. Steps is how many samples there is room for.
func InOrder(selections []Selection, steps int) (*Ordered, error) {
	b := newBuilder(selections)
	out := &Ordered{Graph: b.graph}
	moments := collect(selections)
	if len(moments) > 0 {
		out.From, out.To = moments[0].time, moments[len(moments)-1].end
		out.Resolution = (out.To - out.From) / uint64(steps)
	}
	if err := b.calls(thin(moments, out.Resolution)); err != nil {
		return nil, err
	}
	b.graph.Tree.addUp()
	return out, nil
}

// moment is a sample, or several that are drawn as one.
type moment struct {
	time, end uint64
	stack     timeline.StackIndex
	profile   *timeline.Profile
}

// collect lists samples by time, each ending no later than the next begins.
func collect(selections []Selection) (list []moment) {
	for _, s := range selections {
		for _, sample := range s.Profile.Selected(s.Filter) {
			if sample.Time != 0 && sample.Weight > 0 {
				list = append(list, moment{sample.Time, sample.Time + uint64(sample.Weight), sample.Stack, s.Profile})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b moment) int { return cmp.Compare(a.time, b.time) })
	for i := range len(list) - 1 {
		list[i].end = min(list[i].end, list[i+1].time)
	}
	return list
}

// thin draws neighbours that are closer together than resolution as one: with the stack of the longest.
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

// calls makes nodes of what neighbours have in common.
func (b *builder) calls(moments []moment) error {
	var open []int32 // the nodes of the running calls, root first
	var at uint64
	for _, m := range moments {
		if m.time > at {
			open = open[:0]
		}
		at = m.end
		path, cut, err := b.frames(m.profile, m.stack)
		if err != nil {
			return err
		}
		open = b.follow(open, path, m.time)
		if len(open) == 0 {
			b.graph.Idle += int64(m.end - m.time)
			continue
		}
		b.graph.Samples++
		if cut {
			b.graph.Cut++
		}
		b.graph.Tree[open[len(open)-1]].Self += int64(m.end - m.time)
	}
	return nil
}

// follow ends the calls that are not in the path any more, and begins those that are new in it.
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

// Earliest orders siblings by time.
func (o *Ordered) Earliest(a, b int32) int {
	return cmp.Or(cmp.Compare(o.Tree[a].Start, o.Tree[b].Start), cmp.Compare(a, b))
}
