// SPDX-License-Identifier: Apache-2.0

package dictionary

import (
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// Links finds and adds entries in the link table of an existing message.
type Links struct {
	table    pprofile.LinkSlice
	capacity int // number of entries that the table can hold without reallocation
	index    hashIndex
}

var linksPool = sync.Pool{New: func() any { return new(Links) }}

// NewLinks reads the links of a dictionary. It writes entry 0 if there is none.
//
// The scratch memory comes from a pool; [Links.Release] returns it.
func NewLinks(d pprofile.ProfilesDictionary) *Links {
	l := linksPool.Get().(*Links)
	l.table = d.LinkTable()
	if l.table.Len() == 0 {
		l.table.AppendEmpty()
	}
	l.capacity = l.table.Len()
	l.index.reset(l.capacity)
	for i := 1; i < l.table.Len(); i++ {
		entry := l.table.At(i)
		k := link{trace: entry.TraceID(), span: entry.SpanID()}
		if h := short(hashLink(k)); l.find(h, k) == 0 {
			l.index.add(h, i)
		}
	}
	return l
}

// Release returns the scratch memory to the pool. The Links must not be used afterwards; the table
// is unaffected.
func (l *Links) Release() {
	l.table = pprofile.LinkSlice{}
	l.index.trim()
	linksPool.Put(l)
}

// Grow prepares for about n more links. The capacity at least doubles, because pdata allocates
// exactly the requested capacity: if each of many profiles had only one or two links, all earlier
// links would be copied for each profile.
func (l *Links) Grow(n int) {
	need := l.table.Len() + n
	if need > l.capacity {
		l.capacity = max(need, 2*l.capacity)
		l.table.EnsureCapacity(l.capacity)
	}
	l.index.reserve(need)
}

// Index returns the position of a link to a span, which it adds if it is new. Like Builder.Link, it
// returns 0 if one of the IDs is missing.
func (l *Links) Index(traceID pcommon.TraceID, spanID pcommon.SpanID) LinkIndex {
	if traceID.IsEmpty() || spanID.IsEmpty() {
		return 0
	}
	k := link{trace: traceID, span: spanID}
	h := short(hashLink(k))
	i := l.find(h, k)
	if i == 0 {
		i = int32(l.table.Len())
		l.index.add(h, int(i))
		entry := l.table.AppendEmpty()
		entry.SetTraceID(traceID)
		entry.SetSpanID(spanID)
	}
	return LinkIndex(i)
}

// find returns the position of a link with this hash, or 0.
func (l *Links) find(hash uint32, k link) int32 {
	return l.index.find(hash, func(i int32) bool {
		entry := l.table.At(int(i))
		return entry.SpanID() == k.span && entry.TraceID() == k.trace
	})
}
