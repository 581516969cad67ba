// SPDX-License-Identifier: Apache-2.0

// Package memo caches results by index of a table.
package memo

import "slices"

// Table caches results by index of a table. Clear invalidates all of them in constant time.
type Table[T any] struct {
	results    []T
	generation []uint32
	current    uint32
}

// Open prepares the cache for a table of n entries. Index 0 is valid even if the table is empty.
func (m *Table[T]) Open(n int) {
	m.results = slices.Grow(m.results[:0], n+1)[:n+1]
	m.generation = slices.Grow(m.generation[:0], n+1)[:n+1]
	clear(m.generation)
	m.current = 0
}

// Close drops the results and keeps the memory.
func (m *Table[T]) Close() { clear(m.results[:cap(m.results)]) }

// Len returns the number of entries of the table.
func (m *Table[T]) Len() int { return len(m.results) - 1 }

// Cap returns the number of entries for which there is memory.
func (m *Table[T]) Cap() int { return cap(m.results) }

// Clear invalidates all results. It must be called after Open, before the first Get.
func (m *Table[T]) Clear() { m.current++ }

// Get returns the result for an index, and whether there is one.
func (m *Table[T]) Get(index int) (result T, ok bool) {
	return m.results[index], m.generation[index] == m.current
}

// Set stores the result for an index.
func (m *Table[T]) Set(index int, result T) {
	m.results[index], m.generation[index] = result, m.current
}
