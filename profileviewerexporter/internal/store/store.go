// SPDX-License-Identifier: Apache-2.0

package store

import (
	"maps"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/broadcast"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/operations"
)

// Store holds the latest messages, up to a number of bytes and an age. Tenants share the bytes:
// when the store is full, the tenant that uses the most loses its own oldest message; see
// [fairshare].
type Store struct {
	maxBytes int64
	maxAge   time.Duration

	mu        sync.RWMutex
	messages  fairshare.Queue[tenant.Tenant, *Message]
	profiles  map[uint64]*Profile
	fragments byTrace[*Fragment]
	linked    byTrace[*Profile] // profiles with samples of the trace
	spans     *operations.Table
	lastID    uint64
	version   uint64            // changes with the content
	versions  map[Signal]uint64 // likewise, of the messages of a signal
	evicted   int64
	dropped   int64
	changed   broadcast.Change
	recorder  Recorder // may be nil
}

// New returns an empty store.
func New(maxBytes int64, maxAge time.Duration) *Store {
	return &Store{
		maxBytes:  maxBytes,
		maxAge:    maxAge,
		profiles:  map[uint64]*Profile{},
		fragments: byTrace[*Fragment]{},
		linked:    byTrace[*Profile]{},
		spans:     operations.NewTable(),
		versions:  map[Signal]uint64{},
	}
}

// add stores a message. It returns false, and drops the message, if the message alone is larger
// than the store.
func (s *Store) add(m *Message) bool {
	size := m.size()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change(m.Signal)
	if size > s.maxBytes {
		s.dropped++
		return false
	}
	s.messages.Push(m.Tenant, m, size)
	s.index(m, s.lastID+1, false)
	s.lastID += uint64(len(m.Profiles))
	s.record(m)
	return true
}

// insert stores a message as the oldest one. It returns false if the message alone is larger than
// the store.
func (s *Store) insert(m *Message, firstID uint64) bool {
	size := m.size()
	s.mu.Lock()
	defer s.mu.Unlock()
	if size > s.maxBytes {
		return false
	}
	s.change(m.Signal)
	s.messages.PushOldest(m.Tenant, m, size)
	s.index(m, firstID, true)
	s.record(m)
	return true
}

func (s *Store) record(m *Message) {
	if s.recorder != nil {
		s.recorder.Added(m)
	}
	s.enforceLimits(m.Arrived)
}

func (s *Store) index(m *Message, firstID uint64, oldest bool) {
	for i, p := range m.Profiles {
		p.ID = firstID + uint64(i)
		s.profiles[p.ID] = p
		for trace := range tracesOf(p) {
			p.entries = append(p.entries, s.linked.add(trace, p, oldest))
		}
	}
	for _, f := range m.Fragments {
		if !f.Trace.IsEmpty() {
			f.entry = s.fragments.add(f.Trace, f, oldest)
		}
	}
	m.nodes = make([]*operations.Node, len(m.spans))
	for i, span := range m.spans {
		m.nodes[i] = s.spans.Add(m.Tenant, span)
	}
	m.spans = nil
}

// tracesOf returns the traces that a profile has samples of.
func tracesOf(p *Profile) map[pcommon.TraceID]struct{} {
	set := make(map[pcommon.TraceID]struct{}, len(p.Spans))
	for link := range p.Spans {
		set[link.Trace] = struct{}{}
	}
	return set
}

// Expire evicts the messages that are too old.
func (s *Store) Expire(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enforceLimits(now)
}

// enforceLimits evicts messages until the rest is within the limits.
func (s *Store) enforceLimits(now time.Time) {
	for e := s.messages.Oldest(); e != nil && now.Sub(e.Value.Arrived) > s.maxAge; e = s.messages.Oldest() {
		s.evict(e)
	}
	for s.messages.Size() > s.maxBytes {
		s.evict(s.messages.LargestOldest())
	}
}

func (s *Store) evict(e *fairshare.Entry[tenant.Tenant, *Message]) {
	s.remove(e)
	s.evicted++
}

// Clear removes all messages.
func (s *Store) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for e := s.messages.Oldest(); e != nil; e = s.messages.Oldest() {
		s.remove(e)
	}
}

// remove takes time in proportion to the message.
func (s *Store) remove(e *fairshare.Entry[tenant.Tenant, *Message]) {
	m := e.Value
	s.messages.Remove(e)
	if s.recorder != nil {
		s.recorder.Removed(m)
	}
	for _, p := range m.Profiles {
		delete(s.profiles, p.ID)
		for _, entry := range p.entries {
			s.linked.remove(entry)
		}
		p.entries = nil
	}
	for _, f := range m.Fragments {
		if f.entry.element != nil {
			s.fragments.remove(f.entry)
			f.entry = traceEntry{}
		}
	}
	for _, node := range m.nodes {
		s.spans.Remove(node)
	}
	m.nodes = nil
	s.change(m.Signal)
}

func (s *Store) change(signal Signal) {
	s.version++
	s.versions[signal]++
	s.changed.Notify()
}

// Changed returns a channel that is closed at the next change.
func (s *Store) Changed() <-chan struct{} { return s.changed.Next() }

// Versions returns a number per signal that changes with its messages. A signal that never had a
// message has none.
func (s *Store) Versions() map[Signal]uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.Clone(s.versions)
}

// Stats describes the use of the store.
type Stats struct {
	Version  uint64 // changes with the content
	Messages int
	Bytes    int64
	Evicted  int64
	Dropped  int64
}

// Stats returns the current use of the store.
func (s *Store) Stats() Stats {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return Stats{
		Version: s.version, Messages: s.messages.Len(), Bytes: s.messages.Size(), Evicted: s.evicted, Dropped: s.dropped,
	}
}

// Profile returns the profile with an ID.
func (s *Store) Profile(id uint64) (*Profile, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	p, ok := s.profiles[id]
	return p, ok
}

// LinkedProfiles returns the profiles with samples of a trace, the oldest first.
func (s *Store) LinkedProfiles(trace pcommon.TraceID) []*Profile {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.linked.values(trace)
}

// LinkedCount returns the number of profiles with samples of a trace.
func (s *Store) LinkedCount(trace pcommon.TraceID) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.linked.count(trace)
}

// Trace returns the fragments of a trace, the oldest first.
func (s *Store) Trace(trace pcommon.TraceID) []*Fragment {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.fragments.values(trace)
}

// SpanSums returns the sum of the samples of each span of a trace, over all profiles.
func (s *Store) SpanSums(trace pcommon.TraceID) map[pcommon.SpanID]Sum {
	sums := map[pcommon.SpanID]Sum{}
	for _, p := range s.LinkedProfiles(trace) {
		for link, sum := range p.Spans {
			if link.Trace == trace {
				sums[link.Span] = sums[link.Span].plus(sum)
			}
		}
	}
	return sums
}

// All returns the whole content, the newest first. Summaries do not change, so that they can be
// read without the lock.
func (s *Store) All() (profiles []*Profile, traces [][]*Fragment, logs []*Message) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	seen := make(map[pcommon.TraceID]bool, len(s.fragments))
	for _, m := range s.newest() {
		profiles = append(profiles, m.Profiles...)
		if m.Signal == Logs {
			logs = append(logs, m)
		}
		for _, f := range m.Fragments {
			if !f.Trace.IsEmpty() && !seen[f.Trace] {
				seen[f.Trace] = true
				traces = append(traces, s.fragments.values(f.Trace))
			}
		}
	}
	return profiles, traces, logs
}

// Messages returns the stored messages, the newest first.
func (s *Store) Messages() []*Message {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.newest()
}

func (s *Store) newest() []*Message {
	all := make([]*Message, 0, s.messages.Len())
	for e := s.messages.Oldest(); e != nil; e = e.Newer() {
		all = append(all, e.Value)
	}
	slices.Reverse(all)
	return all
}
