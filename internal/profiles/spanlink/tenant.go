// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"container/heap"
	"container/list"
	"math"
	"strings"
	"time"
)

// tenant shares the index with others, for example a project. When the index is full, the tenant
// that uses the most loses its own oldest spans. That is the rule of package fairshare, whose queue
// would need more memory per span.
type tenant struct {
	name   string
	shares [kinds]share
}

// kind separates spans that compete for memory with each other.
type kind uint8

const (
	// stated spans are of a session that spans or profiles state.
	stated kind = iota
	// unstated spans state no session. They are useful only if a program has one session and none
	// of its spans states it.
	unstated
	kinds
)

// unstatedDivisor: unstated spans may use a quarter of the index while stated spans need memory.
const unstatedDivisor = 4

// share is the part of the index that a tenant uses for one kind.
type share struct {
	tenant         *tenant
	kind           kind
	size           int64     // bytes, estimated
	count          int       // spans and sessions
	oldest, newest *interval // by arrival
	recent         list.List // sessions, the most recently used first
	heapIndex      int       // in Index.largest
}

// Sizes in memory as measured, at most. The texts of clients come on top.
const (
	// SpanBytes is the memory that Limits.Spans allows per span, including its part of a track and
	// a session.
	SpanBytes = 350
	// baseBytes are allowed in addition: an index of few spans has few on each track.
	baseBytes = 64 << 10

	spanSize    = 250
	orphanSize  = 170 // of a span that waits for its segment, beside spanSize
	keySize     = 80  // of a session that it states
	trackSize   = 150
	sessionSize = 640
	programSize = 200 + maxSessionParts*maxText // beside sessionSize
	shareSize   = 450
)

// maxBytes returns the memory limit of the index.
func (l Limits) maxBytes() int64 {
	if l.Spans > (math.MaxInt64-baseBytes)/SpanBytes {
		return math.MaxInt64
	}
	return int64(l.Spans)*SpanBytes + baseBytes
}

// tenant returns a tenant. It adds the tenant if it is new; dropTenant removes it.
func (x *Index) tenant(name string) *tenant {
	if x.lastTenant != nil && x.lastTenant.name == name { // consecutive spans mostly have one tenant
		return x.lastTenant
	}
	t := x.tenants[name]
	if t == nil {
		t = &tenant{name: strings.Clone(name)}
		for k := range t.shares {
			t.shares[k].tenant, t.shares[k].kind = t, kind(k)
		}
		x.tenants[t.name] = t
	}
	x.lastTenant = t
	return t
}

// addUse counts a new span or session.
func (x *Index) addUse(s *share, size int64) {
	if s.count++; s.count == 1 {
		size += shareSize
		heap.Push(&x.largest[s.kind], s)
	}
	x.changeSize(s, size)
}

// removeUse counts a removed span or session.
func (x *Index) removeUse(s *share, size int64) {
	if s.count--; s.count == 0 {
		size += shareSize
	}
	x.changeSize(s, -size)
	if s.count == 0 {
		heap.Remove(&x.largest[s.kind], s.heapIndex)
	}
}

// changeSize changes the memory that a share uses.
func (x *Index) changeSize(s *share, size int64) {
	s.size += size
	x.sizes[s.kind] += size
	heap.Fix(&x.largest[s.kind], s.heapIndex)
}

// dropTenant removes a tenant that has no spans and sessions.
func (x *Index) dropTenant(t *tenant) {
	if t.shares[stated].count+t.shares[unstated].count == 0 {
		delete(x.tenants, t.name)
		x.lastTenant = nil
	}
}

// enforceLimits evicts until the index is within its limits.
func (x *Index) enforceLimits() {
	for x.count > x.limits.Spans || len(x.sessions) > x.limits.Spans || x.sizes[stated]+x.sizes[unstated] > x.maxBytes {
		k := stated
		if x.sizes[stated] == 0 || x.sizes[unstated] > x.maxBytes/unstatedDivisor {
			k = unstated
		}
		x.evict(x.largest[k][0])
	}
}

// evict drops the oldest span or empty session of a share.
func (x *Index) evict(s *share) {
	if last := s.recent.Back(); last != nil {
		if session := last.Value.(*session); len(session.tracks) == 0 && (s.oldest == nil || session.touched <= s.oldest.arrived) {
			x.dropSession(session)
			return
		}
	}
	oldest := s.oldest
	if oldest == nil { // its sessions have spans of other tenants, which only a caller of Add can state
		oldest = x.oldest
	}
	x.stats.Evicted++
	x.drop(oldest, lostEvicted)
}

// sinceStart returns the time since the first arrival.
func (x *Index) sinceStart(now time.Time) time.Duration {
	if x.startedAt.IsZero() {
		x.startedAt = now
	}
	return now.Sub(x.startedAt)
}

// bySize is a heap of shares, the largest first.
type bySize []*share

func (h bySize) Len() int           { return len(h) }
func (h bySize) Less(i, j int) bool { return h[i].size > h[j].size }
func (h bySize) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].heapIndex, h[j].heapIndex = i, j
}

// Push implements heap.Interface.
func (h *bySize) Push(x any) {
	s := x.(*share)
	s.heapIndex = len(*h)
	*h = append(*h, s)
}

// Pop implements heap.Interface.
func (h *bySize) Pop() any {
	last := len(*h) - 1
	s := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return s
}
