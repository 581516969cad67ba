// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// route is a way to bring streamed spans to the collector that links them, if only their segment
// states the profiler session.
type route struct {
	name      string
	receivers int  // that hold spans until the segment arrives; 0: none, and all spans have the same key
	hop       bool // the holders receive spans by trace: each message is sent twice
}

// routed is the outcome for a route. Delays exclude the time in the queue.
type routed struct {
	Linked    float64 // part of the spans that are with their session, at the right collector, when their chunk is linked
	Extra     float64 // messages per received message
	Held      int     // spans, largest number
	Mean, P99 float64 // seconds that spans are held
	Imbalance float64 // spans of the busiest collector, compared with the average
}

const (
	segmentTime     = 600 // seconds
	segmentChildren = 9
	flushInterval   = 5.  // assumption: an SDK sends the spans of a trace this long after it buffered the first
	holdTime        = 30. // spans are then forwarded without their session
	linkWait        = 30
)

// simulateSegments simulates traces whose segments have an exponentially distributed duration, up
// to two minutes. Children end at random times in their segment.
func simulateSegments(way route, traces int, duration float64) routed {
	const collectors = 16
	work := newWorkload(Workload{Rate: 1, Sessions: 1000, Skew: 0.7, Seed: 1})
	random := rand.New(rand.NewPCG(1, 3))
	var sums []float64
	total := 0.
	for _, s := range work.sessions {
		total += s.rate
		sums = append(sums, total)
	}
	linked, spans, delays := 0, 0, []float64{}
	change := make([]int, segmentTime+300) // of the number of held spans, by second
	received := make([]int64, collectors)
	for range traces {
		start, length := random.Float64()*segmentTime, min(random.ExpFloat64()*duration, 120)
		picked, _ := slices.BinarySearch(sums, random.Float64()*total)
		session := work.sessions[min(picked, len(sums)-1)]
		ends := []float64{start + length}
		for range segmentChildren {
			ends = append(ends, start+random.Float64()*length)
		}
		slices.Sort(ends) // the last is the segment
		sent, holder, at := make([]float64, len(ends)), make([]int, len(ends)), math.Inf(-1)
		for i, end := range ends {
			if end > at {
				at = end + flushInterval
				holder[i] = random.IntN(max(1, way.receivers))
			} else {
				holder[i] = holder[i-1]
			}
			sent[i] = at
		}
		segment, last := sent[len(sent)-1], holder[len(holder)-1]
		for i, end := range ends {
			released, known := sent[i], true
			target := 0
			if way.receivers > 0 {
				target = picked % collectors
				known = (way.hop || holder[i] == last) && segment-sent[i] <= holdTime
				if released = segment; !known {
					released, target = sent[i]+holdTime, random.IntN(collectors)
				}
			}
			chunk := (int(end) + chunkTime - session.phase) / chunkTime
			if known && segment <= float64(session.chunkEnd(chunk)+chunkDelay+linkWait) {
				linked++
			}
			spans++
			delays = append(delays, released-sent[i])
			change[int(sent[i])]++
			change[int(released)]--
			received[target]++
		}
	}
	slices.Sort(delays)
	result := routed{Linked: float64(linked) / float64(spans), P99: delays[len(delays)*99/100], Imbalance: Result{Received: received}.Imbalance()}
	if way.hop {
		result.Extra = 1
	}
	held := 0
	for _, n := range change {
		held += n
		result.Held = max(result.Held, held)
	}
	for _, d := range delays {
		result.Mean += d / float64(len(delays))
	}
	return result
}

// TestSegments compares the routes of docs/scaling.md.
func TestSegments(t *testing.T) {
	traces := 6_000
	if testsize.Full() {
		traces = 60_000 // as in the page
	}
	for _, duration := range []float64{2, 20} {
		results := map[string]routed{}
		for _, way := range []route{{"public key", 0, false}, {"hold, 1 receiver", 1, false}, {"hold, 4 receivers", 4, false}, {"by trace, then session", 4, true}} {
			r := simulateSegments(way, traces, duration)
			t.Logf("segments of %v s, %s: %+v", duration, way.name, r)
			results[way.name] = r
		}
		key, one, four, hop := results["public key"], results["hold, 1 receiver"], results["hold, 4 receivers"], results["by trace, then session"]
		assert.InDelta(t, 16, key.Imbalance, 1e-9, "one collector has all the work")
		assert.Less(t, hop.Imbalance, 4.)
		assert.Less(t, four.Linked, hop.Linked, "a receiver without the segment cannot know the session")
		assert.InDelta(t, one.Linked, hop.Linked, 1e-9, "one receiver has all spans of a trace")
		assert.LessOrEqual(t, hop.Linked, key.Linked)
		assert.Zero(t, key.Held)
	}
}
