// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import "go.opentelemetry.io/collector/pdata/pcommon"

// chain is what is kept of one trace, by arrival. An entry is removed in constant time wherever it is: one trace may fill the store.
type chain[T any] struct {
	first, last *chained[T]
	len         int
}

// chained is an entry of a chain.
type chained[T any] struct {
	value         T
	trace         pcommon.TraceID
	before, after *chained[T]
}

func appendTo[T any](chains map[pcommon.TraceID]*chain[T], trace pcommon.TraceID, value T) *chained[T] {
	c := chains[trace]
	if c == nil {
		c = &chain[T]{}
		chains[trace] = c
	}
	e := &chained[T]{value: value, trace: trace, before: c.last}
	if c.last == nil {
		c.first = e
	} else {
		c.last.after = e
	}
	c.last = e
	c.len++
	return e
}

func removeFrom[T any](chains map[pcommon.TraceID]*chain[T], e *chained[T]) {
	c := chains[e.trace]
	if e.before == nil {
		c.first = e.after
	} else {
		e.before.after = e.after
	}
	if e.after == nil {
		c.last = e.before
	} else {
		e.after.before = e.before
	}
	if c.len--; c.len == 0 {
		delete(chains, e.trace)
	}
}

// count returns the number of entries; a nil chain has none.
func (c *chain[T]) count() int {
	if c == nil {
		return 0
	}
	return c.len
}

func (c *chain[T]) values() []T {
	list := make([]T, 0, c.count())
	if c != nil {
		for e := c.first; e != nil; e = e.after {
			list = append(list, e.value)
		}
	}
	return list
}
