// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"container/list"
	"math"
	"strings"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/heap"
)

// tenant is one user of the shared index, for example a project. Package fairshare implements the
// same rule as the index, but its queue would need more memory per span.
type tenant struct {
	Tenant
	ref     tenantRef
	account *account
	shares  [kinds]share
}

// account has the tenants with the same credentials. When the index is full, the account that uses
// the most loses spans, and of its tenants the one that uses the most. Data can state any number of
// tenants, but they share one account.
type account struct {
	name    string
	tenants int
	uses    [kinds]accountUse
}

// accountUse is the part of the index that an account uses for one kind.
type accountUse struct {
	size      int64             // bytes, estimated
	shares    heap.Heap[*share] // the largest first
	inLargest int               // position in Index.largest
}

type tenantRef int32

// kind separates spans that compete for memory with each other.
type kind uint8

const (
	// stated spans have a session that spans or profiles state.
	stated kind = iota
	// unstated spans have no session. They are useful only if their program has a single session
	// and none of its spans states it.
	unstated
	kinds
)

// unstatedDivisor limits unstated spans to a quarter of the index while stated spans need memory.
const unstatedDivisor = 4

// share is the part of the index that a tenant uses for one kind.
type share struct {
	tenant         *tenant
	account        *accountUse
	kind           kind
	size           int64       // bytes, estimated
	count          int         // spans and sessions
	oldest, newest intervalRef // by arrival
	recent         list.List   // sessions, most recently used first

	// Positions in the heaps.
	inLargest, inOldest int
}

// Maximum sizes in memory, without texts from clients.
const (
	// SpanBytes is the memory that Limits.Spans allows per span, without Limits.Bytes. Spans use
	// about 75 bytes if ten share a segment and a thousand a track.
	SpanBytes = 100
	// baseBytes are allowed in addition, because in a small index tracks and chunks hold only few
	// spans each.
	baseBytes = 128 << 10
	// MaxSpans is the maximum of Limits.Spans: references have 26 bits.
	MaxSpans = 50_000_000

	spanSize    = 85  // an interval, and its references in the hash table and in the track
	segmentSize = 45  // a segment, and its reference in the hash table
	orphanSize  = 230 // of a span that waits for its segment, in addition to spanSize
	keySize     = 80  // of a session that an orphan states
	trackSize   = 200
	sessionSize = 640
	programSize = 200 + maxSessionParts*maxText // in addition to sessionSize
	shareSize   = 700                           // with its account
)

// maxBytes returns the memory limit of the index.
func (l Limits) maxBytes() int64 {
	if l.Bytes > 0 {
		return l.Bytes
	}
	if l.Spans > (math.MaxInt64-baseBytes)/SpanBytes {
		return math.MaxInt64
	}
	return int64(l.Spans)*SpanBytes + baseBytes
}

// tenant returns a tenant, which it adds if necessary; dropTenant removes it.
func (x *Index) tenant(name Tenant) *tenant {
	if x.lastTenant != nil && x.lastTenant.Tenant == name { // consecutive spans mostly have the same tenant
		return x.lastTenant
	}
	t := x.tenants[name]
	if t == nil {
		t = &tenant{ref: x.byTenant.Alloc(), account: x.account(name.Authenticated)}
		t.Tenant = Tenant{t.account.name, strings.Clone(name.Stated)}
		t.account.tenants++
		*x.byTenant.At(t.ref) = t
		for k := range t.shares {
			t.shares[k].tenant, t.shares[k].account, t.shares[k].kind = t, &t.account.uses[k], kind(k)
		}
		x.tenants[t.Tenant] = t
	}
	x.lastTenant = t
	return t
}

// account returns an account, which it adds if necessary; dropTenant removes it.
func (x *Index) account(name string) *account {
	a := x.accounts[name]
	if a == nil {
		a = &account{name: strings.Clone(name)}
		x.accounts[a.name] = a
	}
	return a
}

func (x *Index) tenantOf(i *interval) *tenant { return *x.byTenant.At(x.segments.At(i.segment).tenant) }

func (x *Index) share(i *interval) *share { return &x.tenantOf(i).shares[i.arrived.kind()] }

// addToShare makes an interval the newest of its share.
func (x *Index) addToShare(r intervalRef) {
	i := x.intervals.At(r)
	s := x.share(i)
	i.older = s.newest
	if s.newest == 0 {
		s.oldest = r
		x.oldest.Push(agedShare{s, i.arrived})
	} else {
		x.intervals.At(s.newest).newer = r
	}
	s.newest = r
	x.addUse(s, spanSize)
}

// removeFromShare removes an interval from its share.
func (x *Index) removeFromShare(r intervalRef) {
	i := x.intervals.At(r)
	s := x.share(i)
	if i.newer == 0 {
		s.newest = i.older
	} else {
		x.intervals.At(i.newer).older = i.older
	}
	if i.older != 0 {
		x.intervals.At(i.older).newer = i.newer
	} else if s.oldest = i.newer; s.oldest == 0 {
		x.oldest.Remove(x.oldest[s.inOldest])
	} else {
		x.oldest[s.inOldest].arrived = x.intervals.At(s.oldest).arrived
		x.oldest.Fix(x.oldest[s.inOldest])
	}
	i.older, i.newer = 0, 0
	x.removeUse(s, spanSize)
}

// setKind moves an interval to the share of another kind.
func (x *Index) setKind(r intervalRef, k kind) {
	if i := x.intervals.At(r); i.arrived.kind() != k {
		x.removeFromShare(r)
		i.arrived ^= 1
		x.addToShare(r)
	}
}

// addUse counts a new span or session.
func (x *Index) addUse(s *share, size int64) {
	if s.count++; s.count == 1 {
		size += shareSize
		if len(s.account.shares) == 0 {
			x.largest[s.kind].Push(s.account)
		}
		s.account.shares.Push(s)
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
		s.account.shares.Remove(s)
		if len(s.account.shares) == 0 {
			x.largest[s.kind].Remove(s.account)
		}
	}
}

// changeSize changes the memory that a share uses.
func (x *Index) changeSize(s *share, size int64) {
	s.size += size
	s.account.size += size
	x.sizes[s.kind] += size
	if s.count > 0 {
		s.account.shares.Fix(s)
	}
	if len(s.account.shares) > 0 {
		x.largest[s.kind].Fix(s.account)
	}
}

// changeSegments changes the number of segments of a tenant. Those of both kinds count as stated.
func (x *Index) changeSegments(t tenantRef, count int64) {
	x.changeSize(&(*x.byTenant.At(t)).shares[stated], count*segmentSize)
}

// dropTenant removes a tenant if it has neither spans nor sessions.
func (x *Index) dropTenant(t *tenant) {
	if t.shares[stated].count+t.shares[unstated].count == 0 {
		delete(x.tenants, t.Tenant)
		x.byTenant.Release(t.ref)
		x.lastTenant = nil
		if t.account.tenants--; t.account.tenants == 0 {
			delete(x.accounts, t.account.name)
		}
	}
}

// enforceLimits evicts until the index is within its limits.
func (x *Index) enforceLimits() {
	for x.count > x.limits.Spans || len(x.sessions) > x.limits.Spans || x.sizes[stated]+x.sizes[unstated] > x.maxBytes {
		k := stated
		if len(x.largest[stated]) == 0 || len(x.largest[unstated]) > 0 && x.sizes[unstated] > x.maxBytes/unstatedDivisor {
			k = unstated
		}
		x.evict(x.largest[k][0].shares[0])
	}
}

// evict drops the oldest span or empty session of a share.
func (x *Index) evict(s *share) {
	if last := s.recent.Back(); last != nil {
		if session := last.Value.(*session); len(session.tracks) == 0 && (s.oldest == 0 || session.touched <= x.intervals.At(s.oldest).arrived) {
			x.dropSession(session)
			return
		}
	}
	oldest := s.oldest
	if oldest == 0 { // its sessions have spans of other tenants: possible only with spans passed to Add directly
		oldest = x.oldest[0].oldest
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

// Before and Place implement heap.Item.
func (s *share) Before(other *share) bool           { return s.size > other.size }
func (s *share) Place() *int                        { return &s.inLargest }
func (a *accountUse) Before(other *accountUse) bool { return a.size > other.size }
func (a *accountUse) Place() *int                   { return &a.inLargest }

// agedShare is a share with spans, ordered by its oldest one.
type agedShare struct {
	*share
	arrived arrival // of its oldest span
}

// Before and Place implement heap.Item.
func (s agedShare) Before(other agedShare) bool { return s.arrived < other.arrived }
func (s agedShare) Place() *int                 { return &s.inOldest }
