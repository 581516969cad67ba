// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"encoding/binary"
	"hash/maphash"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink/records"
)

// interval is the time that a span ran on one track. It has 56 bytes and no pointers, because an
// index may hold millions.
//
// A span may arrive twice: after a retry, or in two formats during the upgrade of an application.
// It then has one interval per distinct time and track, all with the same parent and segment.
type interval struct {
	id, parent   pcommon.SpanID
	start, end   uint64
	segment      segmentRef
	track        trackRef // none while it waits for its segment, and for segments without a session
	arrived      arrival
	sibling      intervalRef // a circular list of the intervals of the span, from newer to older; none if there is only one
	older, newer intervalRef // neighbors in its share, by arrival
}

// intervalRef refers to an interval of an index.
type intervalRef int32

// intervals are the intervals of an index.
type intervals struct {
	records.Slab[intervalRef, interval]
	visited int // intervals, ancestors and entries of trees, while the lock is held
}

// segment is a segment of a trace; most spans share theirs with others. For spans without a
// segment, it is the trace.
type segment struct {
	spanKey
	intervals int32 // that refer to it
}

type (
	segmentRef int32
	trackRef   int32
	tenantRef  int32
)

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

// spanKey identifies a span.
type spanKey struct {
	trace  pcommon.TraceID
	id     pcommon.SpanID
	tenant tenantRef
}

// inTrace returns the key of another span of the trace.
func (k spanKey) inTrace(id pcommon.SpanID) spanKey { return spanKey{k.trace, id, k.tenant} }

// hashSeed is random, because clients choose span IDs.
var hashSeed = maphash.MakeSeed()

func (k *spanKey) hash() uint64 {
	var text [len(k.trace) + len(k.id) + 4]byte
	copy(text[:], k.trace[:])
	copy(text[len(k.trace):], k.id[:])
	binary.NativeEndian.PutUint32(text[len(k.trace)+len(k.id):], uint32(k.tenant))
	return maphash.Bytes(hashSeed, text[:])
}

// arrival is the time since the first arrival, in tenths of a second. The lowest bit is the kind of
// the span.
type arrival uint32

const arrivalUnit = time.Second / 10

func newArrival(at time.Duration, k kind) arrival {
	return arrival(max(0, at)/arrivalUnit)<<1 | arrival(k)
}

// before reports whether the arrival was definitely before a time.
func (a arrival) before(at time.Duration) bool { return time.Duration(a>>1+1)*arrivalUnit <= at }

func (a arrival) kind() kind { return kind(a & 1) }
