// SPDX-License-Identifier: Apache-2.0

package spanlink

// orphan is a span that waits for its segment, with its own values.
type orphan struct {
	interval   intervalRef
	segment    spanKey
	sessions   []Session
	thread     string
	prev, next *orphan // neighbors among the orphans of the segment, by arrival
}

// orphans are the spans that wait for one segment.
type orphans struct{ first, last *orphan }

// size returns the memory that the orphan uses in addition to its span.
func (o *orphan) size() int64 {
	size := int64(orphanSize + len(o.thread))
	for i := range o.sessions {
		size += keySize + o.sessions[i].textSize()
	}
	return size
}

// waiting has the spans that wait for their segments, in a list for each segment, by arrival.
type waiting struct {
	orphans   map[intervalRef]*orphan
	bySegment map[spanKey]orphans
}

func newWaiting() waiting {
	return waiting{orphans: map[intervalRef]*orphan{}, bySegment: map[spanKey]orphans{}}
}

// add adds an orphan.
func (w *waiting) add(o *orphan) {
	w.orphans[o.interval] = o
	list := w.bySegment[o.segment]
	o.prev = list.last
	if list.last == nil {
		list.first = o
	} else {
		list.last.next = o
	}
	list.last = o
	w.bySegment[o.segment] = list
}

// first returns the first span that waits for a segment, or nil.
func (w *waiting) first(segment spanKey) *orphan { return w.bySegment[segment].first }

// end removes a span and returns it, or nil if it does not wait.
func (w *waiting) end(r intervalRef) *orphan {
	o := w.orphans[r]
	if o == nil {
		return nil
	}
	delete(w.orphans, r)
	list := w.bySegment[o.segment]
	if o.prev == nil {
		list.first = o.next
	} else {
		o.prev.next = o.next
	}
	if o.next == nil {
		list.last = o.prev
	} else {
		o.next.prev = o.prev
	}
	if list.first == nil {
		delete(w.bySegment, o.segment)
	} else {
		w.bySegment[o.segment] = list
	}
	return o
}
