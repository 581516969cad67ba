// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

func span(id, parent byte, name string, duration uint64) Span {
	s := Span{Key: Key{pcommon.TraceID{1}, pcommon.SpanID{id}}, Service: "shop", Name: name, End: duration}
	if parent != 0 {
		s.Parent = pcommon.SpanID{parent}
	}
	return s
}

func named(table *Table, name string) (out Figures) {
	for _, f := range table.Of("shop") {
		if f.Name.Name == name {
			out = f
		}
	}
	return out
}

// TestRepeatedSpan: a span that arrives twice counts twice, with the time of its calls.
func TestRepeatedSpan(t *testing.T) {
	table, call := NewTable(), span(2, 1, "SELECT orders", 30)
	call.Calls = Database
	var nodes []*Node
	for range 2 {
		nodes = append(nodes, table.Add(tenant.Tenant{}, call), table.Add(tenant.Tenant{}, span(1, 0, "GET /", 100)))
	}
	got := named(table, "GET /")
	assert.Equal(t, [3]uint64{2, 200, 60}, [3]uint64{uint64(got.Count), got.Total, got.Database})
	assert.Equal(t, uint64(140), got.Own())
	for _, n := range nodes {
		table.Remove(n)
	}
	assert.Equal(t, NewTable(), table)
}

// TestLateParent: an evicted parent leaves no trace of its calls, but those of a parent that is
// still stored remain.
func TestLateParent(t *testing.T) {
	table, call := NewTable(), span(2, 1, "SELECT orders", 30)
	call.Calls = Database
	child, parent := table.Add(tenant.Tenant{}, call), table.Add(tenant.Tenant{}, span(1, 0, "GET /", 100))
	table.Remove(child)
	assert.Equal(t, uint64(30), named(table, "GET /").Database)
	table.Remove(parent)
	assert.Equal(t, NewTable(), table)
}

// TestCycle: spans that are each other's parents do not stop the table.
func TestCycle(t *testing.T) {
	table, call := NewTable(), span(3, 1, "SELECT orders", 30)
	call.Calls = Database
	nodes := []*Node{table.Add(tenant.Tenant{}, span(1, 2, "a", 1)), table.Add(tenant.Tenant{}, span(2, 1, "b", 1)), table.Add(tenant.Tenant{}, call)}
	var above []Name
	table.Above("shop", call.Key, func(name Name) { above = append(above, name) })
	assert.Equal(t, []Name{{"SELECT orders", 0}, {"a", 0}, {"b", 0}}, above)
	for _, n := range nodes {
		table.Remove(n)
	}
	assert.Equal(t, NewTable(), table)
}

// TestAbove: a sample belongs to the operations of its span and of those above it in the service,
// up to the request.
func TestAbove(t *testing.T) {
	table := NewTable()
	for _, s := range []struct {
		Span
		service string
		kind    ptrace.SpanKind
	}{
		{span(1, 0, "caller", 9), "web", ptrace.SpanKindClient},
		{span(2, 1, "above the request", 9), "shop", ptrace.SpanKindInternal},
		{span(3, 2, "GET /", 9), "shop", ptrace.SpanKindServer},
		{span(4, 3, "view", 9), "shop", ptrace.SpanKindInternal},
		{span(5, 4, "view", 9), "shop", ptrace.SpanKindInternal},
	} {
		s.Service, s.Kind = s.service, s.kind
		table.Add(tenant.Tenant{}, s.Span)
	}
	list := func(service string, id byte) (names []string) {
		table.Above(service, Key{pcommon.TraceID{1}, pcommon.SpanID{id}}, func(n Name) { names = append(names, n.Name) })
		return names
	}
	assert.Equal(t, []string{"view", "GET /"}, list("shop", 5))
	assert.Equal(t, []string{"above the request"}, list("shop", 2))
	assert.Empty(t, list("web", 5))
	assert.Empty(t, list("shop", 77))
}

// TestInventedNames: names are limited per tenant, and the operations of other tenants keep theirs.
func TestInventedNames(t *testing.T) {
	table, flood := NewTable(), tenant.Tenant{Ingress: tenant.Sentry, Name: "1"}
	var nodes []*Node
	for i := range 2 * maxOperations {
		nodes = append(nodes, table.Add(flood, span(1, 0, fmt.Sprint("op", i), 1)))
	}
	nodes = append(nodes, table.Add(tenant.Tenant{}, span(1, 0, "GET /", 1)))
	assert.Len(t, table.Of("shop"), maxOperations+2)
	assert.Equal(t, maxOperations, named(table, other).Count)
	assert.Equal(t, 1, named(table, "GET /").Count)
	for _, n := range nodes {
		table.Remove(n)
	}
	assert.Equal(t, NewTable(), table)
}

// TestInventedServices: the operations of invented services and kinds are limited, too.
func TestInventedServices(t *testing.T) {
	table := NewTable()
	var nodes []*Node
	for i := range 4 * maxOperations {
		s := span(1, 0, "GET /", 1)
		s.Service, s.Kind = fmt.Sprint(i), ptrace.SpanKind(i)
		s.Key.Trace = pcommon.TraceID{byte(i), byte(i >> 8), 1}
		nodes = append(nodes, table.Add(tenant.Tenant{}, s))
	}
	assert.Len(t, table.operations, 2*maxOperations+1)
	assert.Len(t, table.Of(""), 1)
	for _, n := range nodes {
		table.Remove(n)
	}
	assert.Equal(t, NewTable(), table)
}

// TestMemory: the spans use no more memory than stated.
func TestMemory(t *testing.T) {
	const spans = 30_000
	for name, parent := range map[string]func(i int) byte{
		"parent here":   func(int) byte { return 1 },
		"parent absent": func(int) byte { return 2 },
	} {
		before, table := heapBytes(), NewTable()
		var nodes []*Node
		for i := range spans {
			s := span(1, parent(i), "GET /", uint64(i)*7919)
			s.Key.Trace = pcommon.TraceID{byte(i), byte(i >> 8), byte(i >> 16), 1}
			nodes = append(nodes, table.Add(tenant.Tenant{}, s))
		}
		used, stated := heapBytes()-before, int64(spans*SpanBytes)
		if name == "parent absent" {
			stated += spans * int64(NodeBytes)
		}
		runtime.KeepAlive(table)
		runtime.KeepAlive(nodes)
		t.Logf("%s: used %d bytes per span, stated %d", name, used/spans, stated/spans)
		assert.Less(t, used, stated*5/4, name)
	}
}

// TestMemoryOfOperations: the operations of a tenant take no more memory than stated, in addition
// to that of their spans.
func TestMemoryOfOperations(t *testing.T) {
	const stated = 6 << 20
	before, table := heapBytes(), NewTable()
	var nodes []*Node
	for i := range 2 * maxOperations {
		s := span(1, 0, fmt.Sprint(i, strings.Repeat("x", timeline.MaxText)), uint64(i))
		s.Key.Trace = pcommon.TraceID{byte(i), byte(i >> 8), 1}
		nodes = append(nodes, table.Add(tenant.Tenant{}, s))
	}
	used := heapBytes() - before - int64(len(nodes)*SpanBytes)
	runtime.KeepAlive(table)
	runtime.KeepAlive(nodes)
	t.Logf("%d operations use %d kB", maxOperations, used>>10)
	assert.Less(t, used, int64(stated))
}

func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func TestCalleeOf(t *testing.T) {
	for _, c := range []struct {
		kind ptrace.SpanKind
		keys []string
		want Callee
	}{
		{ptrace.SpanKindClient, []string{semconv.DBSystemName, semconv.HTTPRequestMethod}, Database},
		{ptrace.SpanKindInternal, []string{semconv.DBSystem}, Database},
		{ptrace.SpanKindClient, []string{semconv.HTTPRequestMethod}, Remote},
		{ptrace.SpanKindClient, []string{semconv.RPCSystem}, Remote},
		{ptrace.SpanKindServer, []string{semconv.HTTPRequestMethod}, None},
		{ptrace.SpanKindInternal, []string{semconv.HTTPRequestMethod}, None},
		{ptrace.SpanKindClient, nil, None},
	} {
		s := ptrace.NewSpan()
		s.SetKind(c.kind)
		for _, key := range c.keys {
			s.Attributes().PutStr(key, "x")
		}
		assert.Equal(t, c.want, CalleeOf(s), "%v %v", c.kind, c.keys)
	}
}
