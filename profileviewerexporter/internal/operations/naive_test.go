// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// naive computes the figures of a service from all spans, without any state.
func naive(spans []Span, service string) map[Name]Figures {
	children := map[Key][]Span{}
	for _, s := range spans {
		if !s.Parent.IsEmpty() {
			parent := Key{s.Key.Trace, s.Parent}
			children[parent] = append(children[parent], s)
		}
	}
	// below returns the durations of the calls below a span.
	var below func(Key) (database, remote uint64)
	below = func(key Key) (database, remote uint64) {
		for _, c := range children[key] {
			switch isRoot := c.Kind == ptrace.SpanKindServer || c.Kind == ptrace.SpanKindConsumer; {
			case isRoot:
			case c.Calls == Database:
				database += c.End - c.Start
			case c.Calls == Remote:
				remote += c.End - c.Start
			default:
				d, r := below(c.Key)
				database, remote = database+d, remote+r
			}
		}
		return database, remote
	}
	out, durations := map[Name]Figures{}, map[Name][]uint64{}
	for _, s := range spans {
		if s.Service != service {
			continue
		}
		name := Name{s.Name, s.Kind}
		f := out[name]
		f.Name = name
		f.Count++
		if s.Error {
			f.Errors++
		}
		f.Total += s.End - s.Start
		f.Calls[s.Calls] += s.End - s.Start
		database, remote := below(s.Key)
		switch s.Calls {
		case Database:
			database, remote = s.End-s.Start, 0
		case Remote:
			database, remote = 0, s.End-s.Start
		}
		f.Database, f.Remote = f.Database+database, f.Remote+remote
		f.Slowest = append(f.Slowest, Slow{s.Key, s.End - s.Start})
		out[name], durations[name] = f, append(durations[name], s.End-s.Start)
	}
	for name, f := range out {
		list := durations[name]
		slices.Sort(list)
		at := func(share float64) uint64 { return list[max(1, int(math.Ceil(share*float64(len(list)))))-1] }
		f.P50, f.P95, f.P99 = at(0.5), at(0.95), at(0.99)
		slices.SortStableFunc(f.Slowest, func(a, b Slow) int { return cmp.Compare(b.Duration, a.Duration) })
		f.Slowest = f.Slowest[:min(len(f.Slowest), maxSlowest)]
		out[name] = f
	}
	return out
}

// checkFigures compares the figures of a table with the naive ones.
func checkFigures(t *testing.T, table *Table, spans []Span, service string) {
	t.Helper()
	want, got := naive(spans, service), table.Of(service)
	require.Len(t, got, len(want))
	for _, f := range got {
		w := want[f.Name]
		for _, p := range [][2]uint64{{w.P50, f.P50}, {w.P95, f.P95}, {w.P99, f.P99}} {
			assert.InEpsilon(t, float64(p[0])+1, float64(p[1])+1, 0.01, "%v", f.Name)
		}
		assert.Len(t, f.Slowest, len(w.Slowest))
		for i, slow := range f.Slowest {
			assert.Equal(t, w.Slowest[i].Duration, slow.Duration, "%v", f.Name)
		}
		f.P50, f.P95, f.P99, f.Slowest = w.P50, w.P95, w.P99, w.Slowest
		assert.Equal(t, w, f)
	}
}

// randomSpans returns the spans of trees, in random order.
func randomSpans(r *rand.Rand, traces int) (spans []Span) {
	for i := range traces {
		trace, all := pcommon.TraceID{byte(i), byte(i >> 8), byte(i >> 16), 1}, 1+r.IntN(12)
		for n := range all {
			s := Span{
				Key: Key{trace, pcommon.SpanID{byte(n + 1)}}, Service: fmt.Sprint("s", r.IntN(2)), Name: fmt.Sprint("op", r.IntN(4)),
				Kind: ptrace.SpanKind(1 + r.IntN(5)), Start: 1000, Error: r.IntN(10) == 0,
			}
			s.End = s.Start + uint64(math.Exp(r.Float64()*20))
			if n > 0 {
				s.Parent = pcommon.SpanID{byte(1 + r.IntN(n))}
			}
			if s.Kind == ptrace.SpanKindClient || s.Kind == ptrace.SpanKindInternal {
				s.Calls = Callee(r.IntN(3))
			}
			spans = append(spans, s)
		}
	}
	r.Shuffle(len(spans), func(i, j int) { spans[i], spans[j] = spans[j], spans[i] })
	return spans
}

// TestFigures: the figures are those of the spans, in any order of arrival. After the removal of
// whole traces they are those of the rest, and after that of all the table is empty.
func TestFigures(t *testing.T) {
	traces := []int{0, 1, 2, 10, 100, 1000}
	if testsize.Full() {
		traces = append(traces, 160_000) // a million spans
	}
	for _, n := range traces {
		spans, table := randomSpans(rand.New(rand.NewPCG(uint64(n), 1)), n), NewTable()
		nodes := make([]*Node, len(spans))
		for i, s := range spans {
			nodes[i] = table.Add(tenant.Tenant{}, s)
		}
		var rest []Span
		checkFigures(t, table, spans, "s0")
		for i, s := range spans {
			if s.Key.Trace[0]%2 == 0 {
				table.Remove(nodes[i])
			} else {
				rest = append(rest, s)
			}
		}
		checkFigures(t, table, rest, "s0")
		checkFigures(t, table, rest, "s1")
		for i, s := range spans {
			if s.Key.Trace[0]%2 == 1 {
				table.Remove(nodes[i])
			}
		}
		assert.Equal(t, NewTable(), table)
	}
}
