// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"container/heap"
	"container/list"
	"math"
	"strings"
	"time"
)

// tenant is one of those that share the index, such as a project. When the index is full, the tenant that uses the most loses its
// own oldest: the rule of package fairshare, whose queue would take more memory for each span.
type tenant struct {
	name   string
	shares [kinds]share
}

// kind says which spans make room for which.
type kind uint8

const (
	// stated: of a session that spans or profiles name.
	stated kind = iota
	// unstated: of no session that anybody names. They are of use only where a program has one session and no span names it.
	unstated
	kinds
)

// unstatedPart of the index is all that unstated spans may use while stated ones need room.
const unstatedPart = 4

// share is what a tenant has in the index of one kind.
type share struct {
	tenant         *tenant
	kind           kind
	size           int64     // bytes, estimated
	count          int       // of spans and sessions
	oldest, newest *interval // by arrival
	recent         list.List // of sessions, the one that was touched last in front
	place          int       // in Index.largest
}

// Sizes in memory as measured, at most. The texts of clients come on top.
const (
	// SpanBytes is what Limits.Spans allows for a span, with its part of a thread and of a session.
	SpanBytes = 350
	// freeBytes are allowed beyond: an index of few spans has few on each thread.
	freeBytes = 64 << 10

	spanSize    = 250
	orphanSize  = 170 // of a span that waits for its segment, beside spanSize
	keySize     = 80  // of a session that it states
	laneSize    = 150
	sessionSize = 640
	programSize = 200 + maxSessionParts*maxText // beside sessionSize
	shareSize   = 450
)

// maxBytes is what the index may take.
func (l Limits) maxBytes() int64 {
	if l.Spans > (math.MaxInt64-freeBytes)/SpanBytes {
		return math.MaxInt64
	}
	return int64(l.Spans)*SpanBytes + freeBytes
}

// tenant gives a tenant, which is there until it has nothing more: see dropTenant.
func (x *Index) tenant(name string) *tenant {
	if x.last != nil && x.last.name == name { // most spans are of the tenant of the span before
		return x.last
	}
	t := x.tenants[name]
	if t == nil {
		t = &tenant{name: strings.Clone(name)}
		for k := range t.shares {
			t.shares[k].tenant, t.shares[k].kind = t, kind(k)
		}
		x.tenants[t.name] = t
	}
	x.last = t
	return t
}

// enter counts a span or a session in.
func (x *Index) enter(s *share, size int64) {
	if s.count++; s.count == 1 {
		size += shareSize
		heap.Push(&x.largest[s.kind], s)
	}
	x.grow(s, size)
}

// leave counts a span or a session out.
func (x *Index) leave(s *share, size int64) {
	if s.count--; s.count == 0 {
		size += shareSize
	}
	x.grow(s, -size)
	if s.count == 0 {
		heap.Remove(&x.largest[s.kind], s.place)
	}
}

// grow counts memory.
func (x *Index) grow(s *share, size int64) {
	s.size += size
	x.sizes[s.kind] += size
	heap.Fix(&x.largest[s.kind], s.place)
}

// dropTenant forgets a tenant that has nothing.
func (x *Index) dropTenant(t *tenant) {
	if t.shares[stated].count+t.shares[unstated].count == 0 {
		delete(x.tenants, t.name)
		x.last = nil
	}
}

// makeRoom brings the index within its limits.
func (x *Index) makeRoom() {
	for x.held > x.limits.Spans || len(x.sessions) > x.limits.Spans || x.sizes[stated]+x.sizes[unstated] > x.maxBytes {
		k := stated
		if x.sizes[stated] == 0 || x.sizes[unstated] > x.maxBytes/unstatedPart {
			k = unstated
		}
		x.evict(x.largest[k][0])
	}
}

// evict drops the oldest of a share.
func (x *Index) evict(s *share) {
	if last := s.recent.Back(); last != nil {
		if session := last.Value.(*session); len(session.lanes) == 0 && (s.oldest == nil || session.touched <= s.oldest.arrived) {
			x.forget(session)
			return
		}
	}
	oldest := s.oldest
	if oldest == nil { // its sessions have spans of other tenants, as only a caller of Add can state
		oldest = x.oldest
	}
	x.stats.Evicted++
	x.drop(oldest, lostEvicted)
}

// since is the time of an arrival, from the first on.
func (x *Index) since(now time.Time) time.Duration {
	if x.began.IsZero() {
		x.began = now
	}
	return now.Sub(x.began)
}

// bySize is a heap of shares, the largest first.
type bySize []*share

func (h bySize) Len() int           { return len(h) }
func (h bySize) Less(i, j int) bool { return h[i].size > h[j].size }
func (h bySize) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push implements heap.Interface.
func (h *bySize) Push(x any) {
	s := x.(*share)
	s.place = len(*h)
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
