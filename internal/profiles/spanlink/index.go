// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"iter"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Index holds spans by session and thread. It is safe for concurrent use.
//
// Its lock protects the store and nothing else. A goroutine pauses after maxHeld units of work, so
// that it holds the lock for less than a millisecond, however many spans the store has. It keeps no
// reference to the store over a pause.
type Index struct {
	keys              compiledKeys
	maxHeld, maxFound int // the constants; less in tests

	mu       sync.Mutex
	store    store
	reported SpanStats // the part of the statistics that Add and Expire have returned
	held     work      // by all goroutines
}

// work is the number of visited entries: of all holds of the lock, and of the longest one.
type work struct{ total, longest int }

const (
	// maxHeld is the work after which a goroutine pauses, in units of at most 100 ns. One more step
	// of it follows: a span is added or dropped, or an eighth of it is found.
	maxHeld = 1 << 12
	// maxFound is the approximate number of spans in a window of a query, which need memory.
	maxFound = 1 << 13
)

// NewIndex returns an empty index. The keys must be valid.
func NewIndex(keys Keys, limits Limits) *Index {
	return &Index{keys: compile(keys), maxHeld: maxHeld, maxFound: maxFound, store: newStore(limits)}
}

func (x *Index) unlock() {
	visited := &x.store.spans.intervals.visited
	x.held.total, x.held.longest = x.held.total+*visited, max(x.held.longest, *visited)
	*visited = 0
	x.mu.Unlock()
}

// pause lets other goroutines use the index if this one has held the lock for long. Go hands a
// mutex to a goroutine that has waited for it for more than a millisecond.
func (x *Index) pause() {
	if x.store.spans.intervals.visited >= x.maxHeld {
		x.unlock()
		x.mu.Lock()
	}
}

// Size returns the current size of the index.
func (x *Index) Size() Size {
	x.mu.Lock()
	defer x.unlock()
	return x.store.size()
}

// AddTraces adds the spans of a message of an authenticated tenant. It copies the data that it
// needs and does not change the message.
func (x *Index) AddTraces(tenant string, traces ptrace.Traces, now time.Time) SpanStats {
	b := batches.Get().(*spanBatch)
	defer batches.Put(b)
	defer b.reset()
	for s := range x.keys.spans(tenant, traces) {
		if len(b.spans) == batchSpans {
			x.addAll(slices.Values(b.spans), now)
			b.reset()
		}
		b.add(s)
	}
	return x.Add(slices.Values(b.spans), now)
}

// Add adds spans and returns the statistics since the last call of Add or Expire, because linking
// can also drop spans.
func (x *Index) Add(spans iter.Seq[Span], now time.Time) SpanStats {
	x.addAll(spans, now)
	return x.takeStats()
}

func (x *Index) addAll(spans iter.Seq[Span], now time.Time) {
	x.expire(now)
	x.mu.Lock()
	defer x.unlock()
	at := x.store.sinceStart(now)
	var awaited []spanKey
	for s := range spans {
		if key, ok := x.store.add(s, at); ok {
			awaited = append(awaited, key)
		}
		x.store.enforceLimits()
		x.pause()
	}
	x.store.lastProgram = nil
	for _, segment := range awaited {
		for x.store.resolve(segment, at) {
			x.pause()
		}
	}
}

// Expire drops the spans that are too old and returns the same statistics as Add. Add also expires
// spans; Expire is for times without traffic.
func (x *Index) Expire(now time.Time) SpanStats {
	x.expire(now)
	return x.takeStats()
}

// expire drops the spans and the empty sessions that are too old.
func (x *Index) expire(now time.Time) {
	x.mu.Lock()
	defer x.unlock()
	for latest := x.store.sinceStart(now) - x.store.limits.MaxAge; x.store.dropOldest(latest); {
		x.pause()
	}
}

func (x *Index) takeStats() SpanStats {
	x.mu.Lock()
	defer x.unlock()
	stats := x.store.stats.since(x.reported)
	x.reported = x.store.stats
	return stats
}
