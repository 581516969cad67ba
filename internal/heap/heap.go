// SPDX-License-Identifier: Apache-2.0

// Package heap has a priority queue of items that know their place in it, so that any item can be
// moved or removed.
package heap

// Item is an item of a heap.
type Item[T any] interface {
	Before(T) bool // reports whether the item comes before another one
	Place() *int   // has the position of the item in its heap
}

// Heap has the first item at position 0.
type Heap[T Item[T]] []T

// Push adds an item.
func (h *Heap[T]) Push(item T) {
	*h = append(*h, item)
	h.set(len(*h)-1, item)
	h.up(len(*h) - 1)
}

// Remove removes an item.
func (h *Heap[T]) Remove(item T) {
	place, last := *item.Place(), len(*h)-1
	h.set(place, (*h)[last])
	clear((*h)[last:])
	*h = (*h)[:last]
	if place < last {
		h.Fix((*h)[place])
	}
}

// Fix must be called after the order of an item has changed.
func (h Heap[T]) Fix(item T) {
	if place := *item.Place(); !h.down(place) {
		h.up(place)
	}
}

func (h Heap[T]) set(place int, item T) {
	h[place] = item
	*item.Place() = place
}

func (h Heap[T]) swap(i, j int) {
	a, b := h[i], h[j]
	h.set(i, b)
	h.set(j, a)
}

func (h Heap[T]) up(place int) {
	for place > 0 {
		parent := (place - 1) / 2
		if !h[place].Before(h[parent]) {
			return
		}
		h.swap(place, parent)
		place = parent
	}
}

// down reports whether it moved the item.
func (h Heap[T]) down(place int) (moved bool) {
	for {
		child := 2*place + 1
		if child >= len(h) {
			return moved
		}
		if right := child + 1; right < len(h) && h[right].Before(h[child]) {
			child = right
		}
		if !h[child].Before(h[place]) {
			return moved
		}
		h.swap(place, child)
		place, moved = child, true
	}
}
