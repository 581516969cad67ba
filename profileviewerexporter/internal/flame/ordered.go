// SPDX-License-Identifier: Apache-2.0

package flame

import (
	"cmp"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
)

// Ordered contains the calls of a thread in chronological order. A call ends at the first sample
// without its function, or at a pause between samples.
type Ordered struct {
	*Graph          // its tree has the root only
	From, To uint64 // Unix nanoseconds: from the first sample to the end of the last
	moments  []moment
	paths    [][]int32 // functions, root first; path 0 is idle
}

// maxMoments is the maximum number of samples of an Ordered. At 100 Hz, one hour of a thread has
// 360,000.
const maxMoments = 1 << 20

// InOrder returns the calls of the selected samples, which should be of one thread.
func InOrder(source Source) (*Ordered, error) {
	b := newBuilder()
	out := &Ordered{Graph: b.graph, paths: make([][]int32, 1)}
	profile := func(s Selection) error { return out.add(b, s) }
	if err := source(profile); err != nil {
		return nil, err
	}
	slices.SortStableFunc(out.moments, func(a, b moment) int { return cmp.Compare(a.time, b.time) })
	for i := range out.moments {
		m := &out.moments[i]
		if i+1 < len(out.moments) {
			m.end = min(m.end, out.moments[i+1].time)
		}
		if m.path == 0 {
			out.Idle += int64(m.end - m.time)
		} else {
			out.Tree[0].Total += int64(m.end - m.time)
		}
	}
	if n := len(out.moments); n > 0 {
		out.From, out.To = out.moments[0].time, out.moments[n-1].end
	}
	return out, nil
}

// Size returns the approximate size of the calls in memory.
func (o *Ordered) Size() int {
	size := o.Graph.Size() + 24*len(o.moments)
	for _, path := range o.paths {
		size += 24 + 4*len(path)
	}
	return size
}

// moment is a sample. It ends no later than the next one starts.
type moment struct {
	time, end uint64
	path      int32
}

// add collects the samples of a profile.
func (o *Ordered) add(b *builder, s Selection) error {
	if err := s.Profile.CheckPositive(s.Filter); err != nil {
		return err
	}
	numbers, err := b.number(s.Profile)
	if err != nil {
		return err
	}
	type known struct {
		path int32
		cut  bool
	}
	paths := map[timeline.StackIndex]known{0: {}}
	for _, sample := range s.Profile.Selected(s.Filter) {
		if sample.Time == 0 || sample.Weight == 0 {
			continue
		}
		if len(o.moments) == maxMoments {
			return timeline.ErrTooLarge
		}
		path, seen := paths[sample.Stack]
		if !seen {
			functions, cut, err := b.pathOf(s, numbers, sample.Stack)
			if err != nil {
				return err
			}
			path = known{int32(len(o.paths)), cut}
			paths[sample.Stack] = path
			o.paths = append(o.paths, slices.Clone(functions))
		}
		if path.path != 0 {
			o.Samples++
		}
		if path.cut {
			o.Cut++
		}
		o.moments = append(o.moments, moment{sample.Time, sample.Time + uint64(sample.Weight), path.path})
	}
	return nil
}

// Draw returns the boxes of the calls. Positions are nanoseconds after the origin, which must not
// be later than From.
func (o *Ordered) Draw(w Window, origin uint64) Drawing {
	if end := int64(o.To - origin); w.To <= 0 || w.To > end {
		w.To = end
	}
	if start := int64(o.From - origin); w.From < start {
		w.From = start
	}
	return draw(w, func(d *drawer) { (&caller{drawer: d, ordered: o, origin: origin}).walk() })
}

// caller begins and ends calls, sample by sample.
type caller struct {
	*drawer
	ordered *Ordered
	origin  uint64
	open    []int32 // frames of the running calls, root first
	weights []int64 // busy time before they began
	busy    int64   // until now
}

func (c *caller) walk() {
	at, last := c.ordered.From, int32(-1)
	c.begin(RootFrame, int64(at-c.origin))
	for i := range c.ordered.moments {
		m := &c.ordered.moments[i]
		if m.time > at {
			c.endTo(0, at)
			last = -1
		}
		if m.path != last {
			c.follow(m)
			last = m.path
		}
		if m.path != 0 {
			c.busy += int64(m.end - m.time)
		}
		if at = m.end; c.overflow {
			break
		}
	}
	c.endTo(0, at)
	c.end(int64(at-c.origin), c.busy, 0)
}

var idlePath = []int32{IdleFrame}

// follow ends the calls that are not in a sample and begins the new ones.
func (c *caller) follow(m *moment) {
	path := c.ordered.paths[m.path]
	if m.path == 0 {
		path = idlePath
	}
	same := 0
	for same < min(len(c.open), len(path)) && c.open[same] == path[same] {
		same++
	}
	c.endTo(same, m.time)
	for _, frame := range path[same:] {
		c.begin(frame, int64(m.time-c.origin))
		c.open, c.weights = append(c.open, frame), append(c.weights, c.busy)
	}
}

// endTo ends all but the outermost calls.
func (c *caller) endTo(left int, at uint64) {
	for i := len(c.open) - 1; i >= left; i-- {
		c.end(int64(at-c.origin), c.busy-c.weights[i], 0)
	}
	c.open, c.weights = c.open[:left], c.weights[:left]
}
