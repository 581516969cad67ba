// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// appendable is the data of every signal but profiles: each message of profiles has its own
// dictionary, so appending one would renumber every index.
type appendable interface {
	size() int
	append(next appendable)
}

// Size returns the size of a message as protobuf, in bytes. It is not for profiles.
func (m Message) Size() int { return m.data.(appendable).size() }

// Append moves the content of another message of the same signal to the end of m, without repeating
// a resource or scope that is equal to the last one there. It is not for profiles.
func (m Message) Append(next Message) { m.data.(appendable).append(next.data.(appendable)) }

func (d traces) size() int  { return new(ptrace.ProtoMarshaler).TracesSize(d.Traces) }
func (d logs) size() int    { return new(plog.ProtoMarshaler).LogsSize(d.Logs) }
func (d metrics) size() int { return new(pmetric.ProtoMarshaler).MetricsSize(d.Metrics) }

func (d traces) append(next appendable) {
	join(d.ResourceSpans(), next.(traces).ResourceSpans(), equalResources, func(d, next ptrace.ResourceSpans) {
		join(d.ScopeSpans(), next.ScopeSpans(), equalScopes, func(d, next ptrace.ScopeSpans) {
			next.Spans().MoveAndAppendTo(d.Spans())
		})
	})
}

func (d logs) append(next appendable) {
	join(d.ResourceLogs(), next.(logs).ResourceLogs(), equalResources, func(d, next plog.ResourceLogs) {
		join(d.ScopeLogs(), next.ScopeLogs(), equalScopes, func(d, next plog.ScopeLogs) {
			next.LogRecords().MoveAndAppendTo(d.LogRecords())
		})
	})
}

func (d metrics) append(next appendable) {
	join(d.ResourceMetrics(), next.(metrics).ResourceMetrics(), equalResources, func(d, next pmetric.ResourceMetrics) {
		join(d.ScopeMetrics(), next.ScopeMetrics(), equalScopes, func(d, next pmetric.ScopeMetrics) {
			next.Metrics().MoveAndAppendTo(d.Metrics())
		})
	})
}

// list is a list of resources or scopes with their data.
type list[E, L any] interface {
	Len() int
	At(int) E
	RemoveIf(func(E) bool)
	MoveAndAppendTo(L)
}

// join moves a list to the end of another. If the elements where they meet are equal, merge moves
// the content of the second one to the first.
func join[E any, L list[E, L]](to, from L, equal func(a, b E) bool, merge func(to, from E)) {
	if last := to.Len() - 1; last >= 0 && from.Len() > 0 && equal(to.At(last), from.At(0)) {
		merge(to.At(last), from.At(0))
		first := true
		from.RemoveIf(func(E) bool { merged := first; first = false; return merged })
	}
	from.MoveAndAppendTo(to)
}

func equalResources[R interface {
	Resource() pcommon.Resource
	SchemaUrl() string
}](a, b R) bool {
	return a.SchemaUrl() == b.SchemaUrl() && a.Resource().Attributes().Equal(b.Resource().Attributes())
}

func equalScopes[S interface {
	Scope() pcommon.InstrumentationScope
	SchemaUrl() string
}](a, b S) bool {
	s, t := a.Scope(), b.Scope()
	return a.SchemaUrl() == b.SchemaUrl() && s.Name() == t.Name() && s.Version() == t.Version() && s.Attributes().Equal(t.Attributes())
}
