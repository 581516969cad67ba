// SPDX-License-Identifier: Apache-2.0

package spanlink

// priorityQueue is a binary heap; the item with the smallest key is first.
type priorityQueue[K int32 | uint64] []queueItem[K]

type queueItem[K int32 | uint64] struct {
	key   K
	value int32
}

func (q *priorityQueue[K]) push(key K, value int32) {
	*q = append(*q, queueItem[K]{key, value})
	h := *q
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up].key <= h[i].key {
			return
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
}

func (q *priorityQueue[K]) pop() {
	h := *q
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	*q = h
	for i := 0; ; {
		down := 2*i + 1
		if down >= len(h) {
			return
		}
		if down+1 < len(h) && h[down+1].key < h[down].key {
			down++
		}
		if h[i].key <= h[down].key {
			return
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
}
