// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// maxSlowest is the number of slowest spans of an operation in its figures.
const maxSlowest = 5

// Name is an operation of a service.
type Name struct {
	Name string
	Kind ptrace.SpanKind
}

// Figures are the figures of an operation. Durations are in nanoseconds.
type Figures struct {
	Name
	Count, Errors int
	P50, P95, P99 uint64
	Total         uint64 // of all spans
	Database      uint64 // in calls to databases
	Remote        uint64 // in calls to services
	// Calls is the time of its spans by the system that they call themselves, which may be None.
	Calls   [numCallees]uint64
	Slowest []Slow

	durations histogram
	nodes     []*Node
}

// Own returns the time of the service's code.
func (f *Figures) Own() uint64 { return f.Total - min(f.Total, f.Database+f.Remote) }

// Slow is one of the slowest spans of an operation.
type Slow struct {
	Key
	Duration uint64
}

// Of returns the figures of the operations of a service, by name and kind.
func (t *Table) Of(service string) []Figures {
	sums := map[Name]*Figures{}
	for key, op := range t.operations[service] {
		name := Name{key.name, key.kind}
		sum := sums[name]
		if sum == nil {
			sum = &Figures{Name: name, durations: histogram{}}
			sums[name] = sum
		}
		sum.Count, sum.Errors, sum.Total = sum.Count+len(op.slowest), sum.Errors+op.errors, sum.Total+op.total
		sum.Database, sum.Remote = sum.Database+op.calls[Database], sum.Remote+op.calls[Remote]
		for callee, duration := range op.called {
			sum.Calls[callee] += duration
		}
		sum.durations.plus(op.durations)
		sum.nodes = append(sum.nodes, slowestOf(op.slowest, maxSlowest)...)
	}
	list := make([]Figures, 0, len(sums))
	for _, sum := range sums {
		percentiles := sum.durations.percentiles(0.5, 0.95, 0.99)
		sum.P50, sum.P95, sum.P99, sum.durations = percentiles[0], percentiles[1], percentiles[2], nil
		slices.SortFunc(sum.nodes, byDuration)
		for _, n := range sum.nodes[:min(len(sum.nodes), maxSlowest)] {
			sum.Slowest = append(sum.Slowest, Slow{n.key, n.duration})
		}
		sum.nodes = nil
		list = append(list, *sum)
	}
	slices.SortFunc(list, func(a, b Figures) int {
		return cmp.Or(cmp.Compare(a.Name.Name, b.Name.Name), cmp.Compare(a.Kind, b.Kind))
	})
	return list
}

// Above visits the operations of a service that a span belongs to: its own and those of the spans
// above it, each once. It returns the number of spans.
func (t *Table) Above(service string, span Key, visit func(Name)) (spans int) {
	n := t.nodes[span]
	if n == nil || n.of == nil || n.of.service != service {
		return 1
	}
	var seen []*operation // rarely more than ten
	n.ancestors(func(n *Node) {
		spans++
		op := n.of
		known := func(other *operation) bool {
			return op == other || op.tenant != other.tenant && op.name == other.name && op.kind == other.kind
		}
		if !slices.ContainsFunc(seen, known) {
			seen = append(seen, op)
			visit(Name{op.name, op.kind})
		}
	})
	return spans
}

// Place is where a span is in its service.
type Place struct {
	Callee Callee // of the innermost call that the span is, or is below of
	Call   Name   // that call
	Root   Name   // the outermost span above it
}

// PlaceOf returns the place of a span of a service, and the number of spans above it.
func (t *Table) PlaceOf(service string, span Key) (p Place, spans int) {
	n := t.nodes[span]
	if n == nil || n.of == nil || n.of.service != service {
		return p, 1
	}
	n.ancestors(func(n *Node) {
		spans++
		p.Root = Name{n.of.name, n.of.kind}
		if p.Callee == None && n.callee != None {
			p.Callee, p.Call = n.callee, p.Root
		}
	})
	return p, spans
}
