package profileviewerexporter

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// store keeps messages: the latest, up to a number of bytes and an age.
type store struct {
	maxBytes int64
	maxAge   time.Duration

	mu       sync.RWMutex
	messages []*message // by arrival
	profiles map[uint64]*profileSummary
	shares   map[pcommon.TraceID][]kept            // of spans and log records, by arrival
	linking  map[pcommon.TraceID][]*profileSummary // profiles with samples of the trace, by arrival
	lastID   uint64
	version  uint64 // changes with what is kept
	bytes    int64
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
		shares:   map[pcommon.TraceID][]kept{},
		linking:  map[pcommon.TraceID][]*profileSummary{},
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
		s.bytes += size
		s.messages = append(s.messages, m)
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
			s.linking[trace] = append(s.linking[trace], p)
		}
	}
	for _, share := range m.traces {
		if !share.id.IsEmpty() {
			s.shares[share.id] = append(s.shares[share.id], kept{m, share})
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

// expire lets go of what is too old.
func (s *store) expire(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trim(now)
}

// trim lets the oldest go until the rest is within the limits.
func (s *store) trim(now time.Time) {
	n := 0
	for _, m := range s.messages {
		if s.bytes <= s.maxBytes && now.Sub(m.arrived) <= s.maxAge {
			break
		}
		s.bytes -= m.size()
		n++
	}
	if n == 0 {
		return
	}
	s.unindex(s.messages[:n])
	clear(s.messages[:n])
	s.evicted += int64(n)
	s.version++
	if s.messages = s.messages[n:]; cap(s.messages) > 2*len(s.messages)+64 {
		s.messages = slices.Clone(s.messages)
	}
}

// unindex takes messages out of the maps. They are the oldest, so theirs is the beginning of every list.
func (s *store) unindex(oldest []*message) {
	profiles, shares := map[pcommon.TraceID]int{}, map[pcommon.TraceID]int{} // how many of a list
	for _, m := range oldest {
		for _, p := range m.profiles {
			delete(s.profiles, p.id)
			for trace := range traces(p) {
				profiles[trace]++
			}
		}
		for _, share := range m.traces {
			if !share.id.IsEmpty() {
				shares[share.id]++
			}
		}
	}
	removeFirst(s.linking, profiles)
	removeFirst(s.shares, shares)
}

func removeFirst[T any](lists map[pcommon.TraceID][]T, count map[pcommon.TraceID]int) {
	for trace, n := range count {
		if list := lists[trace]; n < len(list) {
			lists[trace] = slices.Clone(list[n:])
		} else {
			delete(lists, trace)
		}
	}
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
	return use{s.version, len(s.messages), s.bytes, s.evicted, s.dropped}
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
	return slices.Clone(s.linking[trace])
}

// sharesOf gives what there is of a trace, the oldest first.
func (s *store) sharesOf(trace pcommon.TraceID) []kept {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.shares[trace])
}

// all gives everything, the newest first; summaries do not change, so that they can be read without the lock.
func (s *store) all() (profiles []*profileSummary, traces [][]kept, logs []*message) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	seen := make(map[pcommon.TraceID]bool, len(s.shares))
	for _, m := range slices.Backward(s.messages) {
		profiles = append(profiles, m.profiles...)
		if m.signal == signalLogs {
			logs = append(logs, m)
		}
		for _, share := range m.traces {
			if !share.id.IsEmpty() && !seen[share.id] {
				seen[share.id] = true
				traces = append(traces, s.shares[share.id])
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

// tracesOf names the traces that a profile has most samples of.
func (s *store) tracesOf(p *profileSummary) (names []string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(p.spans) > maxSpansNamed {
		return nil
	}
	byTrace := map[pcommon.TraceID]int64{}
	for link, l := range p.spans {
		byTrace[link.Trace] += l.weight
	}
	weights := map[string]int64{}
	for trace, weight := range byTrace {
		if shares := s.shares[trace]; len(shares) > 0 {
			if name := listTrace(shares).Name; name != "" {
				weights[name] += weight
			}
		}
	}
	names = slices.SortedFunc(maps.Keys(weights), func(a, b string) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b))
	})
	return names[:min(len(names), maxTraceNames)]
}
