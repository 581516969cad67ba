// SPDX-License-Identifier: Apache-2.0

package store

import (
	"container/list"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// byTrace holds values by trace, in order of arrival. Removing a value takes constant time wherever
// it is: the values of one trace may fill the store.
type byTrace[T any] map[pcommon.TraceID]*list.List

// traceEntry is the entry of a value, for its removal.
type traceEntry struct {
	trace   pcommon.TraceID
	element *list.Element
}

func (b byTrace[T]) add(trace pcommon.TraceID, value T, oldest bool) traceEntry {
	values := b[trace]
	if values == nil {
		values = list.New()
		b[trace] = values
	}
	if oldest {
		return traceEntry{trace, values.PushFront(value)}
	}
	return traceEntry{trace, values.PushBack(value)}
}

func (b byTrace[T]) remove(e traceEntry) {
	values := b[e.trace]
	values.Remove(e.element)
	if values.Len() == 0 {
		delete(b, e.trace)
	}
}

func (b byTrace[T]) count(trace pcommon.TraceID) int {
	if values := b[trace]; values != nil {
		return values.Len()
	}
	return 0
}

func (b byTrace[T]) values(trace pcommon.TraceID) []T {
	out := make([]T, 0, b.count(trace))
	if values := b[trace]; values != nil {
		for e := values.Front(); e != nil; e = e.Next() {
			out = append(out, e.Value.(T))
		}
	}
	return out
}
