// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

var (
	quietTenant = Tenant{Authenticated: "1/42", Stated: "42"}
	noisy       = Tenant{Stated: "42"} // states the same project, without credentials
)

// A tenant that floods the index loses only its own spans: other tenants keep theirs, and their
// profiles are linked.
func TestFairShares(t *testing.T) {
	const limit = 2_000
	flood := uint64(3 * limit)
	if testsize.Full() {
		flood = 10 * limit
	}
	of := func(i uint64) Span {
		s := on(i, 0, i, i+10)
		s.Tenant, s.Sessions = noisy, []Session{{Tenant: noisy}}
		return s
	}
	text := func(i uint64) string { return fmt.Sprintf("%0256d", i) }
	for name, spanOf := range map[string]func(i uint64) Span{
		"spans":    of,
		"threads":  func(i uint64) Span { s := of(i); s.Thread = text(i); return s },
		"sessions": func(i uint64) Span { s := of(i); s.Sessions[0].Parts[0] = text(i); return s },
		"spans that wait": func(i uint64) Span {
			s := of(i)
			s.Sessions[0].Parts[0], s.Thread, s.Segment = text(i), "", spanID(i+1e9)
			return s
		},
		"spans that wait for one": func(i uint64) Span { s := of(i); s.Sessions, s.Segment = nil, spanID(1e9); return s },
		"unstated": func(i uint64) Span {
			s := of(i)
			s.Sessions, s.Program, s.Streamed = nil, &Session{Tenant: noisy, Way: programWay, Parts: [maxSessionParts]string{text(i)}}, true
			return s
		},
		"stated tenants": func(i uint64) Span {
			s := of(i)
			s.Tenant.Stated = text(i)
			s.Sessions[0].Tenant = s.Tenant
			return s
		},
		"segments of nowhere": func(i uint64) Span { s := of(i); s.Sessions, s.Segment = nil, s.ID; return s },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := NewIndex(Sentry, Limits{Spans: limit, MaxAge: time.Hour})
			quiet := func(i uint64) Span {
				s := on(1e6+i, 0, i*benchInterval, (i+1)*benchInterval)
				s.Tenant, s.Sessions = quietTenant, []Session{{Tenant: quietTenant, Parts: [maxSessionParts]string{"session"}}}
				return s
			}
			const spans = limit / 4
			x.Add(upTo(spans, quiet), start)
			x.Add(upTo(flood, spanOf), start)
			assert.LessOrEqual(t, x.Size().Spans, limit)
			for i := range flood { // profiles of sessions without spans
				x.mu.Lock()
				x.store.sessions.touch(Session{Tenant: noisy, Parts: [maxSessionParts]string{text(i)}}, 0)
				x.store.enforceLimits()
				x.unlock()
			}

			p := benchProfile(benchThreads * spans)
			p.ResourceProfiles().At(0).Resource().Attributes().PutStr("sentry.project_id", "42")
			assert.Equal(t, int64(spans), x.Link(p, Options{Now: start, Tenant: quietTenant.Authenticated, Ambiguous: Skip}).Linked, "%v", x.Add(each(), start))
		})
	}
}

func upTo(n uint64, spanOf func(uint64) Span) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for i := range n {
			if !yield(spanOf(i)) {
				return
			}
		}
	}
}

// Unstated spans may use a part of a full index: below that, stated spans evict each other; above
// it, unstated spans are evicted first.
func TestUnstatedMakeRoom(t *testing.T) {
	const limit = 2_000
	x := NewIndex(Sentry, Limits{Spans: limit, MaxAge: time.Hour})
	unstatedSpan := func(i uint64) Span {
		s := on(1e6+i, 0, i, i+10)
		s.Sessions, s.Program, s.Streamed = nil, &Session{Way: programWay}, true
		return s
	}
	count := func(k kind) int { return x.store.shares.tenants[Tenant{}].shares[k].count }
	x.Add(upTo(limit, unstatedSpan), start)
	assert.Greater(t, count(unstated), limit*9/10, "there is room")
	x.Add(upTo(2*limit, func(i uint64) Span { return on(i, 0, i, i+10) }), start)
	assert.InDelta(t, x.store.maxBytes/unstatedDivisor, x.store.shares.sizes[unstated], spanSize)
	assert.Greater(t, count(stated), limit/2)
	x.Add(upTo(2*limit, func(i uint64) Span { return unstatedSpan(i + limit) }), start)
	assert.Greater(t, count(stated), limit/2, "and no more")
}
