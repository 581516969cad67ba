// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// shapes are the spans of a thread, of which a message asks for the instants from middle on.
var shapes = map[string]func(i, n uint64) (from, to uint64){
	"one after another":      func(i, _ uint64) (uint64, uint64) { return middle + i*benchInterval, middle + (i+1)*benchInterval },
	"covering all instants":  func(i, _ uint64) (uint64, uint64) { return i, 1<<62 + i },
	"nested, all have ended": func(i, n uint64) (uint64, uint64) { return i, 2*n - i },
	"backwards": func(i, n uint64) (uint64, uint64) {
		return middle + (n-i)*benchInterval, middle + (n-i+1)*benchInterval
	},
	"same start": func(i, _ uint64) (uint64, uint64) { return middle, middle + i*benchInterval },
	"random": func(i, n uint64) (uint64, uint64) {
		r := rand.New(rand.NewPCG(i, 3))
		from := middle + r.Uint64N(n)*benchInterval
		return from, from + r.Uint64N(4)*benchInterval
	},
}

const middle = 1 << 40

// planted returns an index with n spans of a shape on one thread, in chains of eight descendants.
func planted(n uint64, shape func(i, n uint64) (from, to uint64)) *Index {
	x := NewIndex(Sentry, Limits{Spans: int(n), MaxAge: time.Hour})
	x.Add(upTo(n, func(i uint64) Span {
		from, to := shape(i, n)
		s := on(i+1, i, from, to)
		if i%8 == 0 {
			s.Parent = pcommon.SpanID{}
		}
		return s
	}), start)
	return x
}

// smallProfiles returns a message with n profiles of one observation on thread 0, as they ask for n
// instants one after another.
func smallProfiles(n int) pprofile.Profiles {
	p := benchProfile(1)
	profiles := p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles()
	for range n - 1 {
		profiles.At(0).CopyTo(profiles.AppendEmpty())
	}
	for i, profile := range profiles.All() {
		profile.Samples().At(0).TimestampsUnixNano().FromRaw([]uint64{middle + uint64(i)*benchInterval + 1})
	}
	return p
}

// A message causes work in proportion to its size, for any spans: also for spans that are visited
// but not found, and for profiles after the first that exceeds the limit.
func TestWorkIsBounded(t *testing.T) {
	spans, profiles := uint64(20_000), 300
	if testsize.Full() {
		spans, profiles = 100_000, 3_000
	}
	for name, shape := range shapes {
		x := planted(spans, shape)
		for _, n := range []int{1, profiles} {
			work := int64(0)
			stats := x.Link(smallProfiles(n), Options{Now: start, Ambiguous: Skip, Work: &work})
			t.Logf("%s: %d profiles, %d units of work, %v", name, n, work, stats)
			// Each profile after the limit may visit a few entries before it fails.
			assert.LessOrEqual(t, work, int64(maxWork(int64(n))+n*(trackWork+1)+foundWork*int(spans)), name)
			assert.Equal(t, int64(n), stats.Linked+stats.Unlinked[Ambiguous]+stats.Unlinked[NoSpan]+stats.Unlinked[Evicted], name)
		}
	}
}

// The memory of a link is bounded by the size of its message, not by the number of spans.
func TestMemoryIsBounded(t *testing.T) {
	for name, shape := range shapes {
		for _, spans := range []uint64{20_000, 40_000} {
			x, p := planted(spans, shape), smallProfiles(1)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			l := new(linker).begin(x, p, Options{Now: start, Ambiguous: Innermost}) // not from the pool
			eachProfile(&x.keys, "", p, func(profile pprofile.Profile, of *origin) bool { l.profile(profile, of); return true })
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			t.Logf("%s, %d spans: %d bytes, %d with those of lists that grew", name, spans, l.memory(), allocated)
			assert.LessOrEqual(t, int64(l.memory()), MaxMemory(p), name)
			assert.Less(t, int64(allocated), 4*MaxMemory(p), name)

			less := MaxMemory(p) / 4
			l = new(linker).begin(x, p, Options{Now: start, Ambiguous: Innermost, Memory: less})
			eachProfile(&x.keys, "", p, func(profile pprofile.Profile, of *origin) bool { l.profile(profile, of); return true })
			assert.LessOrEqual(t, int64(l.memory()), less, name)
			stats := x.Link(p, Options{Now: start, Memory: sampleMemory(p) - 1})
			assert.Equal(t, LinkStats{Unlinked: stats.Unlinked}, stats, "not linked")
			assert.Equal(t, Observations(p), stats.Unlinked[Evicted])
		}
	}
}

// Doubling the index and the message increases the number of visited entries per element by at most
// a fifth, for each operation.
func TestGrowthOfWork(t *testing.T) {
	n := uint64(1 << 13) // a tree gets another level at a power of pageSize, which is between neither n and 2n
	if testsize.Full() {
		n = 1 << 15
	}
	for name, shape := range shapes {
		if name == "covering all instants" || name == "same start" {
			continue // the limit ends it, see TestWorkIsBounded
		}
		cost := func(n uint64) (costs map[string]float64) {
			x := planted(n, shape)
			costs = map[string]float64{"add": float64(x.held.total)}
			work := int64(0)
			x.Link(smallProfiles(int(n/8)), Options{Now: start, Ambiguous: Skip, Work: &work})
			costs["look up"] = 8 * float64(work)
			work = 0
			p := benchProfile(int(n))
			for _, sample := range p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples().All() {
				for i, instant := range sample.TimestampsUnixNano().All() {
					sample.TimestampsUnixNano().SetAt(i, instant+middle)
				}
			}
			x.Link(p, Options{Now: start, Ambiguous: Skip, Work: &work})
			costs["link"] = float64(work)
			x.held.total = 0
			x.Add(upTo(n/2, func(i uint64) Span { from, to := shape(i, n); return on(2*n+i, 0, from+1, to+1) }), start)
			require.Equal(t, int64(n/2), x.store.stats.Evicted)
			costs["evict"] = 2 * float64(x.held.total)
			x.held.total = 0
			x.Add(each(Span{Trace: traceID(7), ID: spanID(7), Start: 1, End: 1 << 62, Thread: "0", Sessions: []Session{sessionOf("session")}}), start.Add(30*time.Minute))
			x.Expire(start.Add(70 * time.Minute))
			require.Equal(t, int64(n)-1, x.store.stats.Expired)
			costs["expire"] = float64(x.held.total)
			return costs
		}
		small, large := cost(n), cost(2*n)
		for operation := range small {
			before, after := small[operation]/float64(n), large[operation]/float64(2*n)
			t.Logf("%s, %s: %.2f, %.2f visited per element", name, operation, before, after)
			assert.LessOrEqual(t, after, 1.2*before+0.05, "%s, %s", name, operation)
		}
	}
}

// While a goroutine holds the lock, it visits a limited number of entries, for any number of spans.
func TestWorkPerHold(t *testing.T) {
	n := uint64(8_000)
	if testsize.Full() {
		n = 100_000
	}
	check := func(name string, x *Index) {
		t.Helper()
		t.Logf("%s: %d visited, at most %d per hold", name, x.held.total, x.held.longest)
		assert.Greater(t, x.held.total, int(n), name)
		assert.LessOrEqual(t, x.held.longest, maxHeld*3/2, name)
	}
	for name, shape := range shapes {
		x := planted(n, shape)
		for _, profiles := range []int{1, 100} {
			x.Link(smallProfiles(profiles), Options{Now: start, Ambiguous: Innermost})
		}
		x.Add(upTo(n, func(i uint64) Span { from, to := shape(i, n); return on(2*n+i, 0, from+1, to+1) }), start)
		require.Equal(t, int64(n), x.store.stats.Evicted)
		x.Expire(start.Add(2 * time.Hour))
		require.Zero(t, x.Size())
		check(name, x)
	}

	x := planted(n, func(i, _ uint64) (uint64, uint64) { return middle + i%10, middle + i%10 })
	x.Link(smallProfiles(1000), Options{Now: start, Ambiguous: Skip})
	check("no length", x)

	x = NewIndex(Sentry, Limits{Spans: 2 * int(n), MaxAge: time.Hour})
	x.Add(upTo(n, func(i uint64) Span { return on(i+2, i+1, 0, 1) }), start)
	x.Add(each(on(n+2, n+1, middle, middle+10)), start)
	x.Link(smallProfiles(1000), Options{Now: start, Ambiguous: Skip})
	check("many ancestors", x)

	for _, segments := range []uint64{1, 100} {
		x = NewIndex(Sentry, Limits{Spans: 2 * int(n), Bytes: 1 << 40, MaxAge: time.Hour})
		x.Add(upTo(n, func(i uint64) Span {
			s := on(segments+i, 0, i, i+1)
			s.Sessions, s.Segment = nil, spanID(i%segments)
			return s
		}), start)
		stats := x.Add(upTo(segments, func(i uint64) Span { s := on(i, 0, 0, n); s.Segment = s.ID; return s }), start)
		require.Equal(t, int64(n+segments), stats.Indexed)
		check("late segments", x)
	}
}

// Spans arrive and are evicted during the pauses of links. A sample is linked only to a span that
// covers it.
func TestPausesOfLinks(t *testing.T) {
	const instants, window = 400, 100
	x := NewIndex(Sentry, Limits{Spans: window, MaxAge: time.Hour})
	x.maxHeld = 1
	spanOf := func(i uint64) Span {
		tick := i / benchThreads
		s := on(i, max(i, benchThreads)-benchThreads, tick*benchInterval, (tick+1)*benchInterval)
		s.Thread = strconv.FormatUint(i%benchThreads, 10)
		return s
	}
	var adding sync.WaitGroup
	defer adding.Wait()
	stop := make(chan struct{})
	defer close(stop)
	adding.Go(func() {
		for r := rand.New(rand.NewPCG(1, 2)); ; {
			select {
			case <-stop:
				return
			default:
				x.Add(each(spanOf(r.Uint64N(instants))), start)
			}
		}
	})
	linked := int64(0)
	for linked < 10*window {
		p := benchProfile(instants)
		linked += x.Link(p, Options{Now: start, Ambiguous: Skip}).Linked
		dict := p.Dictionary()
		for _, sample := range p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples().All() {
			if sample.LinkIndex() == 0 {
				continue
			}
			thread := dict.AttributeTable().At(int(sample.AttributeIndices().At(0))).Value().Int()
			for _, instant := range sample.TimestampsUnixNano().All() {
				require.Equal(t, spanID(instant/benchInterval*benchThreads+uint64(thread)), dict.LinkTable().At(int(sample.LinkIndex())).SpanID())
			}
		}
	}
}
