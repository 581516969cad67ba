// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Fragment is the part of a trace, or of no trace, that one message has from one service.
type Fragment struct {
	Trace   pcommon.TraceID
	Message *Message
	Service string
	Spans   int
	Records int // log records
	Points  int // of metrics
	// Exceptions is the number of log records that are errors, or of exceptions in the events of
	// spans.
	Exceptions int

	start, end uint64 // Unix nanoseconds
	errors     int    // spans with the status error
	root       string // name of the span without a parent; empty: not in this fragment
	first      string // name of the earliest span
	entry      traceEntry
}

// fragments are the fragments of a message that is being read.
type fragments struct {
	message *Message
	byKey   map[fragmentKey]*Fragment
}

type fragmentKey struct {
	trace   pcommon.TraceID
	service string
}

func fragmentsOf(m *Message) fragments { return fragments{m, map[fragmentKey]*Fragment{}} }

func (s fragments) of(trace pcommon.TraceID, service string) *Fragment {
	key := fragmentKey{trace, service}
	f := s.byKey[key]
	if f == nil {
		f = &Fragment{Trace: trace, Message: s.message, Service: service}
		s.byKey[key] = f
		s.message.Fragments = append(s.message.Fragments, f)
	}
	return f
}

// maxServices is the maximum number of services in the summary of a trace.
const maxServices = 20

// Trace summarizes a trace.
type Trace struct {
	ID         pcommon.TraceID
	Name       string
	Services   []string // the first maxServices
	Start, End uint64   // Unix nanoseconds
	Spans      int
	Errors     int // spans with the status error
	Records    int // log records
	Arrived    time.Time
}

// Combine returns the summary of a trace from its fragments, which must be at least one and in
// order of arrival.
func Combine(fragments []*Fragment) Trace {
	out := Trace{ID: fragments[0].Trace, Arrived: fragments[len(fragments)-1].Message.Arrived}
	var first *Fragment
	for _, f := range fragments {
		out.Spans, out.Errors, out.Records = out.Spans+f.Spans, out.Errors+f.errors, out.Records+f.Records
		if f.Spans == 0 {
			continue
		}
		if first == nil || f.start < first.start {
			first = f
		}
		out.End = max(out.End, f.end)
		out.Name = cmp.Or(out.Name, f.root)
		if len(out.Services) < maxServices && !slices.Contains(out.Services, f.Service) {
			out.Services = append(out.Services, f.Service)
		}
	}
	if first != nil {
		out.Start = first.start
		out.Name = cmp.Or(out.Name, first.first)
	}
	return out
}

const (
	// maxTraceNames is the maximum number of trace names of a profile in a list.
	maxTraceNames = 3
	// maxNamedSpans is the maximum number of spans of a profile that gets trace names: more spans
	// rarely belong to only a few traces, and the page requests lists all the time.
	maxNamedSpans = 1000
)

// TraceNames returns the names of traces for one list. It computes each name once: many profiles
// may have samples of a trace with many fragments.
type TraceNames struct {
	store *Store
	known map[pcommon.TraceID]string
}

// TraceNames returns the names of traces for one list.
func (s *Store) TraceNames() TraceNames { return TraceNames{s, map[pcommon.TraceID]string{}} }

// Of returns the names of the traces with the most samples in a profile.
func (n TraceNames) Of(p *Profile) []string {
	if len(p.Spans) > maxNamedSpans {
		return nil
	}
	byTrace := map[pcommon.TraceID]int64{}
	for link, sum := range p.Spans {
		byTrace[link.Trace] += sum.Weight
	}
	weights := map[string]int64{}
	for trace, weight := range byTrace {
		if name := n.name(trace); name != "" {
			weights[name] += weight
		}
	}
	names := slices.SortedFunc(maps.Keys(weights), func(a, b string) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b))
	})
	return names[:min(len(names), maxTraceNames)]
}

func (n TraceNames) name(trace pcommon.TraceID) string {
	name, known := n.known[trace]
	if !known {
		if fragments := n.store.Trace(trace); len(fragments) > 0 {
			name = Combine(fragments).Name
		}
		n.known[trace] = name
	}
	return name
}
