// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"math"
	"math/rand/v2"
)

// Workload describes the sessions. Times are in seconds.
type Workload struct {
	Spans    int64   // to send, approximately
	Rate     int     // spans per second of all sessions
	Sessions int     // up to 2^20
	Skew     float64 // exponent of the Zipf distribution of the sessions' rates
	Delay    float64 // mean of the exponentially distributed delay of spans
	MaxDelay int     // of spans
	Seed     uint64
}

// chunkTime is the duration of a chunk. Chunks of all sessions start at different seconds.
const chunkTime = 60

// chunkDelay is the time between the end of a chunk and its arrival.
const chunkDelay = 2

// span is a span that a session sent: the number of the session, and that of the span in it.
type span struct{ session, number uint32 }

// session is a process. Its spans follow each other: span n starts at n ÷ rate.
type session struct {
	rate  float64 // spans per second
	phase int     // second of the first chunk
	next  uint32  // span
}

// workload creates spans and chunks second by second.
type workload struct {
	Workload
	random   *rand.Rand
	sessions []session
	arriving [][]span // by second, a ring
}

func newWorkload(w Workload) *workload {
	out := &workload{Workload: w, random: rand.New(rand.NewPCG(w.Seed, 1)), sessions: make([]session, w.Sessions), arriving: make([][]span, w.MaxDelay+2)}
	total := 0.0
	for i := range out.sessions {
		out.sessions[i] = session{rate: math.Pow(float64(i+1), -w.Skew), phase: out.random.IntN(chunkTime)}
		total += out.sessions[i].rate
	}
	for i := range out.sessions {
		out.sessions[i].rate *= float64(w.Rate) / total
	}
	return out
}

// send creates the spans that end in a second. They arrive in this or a later second.
func (w *workload) send(second int) {
	for i := range w.sessions {
		s := &w.sessions[i]
		for end := uint32(float64(second+1) * s.rate); s.next < end; s.next++ {
			delay := min(int(w.random.ExpFloat64()*w.Delay), w.MaxDelay)
			at := &w.arriving[(second+delay)%len(w.arriving)]
			*at = append(*at, span{uint32(i), s.next})
		}
	}
}

// arrivals returns the spans that arrive in a second, and keeps their memory for a later one.
func (w *workload) arrivals(second int) []span {
	at := &w.arriving[second%len(w.arriving)]
	spans := *at
	*at = spans[:0]
	return spans
}

// chunkOf returns the number of the chunk that has the observation in the middle of a span.
func (s *session) chunkOf(number uint32) int {
	return (int((float64(number)+0.5)/s.rate) + chunkTime - s.phase) / chunkTime
}

// chunkEnd returns the second in which a chunk ends.
func (s *session) chunkEnd(chunk int) int { return s.phase + chunk*chunkTime }

// spansOf returns the spans whose observations are in a chunk: from the first up to, but excluding,
// the second.
func (s *session) spansOf(chunk int) (from, to uint32) {
	first := func(second int) uint32 {
		n := uint32(max(0, math.Floor(float64(max(0, second))*s.rate)-1))
		for int((float64(n)+0.5)/s.rate) < second {
			n++
		}
		return n
	}
	return first(s.chunkEnd(chunk - 1)), first(s.chunkEnd(chunk))
}
