// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
)

// Tier describes the collectors.
type Tier struct {
	Collectors int
	Partitions int
	MaxSpans   int  // of the index of one collector
	KeepSpans  int  // seconds
	Wait       int  // seconds
	ByProject  bool // all sessions have the same key, as with the public key of one project
	Crashes    []Crash
}

// Crash stops a collector for some time. Its messages wait. After sessionTimeout, the other
// collectors take over its partitions.
type Crash struct{ Collector, At, Until int }

const sessionTimeout = 10

// collector is the linking state of one collector.
type collector interface {
	// expire drops spans that arrived more than keep seconds before now.
	expire(now, keep int)
	add(now int, s span)
	// hold receives a chunk, which is due after the tier's Wait.
	hold(session uint32, chunk int)
	// link returns the number of spans of a chunk that are in the index.
	link(now int, session uint32, chunk int) int
	// crash stops the collector up to a second. It loses its spans, and keeps its chunks.
	crash(until int)
	size() int
	evicted() int64
}

// Result is the outcome of a run.
type Result struct {
	Spans, Observations, Linked int64
	Evicted                     int64
	Received                    []int64 // spans by collector
	Peak                        []int   // largest number of spans in the index, by collector
	Seconds                     int     // virtual time

	chunks []chunkResult // only if the run records them
}

type chunkResult struct {
	session       uint32
	chunk, linked int
}

// heldChunk is a chunk that waits for its spans.
type heldChunk struct {
	session uint32
	chunk   int
	holder  int // collector; -1 until it has arrived
}

// run is a simulation.
type run struct {
	Tier
	work       *workload
	collectors []collector
	owners     []int               // collector by partition
	partition  []int               // by session
	waiting    [][]span            // by collector: messages that wait until it is back or replaced
	due        map[int][]heldChunk // by second
	record     bool
	end        int // second in which the sessions end
	result     Result
}

// Run simulates a tier of collectors that have counters instead of an index.
func Run(t Tier, w Workload) Result {
	work := newWorkload(w)
	return newRun(t, work, func() collector { return newCounters(work, t.MaxSpans) }).run()
}

func newRun(t Tier, work *workload, newCollector func() collector) *run {
	r := &run{Tier: t, work: work, waiting: make([][]span, t.Collectors), due: map[int][]heldChunk{}}
	for range t.Collectors {
		r.collectors = append(r.collectors, newCollector())
	}
	r.result.Received, r.result.Peak = make([]int64, t.Collectors), make([]int, t.Collectors)
	keys := rand.New(rand.NewPCG(work.Seed, 2))
	for range work.Sessions {
		key := "project"
		if !t.ByProject {
			key = fmt.Sprintf("%016x", keys.Uint64())
		}
		hash := fnv.New32a()
		hash.Write([]byte(key))
		r.partition = append(r.partition, int(hash.Sum32()%uint32(t.Partitions)))
	}
	r.owners = make([]int, t.Partitions)
	r.assign(0)
	r.end = int(work.Spans / int64(work.Rate))
	for i := range work.sessions {
		r.schedule(uint32(i), 0)
	}
	return r
}

// schedule schedules the arrival of a chunk, unless the session ends before it.
func (r *run) schedule(session uint32, chunk int) {
	if end := r.work.sessions[session].chunkEnd(chunk); end <= r.end {
		r.due[end+chunkDelay] = append(r.due[end+chunkDelay], heldChunk{session, chunk, -1})
	}
}

// assign gives each running collector a contiguous range of partitions, in order, as the range
// strategy of Kafka does.
func (r *run) assign(now int) {
	var running []int
	for c := range r.collectors {
		if !slices.ContainsFunc(r.Crashes, func(crash Crash) bool {
			return crash.Collector == c && now >= crash.At+sessionTimeout && now < crash.Until
		}) {
			running = append(running, c)
		}
	}
	if len(running) == 0 {
		return
	}
	each, more := r.Partitions/len(running), r.Partitions%len(running)
	partition := 0
	for i, c := range running {
		count := each
		if i < more {
			count++
		}
		for range count {
			r.owners[partition] = c
			partition++
		}
	}
}

func (r *run) isDown(c, now int) bool {
	return slices.ContainsFunc(r.Crashes, func(crash Crash) bool { return crash.Collector == c && now >= crash.At && now < crash.Until })
}

func (r *run) run() Result {
	last := r.end + r.work.MaxDelay + chunkDelay + chunkTime + r.Wait + sessionTimeout
	for _, crash := range r.Crashes {
		last = max(last, crash.Until+r.Wait+1)
	}
	for now := 0; now <= last; now++ {
		if now < r.end {
			r.work.send(now)
		}
		r.crashAndAssign(now)
		for c := range r.collectors {
			r.collectors[c].expire(now, r.KeepSpans)
		}
		for c := range r.waiting {
			if len(r.waiting[c]) > 0 && !r.isDown(c, now) {
				messages := r.waiting[c]
				r.waiting[c] = nil
				r.deliver(now, messages)
			}
		}
		r.deliver(now, r.work.arrivals(now))
		r.chunks(now)
	}
	for _, c := range r.collectors {
		r.result.Evicted += c.evicted()
	}
	r.result.Seconds = last
	return r.result
}

func (r *run) crashAndAssign(now int) {
	for _, crash := range r.Crashes {
		switch now {
		case crash.At:
			r.collectors[crash.Collector].crash(crash.Until)
		case crash.At + sessionTimeout, crash.Until:
			r.assign(now)
			messages := r.waiting[crash.Collector]
			r.waiting[crash.Collector] = nil
			r.deliver(now, messages)
		}
	}
}

// deliver delivers spans to the owners of their partitions.
func (r *run) deliver(now int, spans []span) {
	for _, s := range spans {
		owner := r.owners[r.partition[s.session]]
		if r.isDown(owner, now) {
			r.waiting[owner] = append(r.waiting[owner], s)
			continue
		}
		r.collectors[owner].add(now, s)
		r.result.Spans++
		r.result.Received[owner]++
		r.result.Peak[owner] = max(r.result.Peak[owner], r.collectors[owner].size())
	}
}

// chunks lets chunks arrive, and links those that have waited.
func (r *run) chunks(now int) {
	due := r.due[now]
	delete(r.due, now)
	for _, c := range due {
		if c.holder < 0 {
			c.holder = r.owners[r.partition[c.session]]
			if r.isDown(c.holder, now) { // the message waits
				c.holder = -1
				r.due[now+1] = append(r.due[now+1], c)
				continue
			}
			r.collectors[c.holder].hold(c.session, c.chunk)
			r.due[now+r.Wait] = append(r.due[now+r.Wait], c)
			r.schedule(c.session, c.chunk+1)
			continue
		}
		if r.isDown(c.holder, now) { // held in storage
			r.due[now+1] = append(r.due[now+1], c)
			continue
		}
		from, to := r.work.sessions[c.session].spansOf(c.chunk)
		linked := r.collectors[c.holder].link(now, c.session, c.chunk)
		r.result.Observations += int64(to - from)
		r.result.Linked += int64(linked)
		if r.record {
			r.result.chunks = append(r.result.chunks, chunkResult{c.session, c.chunk, linked})
		}
	}
}

// LinkRate returns the part of the observations that are linked.
func (r Result) LinkRate() float64 { return float64(r.Linked) / float64(max(1, r.Observations)) }

// Imbalance returns the spans of the busiest collector, compared with the average.
func (r Result) Imbalance() float64 {
	sum := int64(0)
	for _, n := range r.Received {
		sum += n
	}
	return float64(slices.Max(r.Received)) * float64(len(r.Received)) / float64(max(1, sum))
}

// bytesPerSpan is the memory of a span in the index, see BenchmarkFull of package spanlink.
const bytesPerSpan = 75

// String returns the result as text.
func (r Result) String() string {
	var peaks []string
	for _, peak := range r.Peak {
		peaks = append(peaks, fmt.Sprint(peak*bytesPerSpan>>20))
	}
	return fmt.Sprintf("%d spans in %d s: %.3f %% of %d observations linked, %d spans evicted, busiest collector %.2f times the average, index MiB at the peak: %s",
		r.Spans, r.Seconds, 100*r.LinkRate(), r.Observations, r.Evicted, r.Imbalance(), strings.Join(peaks, " "))
}
