// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
)

// store keeps messages: the latest, up to a number of bytes and an age. Projects share the bytes: the one with the most loses its
// own oldest message; see [fairshare].
type store struct {
	maxBytes int64
	maxAge   time.Duration

	mu       sync.RWMutex
	messages fairshare.Queue[string, *message]
	profiles map[uint64]*profileSummary
	shares   map[pcommon.TraceID]*chain[kept]            // of spans and log records, by arrival
	linking  map[pcommon.TraceID]*chain[*profileSummary] // profiles with samples of the trace, by arrival
	lastID   uint64
	version  uint64 // changes with what is kept
	evicted  int64
	dropped  int64
}

// kept is a share and where it is.
type kept struct {
	message *message
	share   *traceShare
}

func newStore(maxBytes int64, maxAge time.Duration) *store {
	return &store{
		maxBytes: maxBytes,
		maxAge:   maxAge,
		profiles: map[uint64]*profileSummary{},
		shares:   map[pcommon.TraceID]*chain[kept]{},
		linking:  map[pcommon.TraceID]*chain[*profileSummary]{},
	}
}

// add keeps messages of the same arrival. It gives the number of those that are larger than everything that may be kept.
func (s *store) add(list ...*message) (dropped int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range list {
		size := m.size()
		if size > s.maxBytes {
			dropped++
			continue
		}
		s.messages.Push(m.project, m, size)
		s.index(m)
		s.trim(m.arrived)
	}
	s.dropped += int64(dropped)
	s.version++
	return dropped
}

func (s *store) index(m *message) {
	for _, p := range m.profiles {
		s.lastID++
		p.id = s.lastID
		s.profiles[p.id] = p
		for trace := range traces(p) {
			p.linking = append(p.linking, appendTo(s.linking, trace, p))
		}
	}
	for _, share := range m.traces {
		if !share.id.IsEmpty() {
			share.kept = appendTo(s.shares, share.id, kept{m, share})
		}
	}
}

// traces are those that a profile has samples of.
func traces(p *profileSummary) map[pcommon.TraceID]struct{} {
	set := make(map[pcommon.TraceID]struct{}, len(p.spans))
	for link := range p.spans {
		set[link.Trace] = struct{}{}
	}
	return set
}

// expire evicts the messages that are too old.
func (s *store) expire(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trim(now)
}

// trim evicts messages until the rest is within the limits.
func (s *store) trim(now time.Time) {
	for e := s.messages.Oldest(); e != nil && now.Sub(e.Value.arrived) > s.maxAge; e = s.messages.Oldest() {
		s.evict(e)
	}
	for s.messages.Size() > s.maxBytes {
		s.evict(s.messages.LargestOldest())
	}
}

// evict takes time in proportion to the message.
func (s *store) evict(e *fairshare.Entry[string, *message]) {
	m := e.Value
	s.messages.Remove(e)
	for _, p := range m.profiles {
		delete(s.profiles, p.id)
		for _, place := range p.linking {
			removeFrom(s.linking, place)
		}
		p.linking = nil
	}
	for _, share := range m.traces {
		if share.kept != nil {
			removeFrom(s.shares, share.kept)
			share.kept = nil
		}
	}
	s.evicted++
	s.version++
}

// use says how full the store is.
type use struct {
	Version  uint64
	Messages int
	Bytes    int64
	Evicted  int64
	Dropped  int64
}

func (s *store) use() use {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return use{s.version, s.messages.Len(), s.messages.Size(), s.evicted, s.dropped}
}

// profile finds a profile by its id.
func (s *store) profile(id uint64) (*profileSummary, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	p, ok := s.profiles[id]
	return p, ok
}

// linkedTo gives the profiles with samples of a trace, the oldest first.
func (s *store) linkedTo(trace pcommon.TraceID) []*profileSummary {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.linking[trace].values()
}

// linkedCount returns the number of profiles with samples of a trace.
func (s *store) linkedCount(trace pcommon.TraceID) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.linking[trace].count()
}

// sharesOf gives what there is of a trace, the oldest first.
func (s *store) sharesOf(trace pcommon.TraceID) []kept {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.shares[trace].values()
}

// all gives everything, the newest first; summaries do not change, so that they can be read without the lock.
func (s *store) all() (profiles []*profileSummary, traces [][]kept, logs []*message) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	seen := make(map[pcommon.TraceID]bool, len(s.shares))
	all := make([]*message, 0, s.messages.Len())
	for e := s.messages.Oldest(); e != nil; e = e.Newer() {
		all = append(all, e.Value)
	}
	for _, m := range slices.Backward(all) {
		profiles = append(profiles, m.profiles...)
		if m.signal == signalLogs {
			logs = append(logs, m)
		}
		for _, share := range m.traces {
			if !share.id.IsEmpty() && !seen[share.id] {
				seen[share.id] = true
				traces = append(traces, s.shares[share.id].values())
			}
		}
	}
	return profiles, traces, logs
}

// spansOf adds up the samples of each span of a trace, over all profiles.
func (s *store) spansOf(trace pcommon.TraceID) map[pcommon.SpanID]linked {
	sums := map[pcommon.SpanID]linked{}
	for _, p := range s.linkedTo(trace) {
		for link, l := range maps.All(p.spans) {
			if link.Trace == trace {
				sum := sums[link.Span]
				sums[link.Span] = linked{sum.samples + l.samples, sum.weight + l.weight}
			}
		}
	}
	return sums
}

const (
	// maxTraceNames of a profile in a list.
	maxTraceNames = 3
	// maxSpansNamed: a profile of more spans than that has no few names to be known by, and lists are asked for all the time.
	maxSpansNamed = 1000
)

// traceNames names the traces of profiles for one list, each trace once: many profiles may have samples of a trace of many shares.
type traceNames struct {
	store *store
	known map[pcommon.TraceID]string
}

// of names the traces that a profile has most samples of.
func (t traceNames) of(p *profileSummary) (names []string) {
	if len(p.spans) > maxSpansNamed {
		return nil
	}
	byTrace := map[pcommon.TraceID]int64{}
	for link, l := range p.spans {
		byTrace[link.Trace] += l.weight
	}
	weights := map[string]int64{}
	for trace, weight := range byTrace {
		if name := t.name(trace); name != "" {
			weights[name] += weight
		}
	}
	names = slices.SortedFunc(maps.Keys(weights), func(a, b string) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b))
	})
	return names[:min(len(names), maxTraceNames)]
}

func (t traceNames) name(trace pcommon.TraceID) string {
	name, known := t.known[trace]
	if !known {
		if shares := t.store.sharesOf(trace); len(shares) > 0 {
			name = listTrace(shares).Name
		}
		t.known[trace] = name
	}
	return name
}
