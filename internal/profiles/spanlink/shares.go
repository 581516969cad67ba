// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"container/list"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/heap"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink/records"
)

// shares is what each tenant uses of the index, by number and estimated size of its spans and
// sessions, and decides which of them is evicted first. A share is in the heaps and a tenant exists
// while it has any. Each interval is in one share, of the tenant of its segment and of its own
// kind, whose intervals form a list by arrival.
type shares struct {
	spans    *spanTable
	tenants  map[Tenant]*tenant
	accounts map[string]*account
	byRef    records.Slab[tenantRef, *tenant]
	last     *tenant // the last one that was looked up

	largest [kinds]heap.Heap[*accountUse] // the one that uses the most first
	oldest  heap.Heap[agedShare]
	sizes   [kinds]int64 // sum of all shares
}

func newShares(spans *spanTable) *shares {
	return &shares{spans: spans, tenants: map[Tenant]*tenant{}, accounts: map[string]*account{}}
}

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
	inLargest int               // position in shares.largest
}

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

// tenant returns a tenant, which it adds if necessary; release removes it.
func (x *shares) tenant(name Tenant) *tenant {
	if x.last != nil && x.last.Tenant == name { // consecutive spans mostly have the same tenant
		return x.last
	}
	t := x.tenants[name]
	if t == nil {
		t = &tenant{ref: x.byRef.Alloc(), account: x.account(name.Authenticated)}
		t.Tenant = Tenant{t.account.name, strings.Clone(name.Stated)}
		t.account.tenants++
		*x.byRef.At(t.ref) = t
		for k := range t.shares {
			t.shares[k].tenant, t.shares[k].account, t.shares[k].kind = t, &t.account.uses[k], kind(k)
		}
		x.tenants[t.Tenant] = t
	}
	x.last = t
	return t
}

// account returns an account, which it adds if necessary; release removes it.
func (x *shares) account(name string) *account {
	a := x.accounts[name]
	if a == nil {
		a = &account{name: strings.Clone(name)}
		x.accounts[a.name] = a
	}
	return a
}

func (x *shares) tenantOf(i *interval) *tenant {
	return *x.byRef.At(x.spans.segments.At(i.segment).tenant)
}

func (x *shares) of(i *interval) *share { return &x.tenantOf(i).shares[i.arrived.kind()] }

// add makes an interval the newest of its share.
func (x *shares) add(r intervalRef) {
	i := x.spans.intervals.At(r)
	s := x.of(i)
	i.older = s.newest
	if s.newest == 0 {
		s.oldest = r
		x.oldest.Push(agedShare{s, i.arrived})
	} else {
		x.spans.intervals.At(s.newest).newer = r
	}
	s.newest = r
	x.addUse(s, spanSize)
}

// remove removes an interval from its share.
func (x *shares) remove(r intervalRef) {
	i := x.spans.intervals.At(r)
	s := x.of(i)
	if i.newer == 0 {
		s.newest = i.older
	} else {
		x.spans.intervals.At(i.newer).older = i.older
	}
	if i.older != 0 {
		x.spans.intervals.At(i.older).newer = i.newer
	} else if s.oldest = i.newer; s.oldest == 0 {
		x.oldest.Remove(x.oldest[s.inOldest])
	} else {
		x.oldest[s.inOldest].arrived = x.spans.intervals.At(s.oldest).arrived
		x.oldest.Fix(x.oldest[s.inOldest])
	}
	i.older, i.newer = 0, 0
	x.removeUse(s, spanSize)
}

// setKind moves an interval to the share of another kind.
func (x *shares) setKind(r intervalRef, k kind) {
	if i := x.spans.intervals.At(r); i.arrived.kind() != k {
		x.remove(r)
		i.arrived ^= 1
		x.add(r)
	}
}

// addUse counts a new span or session.
func (x *shares) addUse(s *share, size int64) {
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
func (x *shares) removeUse(s *share, size int64) {
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
func (x *shares) changeSize(s *share, size int64) {
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
func (x *shares) changeSegments(t tenantRef, count int) {
	if count != 0 {
		x.changeSize(&(*x.byRef.At(t)).shares[stated], int64(count)*segmentSize)
	}
}

// release removes a tenant if it has neither spans nor sessions.
func (x *shares) release(t *tenant) {
	if t.shares[stated].count+t.shares[unstated].count == 0 {
		delete(x.tenants, t.Tenant)
		x.byRef.Release(t.ref)
		t.ref = 0 // a query may still know the tenant
		x.last = nil
		if t.account.tenants--; t.account.tenants == 0 {
			delete(x.accounts, t.account.name)
		}
	}
}

// total returns the estimated memory of the index.
func (x *shares) total() int64 { return x.sizes[stated] + x.sizes[unstated] }

// first returns the share that must shrink first if the index has a limit of bytes.
func (x *shares) first(limit int64) *share {
	k := stated
	if len(x.largest[stated]) == 0 || len(x.largest[unstated]) > 0 && x.sizes[unstated] > limit/unstatedDivisor {
		k = unstated
	}
	return x.largest[k][0].shares[0]
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
