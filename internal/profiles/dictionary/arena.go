// SPDX-License-Identifier: Apache-2.0

package dictionary

import "strings"

// arena copies strings into a few large chunks of memory, so that a thousand function names cost a
// handful of allocations. The chunks belong to the message that is being built and are never
// reused. A consumer that keeps one of these strings should clone it, because it keeps its whole
// chunk in memory.
type arena struct {
	chunk strings.Builder // never grown in place: strings point into it
	size  int
}

const (
	// The first piece fits the names of a small profile; each next one is twice as large, up to a
	// size where one allocation per piece no longer shows.
	minChunk = 1 << 10
	maxChunk = 32 << 10
)

func (a *arena) clone(s string) string {
	if len(s) > a.chunk.Cap()-a.chunk.Len() {
		// Long strings get their own memory rather than waste the rest of a piece.
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
