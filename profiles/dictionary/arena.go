// SPDX-License-Identifier: Apache-2.0

package dictionary

import "strings"

// arena copies strings into a few large chunks of memory, so that a thousand function names cost a
// handful of allocations. The chunks belong to the message being built and are never reused. A
// consumer that keeps one of these strings should clone it, because the string keeps its whole
// chunk in memory.
type arena struct {
	chunk strings.Builder // never grown in place: strings point into it
	size  int
}

const (
	// The first chunk fits the names of a small profile. Each further chunk is twice as large, up
	// to a size at which the cost of an allocation is negligible.
	minChunk = 1 << 10
	maxChunk = 32 << 10
)

func (a *arena) clone(s string) string {
	if len(s) > a.chunk.Cap()-a.chunk.Len() {
		// Long strings get their own memory instead of wasting the rest of a chunk.
		if len(s) > minChunk/4 && len(s) > a.size/4 {
			return strings.Clone(s)
		}
		a.size = min(max(2*a.size, minChunk), maxChunk)
		a.chunk = strings.Builder{}
		a.chunk.Grow(a.size)
	}
	from := a.chunk.Len()
	a.chunk.WriteString(s)
	return a.chunk.String()[from:]
}
