// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Size returns the size of a message as protobuf, in bytes. It is not for profiles.
func (m Message) Size() int {
	switch data := m.data.(type) {
	case ptrace.Traces:
		return new(ptrace.ProtoMarshaler).TracesSize(data)
	case plog.Logs:
		return new(plog.ProtoMarshaler).LogsSize(data)
	}
	return new(pmetric.ProtoMarshaler).MetricsSize(m.data.(pmetric.Metrics))
}

// Append moves the content of another message of the same signal to the end of m, without repeating
// a resource or scope that is equal to the last one there. It is not for profiles: each message of
// profiles has its own dictionary, so appending one would renumber every index.
func (m Message) Append(next Message) {
	switch data := m.data.(type) {
	case ptrace.Traces:
		join(data.ResourceSpans(), next.data.(ptrace.Traces).ResourceSpans(), equalResources, func(d, next ptrace.ResourceSpans) {
			join(d.ScopeSpans(), next.ScopeSpans(), equalScopes, func(d, next ptrace.ScopeSpans) {
				next.Spans().MoveAndAppendTo(d.Spans())
			})
		})
	case plog.Logs:
		join(data.ResourceLogs(), next.data.(plog.Logs).ResourceLogs(), equalResources, func(d, next plog.ResourceLogs) {
			join(d.ScopeLogs(), next.ScopeLogs(), equalScopes, func(d, next plog.ScopeLogs) {
				next.LogRecords().MoveAndAppendTo(d.LogRecords())
			})
		})
	case pmetric.Metrics:
		join(data.ResourceMetrics(), next.data.(pmetric.Metrics).ResourceMetrics(), equalResources, func(d, next pmetric.ResourceMetrics) {
			join(d.ScopeMetrics(), next.ScopeMetrics(), equalScopes, func(d, next pmetric.ScopeMetrics) {
				next.Metrics().MoveAndAppendTo(d.Metrics())
			})
		})
	}
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
