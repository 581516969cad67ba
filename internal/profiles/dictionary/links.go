// SPDX-License-Identifier: Apache-2.0

package dictionary

import (
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// Links finds and adds entries in the link table of a message that exists.
type Links struct {
	table    pprofile.LinkSlice
	capacity int // entries that the table holds without being copied
	index    hashIndex
}

var linksPool = sync.Pool{New: func() any { return new(Links) }}

// NewLinks reads the links of a dictionary. It writes entry 0 if there is none.
//
// The scratch memory comes from a pool; [Links.Release] gives it back.
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

// Release gives the scratch memory back. The Links must not be used
// afterwards; the table is unaffected.
func (l *Links) Release() {
	l.table = pprofile.LinkSlice{}
	l.index.trim()
	linksPool.Put(l)
}

// Grow prepares for about this many links more. The table at least doubles: pdata makes it just as large as asked, and a message
// of many profiles, each with a link or two, would copy all links before for each of them.
func (l *Links) Grow(n int) {
	need := l.table.Len() + n
	if need > l.capacity {
		l.capacity = max(need, 2*l.capacity)
		l.table.EnsureCapacity(l.capacity)
	}
	l.index.reserve(need)
}

// Index returns the position of a reference to a span, adding it if it is new. As for Builder.Link, with one of the ids
// missing it is 0.
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

// find gives the position of a link with this hash, or 0.
func (l *Links) find(hash uint32, k link) int32 {
	return l.index.find(hash, func(i int32) bool {
		entry := l.table.At(int(i))
		return entry.SpanID() == k.span && entry.TraceID() == k.trace
	})
}
