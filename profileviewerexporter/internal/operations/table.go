// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"unsafe"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

const (
	// maxOperations is the maximum number of operations of a tenant. Services have about a hundred;
	// senders may invent names. Operations take up to 3 kB each, in addition to their spans.
	maxOperations = 2000
	// other is the name of all operations beyond it, of a service and kind. As senders may invent
	// these as well, there are maxOperations of them, and further spans are of no service.
	other = "(other operations)"

	// NodeBytes is the memory of a node: it is in a map, which is about two thirds full.
	NodeBytes = int(unsafe.Sizeof(Node{})) + 2*int(unsafe.Sizeof(Key{})+8)
	// SpanBytes is the memory of a span: its node, its places in the message and in the operation,
	// and its part of a bucket.
	SpanBytes = NodeBytes + 32
)

// Key is a span of a trace.
type Key struct {
	Trace pcommon.TraceID
	Span  pcommon.SpanID
}

// Span is a span for the table.
type Span struct {
	Key        Key
	Parent     pcommon.SpanID
	Service    string
	Name       string // for display
	Kind       ptrace.SpanKind
	Calls      Callee
	Start, End uint64 // Unix nanoseconds
	Error      bool
}

// Callee is the kind of system that a span calls.
type Callee uint8

// The callees.
const (
	None Callee = iota
	Database
	Remote // a service, by HTTP or RPC
)

// CalleeOf returns the system that a span calls. SDKs that state no kind of span call databases in
// internal spans.
func CalleeOf(span ptrace.Span) Callee {
	has := func(keys ...string) bool {
		for _, key := range keys {
			if _, ok := span.Attributes().Get(key); ok {
				return true
			}
		}
		return false
	}
	switch kind := span.Kind(); {
	case kind == ptrace.SpanKindServer || kind == ptrace.SpanKindConsumer:
		return None
	case has(semconv.DBSystemName, semconv.DBSystem):
		return Database
	case kind == ptrace.SpanKindClient && has(semconv.HTTPRequestMethod, semconv.HTTPMethod, semconv.RPCSystemName, semconv.RPCSystem):
		return Remote
	}
	return None
}

// Table has the spans of a store. It is not safe for concurrent use.
type Table struct {
	nodes      map[Key]*Node
	operations map[string]map[operationKey]*operation // by service
	counts     map[tenant.Tenant]int                  // of operations
}

type operationKey struct {
	tenant tenant.Tenant
	name   string
	kind   ptrace.SpanKind
}

// operation sums the spans of an operation.
type operation struct {
	operationKey
	service   string
	errors    int
	total     uint64             // nanoseconds
	calls     [numCallees]uint64 // nanoseconds, by callee
	called    [numCallees]uint64 // those of its own spans
	durations histogram
	slowest   slowest
}

// NewTable returns an empty table.
func NewTable() *Table {
	return &Table{nodes: map[Key]*Node{}, operations: map[string]map[operationKey]*operation{}, counts: map[tenant.Tenant]int{}}
}

// Absent returns the number of parents of spans that are not among the spans.
func Absent(spans []Span) int {
	here, absent := make(map[Key]bool, len(spans)), map[Key]bool{}
	for _, s := range spans {
		here[s.Key] = true
	}
	for _, s := range spans {
		if parent := (Key{s.Key.Trace, s.Parent}); !s.Parent.IsEmpty() && !here[parent] {
			absent[parent] = true
		}
	}
	return len(absent)
}

// Add adds a span of a tenant, and returns its node. Several spans may have a key; the first
// represents them in the tree.
func (t *Table) Add(sender tenant.Tenant, s Span) *Node {
	n := t.nodes[s.Key]
	if n == nil || n.of != nil {
		n = &Node{key: s.Key}
		if _, taken := t.nodes[s.Key]; !taken {
			t.nodes[s.Key] = n
		}
	}
	n.duration = s.End - min(s.Start, s.End)
	n.callee, n.root, n.failed = s.Calls, s.Kind == ptrace.SpanKindServer || s.Kind == ptrace.SpanKindConsumer, s.Error
	n.of = t.operation(sender, s)
	n.of.add(n)
	if !s.Parent.IsEmpty() && s.Parent != s.Key.Span {
		n.parent = t.parent(Key{s.Key.Trace, s.Parent})
		n.spread()
	}
	return n
}

// parent returns the node of a parent, with one more child.
func (t *Table) parent(key Key) *Node {
	n := t.nodes[key]
	if n == nil {
		n = &Node{key: key}
		t.nodes[key] = n
	}
	n.children++
	return n
}

func (t *Table) operation(sender tenant.Tenant, s Span) *operation {
	service, key := s.Service, operationKey{sender, s.Name, s.Kind}
	missing := func(most int) bool { return t.operations[service][key] == nil && t.counts[sender] >= most }
	if missing(maxOperations) {
		key.name = other
	}
	if missing(2 * maxOperations) {
		service, key.kind = "", ptrace.SpanKindUnspecified
	}
	of := t.operations[service]
	if of == nil {
		of = map[operationKey]*operation{}
		t.operations[service] = of
	}
	if of[key] == nil {
		of[key] = &operation{operationKey: key, service: service, durations: histogram{}}
		t.counts[sender]++
	}
	return of[key]
}

// Remove removes a span.
func (t *Table) Remove(n *Node) {
	op := n.of
	op.remove(n)
	if len(op.slowest) == 0 {
		delete(t.operations[op.service], op.operationKey)
		if len(t.operations[op.service]) == 0 {
			delete(t.operations, op.service)
		}
		if t.counts[op.tenant]--; t.counts[op.tenant] == 0 {
			delete(t.counts, op.tenant)
		}
	}
	if p := n.parent; p != nil {
		p.children--
		t.release(p)
	}
	// Later children find an empty node, as if the span had not arrived.
	n.of, n.parent, n.calls, n.callee, n.root = nil, nil, [numCallees]uint64{}, None, false
	t.release(n)
}

// release removes a node that nothing refers to.
func (t *Table) release(n *Node) {
	if n.of == nil && n.children == 0 && t.nodes[n.key] == n {
		delete(t.nodes, n.key)
	}
}

func (o *operation) add(n *Node) {
	o.total += n.duration
	o.durations.add(n.duration, 1)
	o.slowest.Push(n)
	if n.failed {
		o.errors++
	}
	o.called[n.callee] += n.duration
	for callee, duration := range n.spent() {
		o.calls[callee] += duration
	}
}

func (o *operation) remove(n *Node) {
	o.total -= n.duration
	o.durations.add(n.duration, -1)
	o.slowest.Remove(n)
	if n.failed {
		o.errors--
	}
	o.called[n.callee] -= n.duration
	for callee, duration := range n.spent() {
		o.calls[callee] -= duration
	}
}
