package dictionary

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// Links finds and adds entries in the link table of a message that exists.
type Links struct {
	table  pprofile.LinkSlice
	byLink map[link]LinkIndex
}

// NewLinks reads the links of a dictionary. It writes entry 0 if there is none.
func NewLinks(d pprofile.ProfilesDictionary) *Links {
	l := &Links{table: d.LinkTable(), byLink: map[link]LinkIndex{}}
	if l.table.Len() == 0 {
		l.table.AppendEmpty()
	}
	for i := 1; i < l.table.Len(); i++ {
		entry := l.table.At(i)
		k := link{trace: entry.TraceID(), span: entry.SpanID()}
		if _, twice := l.byLink[k]; !twice {
			l.byLink[k] = LinkIndex(i)
		}
	}
	return l
}

// Index returns the position of a reference to a span, adding it if it is new. As for Builder.Link, with one of the ids
// missing it is 0.
func (l *Links) Index(traceID pcommon.TraceID, spanID pcommon.SpanID) LinkIndex {
	if traceID.IsEmpty() || spanID.IsEmpty() {
		return 0
	}
	k := link{trace: traceID, span: spanID}
	i, known := l.byLink[k]
	if !known {
		i = LinkIndex(l.table.Len())
		l.byLink[k] = i
		entry := l.table.AppendEmpty()
		entry.SetTraceID(traceID)
		entry.SetSpanID(spanID)
	}
	return i
}

// Grow prepares for about this many links more.
func (l *Links) Grow(n int) {
	l.table.EnsureCapacity(l.table.Len() + n)
	if len(l.byLink) == 0 {
		l.byLink = make(map[link]LinkIndex, n)
	}
}
