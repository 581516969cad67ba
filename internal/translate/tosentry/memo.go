// SPDX-License-Identifier: Apache-2.0

package tosentry

import "slices"

// memo caches results by index of a table. clear invalidates all of them in constant time.
type memo[T any] struct {
	results    []T
	generation []uint32
	current    uint32
}

// open prepares the cache for a table of n entries. Index 0 is valid even if the table is empty.
func (m *memo[T]) open(n int) {
	m.results = slices.Grow(m.results[:0], n+1)[:n+1]
	m.generation = slices.Grow(m.generation[:0], n+1)[:n+1]
	clear(m.generation)
	m.current = 0
}

// close drops the results and keeps the memory.
func (m *memo[T]) close() { clear(m.results[:cap(m.results)]) }

// len returns the number of entries of the table.
func (m *memo[T]) len() int { return len(m.results) - 1 }

// cap returns the number of entries for which there is memory.
func (m *memo[T]) cap() int { return cap(m.results) }

// clear invalidates all results. It must be called after open, before the first get.
func (m *memo[T]) clear() { m.current++ }

// get returns the result for an index, and whether there is one.
func (m *memo[T]) get(index int) (result T, ok bool) {
	return m.results[index], m.generation[index] == m.current
}

// set stores the result for an index.
func (m *memo[T]) set(index int, result T) {
	m.results[index], m.generation[index] = result, m.current
}
