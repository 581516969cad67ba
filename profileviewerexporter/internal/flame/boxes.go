// SPDX-License-Identifier: Apache-2.0

package flame

// Box is a rectangle of a graph: a function with its callers, or adjacent siblings that are too
// narrow to be drawn one by one.
type Box struct {
	Frame    int32 // index in Graph.Frames, RootFrame or IdleFrame; for combined siblings, that of the heaviest
	Depth    int32 // 0: the root
	Combined int32 // number of siblings in the box; 0: one function, whose children have boxes
	Found    bool  // the search matches the function, or a function in combined siblings
	Start    int64 // weight of everything before it, or nanoseconds after the origin
	Extent   int64
	Weight   int64 // Extent without pauses
	Self     int64 // Weight without children; for combined siblings, all of it
	Delta    int64 // for comparisons: second profile minus first
}

// Frames of boxes that are not functions.
const (
	RootFrame int32 = -1
	IdleFrame int32 = -2
)

// Window selects the visible part of a graph. Zero values select all of it.
type Window struct {
	From, To int64 // positions
	Pixels   int   // width; siblings below one pixel are combined
	Most     int   // maximum number of boxes; further siblings are combined to stay below it
	// Match states which frames the search matches. nil means that there is no search.
	Match []bool
}

// Drawing is the visible part of a graph. No weight is missing: if the window is the whole graph,
// the Self of all boxes adds up to its total.
type Drawing struct {
	Boxes    []Box // parents first, siblings by position
	Smallest int64 // boxes with a smaller extent are combined
}

// draw repeats walk, which begins and ends all calls, until the result has at most w.Most boxes.
func draw(w Window, walk func(*drawer)) Drawing {
	smallest := max(1, (w.To-w.From)/int64(max(1, w.Pixels)))
	for {
		d := drawer{window: w, smallest: smallest, most: w.Most}
		walk(&d)
		if !d.overflow {
			return Drawing{d.boxes, smallest}
		}
		smallest += smallest/3 + 1
	}
}

// drawer builds boxes as calls begin and end. The width of a call is known when it ends: a narrow
// call, with all calls in it, is then merged into the box of its narrow neighbors. The number of
// boxes is therefore bounded by the number of wide calls.
type drawer struct {
	window   Window
	smallest int64
	most     int
	overflow bool
	boxes    []Box
	running  []running
}

// running is a call that has not ended.
type running struct {
	box   int   // index of its box
	child int   // index of its last child in boxes, or -1
	inner int64 // weight of its children
	found bool  // the search matches a function in it
}

// begin begins a call.
func (d *drawer) begin(frame int32, start int64) {
	if len(d.boxes) > d.most+MaxDepth {
		d.overflow = true
	}
	found := frame >= 0 && d.window.Match != nil && d.window.Match[frame]
	d.running = append(d.running, running{box: len(d.boxes), child: -1, found: found})
	d.boxes = append(d.boxes, Box{Frame: frame, Depth: int32(len(d.running) - 1), Start: start, Found: found})
}

// end ends the innermost call.
func (d *drawer) end(at, weight, delta int64) {
	call := d.running[len(d.running)-1]
	d.running = d.running[:len(d.running)-1]
	box := &d.boxes[call.box]
	box.Extent, box.Weight, box.Self, box.Delta = at-box.Start, weight, weight-call.inner, delta
	if len(d.running) == 0 {
		d.overflow = d.overflow || len(d.boxes) > d.most
		return
	}
	parent := &d.running[len(d.running)-1]
	parent.inner += weight
	parent.found = parent.found || call.found
	if box.Start >= d.window.To || at <= d.window.From {
		d.boxes = d.boxes[:call.box]
		return
	}
	if box.Extent >= d.smallest {
		parent.child = call.box
		return
	}
	narrow := *box
	narrow.Self, narrow.Found, narrow.Combined = narrow.Weight, call.found, 1
	d.boxes = d.boxes[:call.box]
	d.combine(parent, narrow)
}

// combine adds a narrow call to the box of the narrow siblings directly before it, or starts such a
// box.
func (d *drawer) combine(parent *running, narrow Box) {
	if parent.child >= 0 {
		last := &d.boxes[parent.child]
		if last.Combined > 0 && narrow.Start-(last.Start+last.Extent) < d.smallest {
			last.Extent = narrow.Start + narrow.Extent - last.Start
			if narrow.Frame == IdleFrame {
				return
			}
			last.Combined++
			last.Weight += narrow.Weight
			last.Self += narrow.Self
			last.Delta += narrow.Delta
			last.Found = last.Found || narrow.Found
			return
		}
	}
	if narrow.Frame == IdleFrame {
		narrow.Combined = 0
	}
	parent.child = len(d.boxes)
	d.boxes = append(d.boxes, narrow)
}
