// SPDX-License-Identifier: Apache-2.0

package chunking

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
)

// Observation is one sample: at this time, this thread was in this stack.
type Observation struct {
	Time          uint64 // Unix nanoseconds
	Stack, Thread int32  // indices into those of the chunk
}

// Profile is a profile of any length.
type Profile struct {
	Chunk        *profile.Chunk // everything except the chunk ID and the samples; the Splitter sets these
	Observations []Observation  // sorted by time

	Period uint64 // nominal time between two observations of a thread, in nanoseconds
	OnCPU  bool   // a thread without observations was not running
	AsSent bool   // from a Sentry SDK: the Splitter adds only the samples that ingest requires
}

// Part is a chunk of a profile.
type Part struct {
	Payload []byte // its chunk ID consists of zeros until SetChunkID; valid until the next part, see TakePayload
	Number  int    // 0 for the first part
	Count   int    // observations
}

const noChunkID = "00000000000000000000000000000000"

// ContentID returns a chunk ID that is derived from the payload.
func (p Part) ContentID() string {
	sum := sha256.Sum256(p.Payload)
	return hex.EncodeToString(sum[:16])
}

// SetChunkID replaces the zeros in the payload.
func (p Part) SetChunkID(id string) {
	const key = `"chunk_id":"`
	start := bytes.Index(p.Payload, []byte(key+noChunkID)) + len(key)
	copy(p.Payload[start:], id)
}

// Splitter splits profiles into parts of at most one minute. Parts whose payload is too large are
// halved. A Splitter reuses its memory.
type Splitter struct {
	Lost []discard.Loss // observations of the last profile that are not in any part

	observations []Observation
	todo         []partRange // remaining parts, last one first
	parts        int         // number of written parts
	samples      sampleBuilder
	payload      payloadWriter
}

// partRange is a range of observations, in a chunk that ends at the time limit.
type partRange struct {
	first, end int
	limit      uint64
}

const (
	partNanos = sentry.MaxOutgoingChunkSeconds * jsonscan.NanosPerSecond

	// maxParts bounds the chunks of one profile: one day in minutes.
	maxParts = 1440
)

// Open limits the payload bytes of all following profiles together.
func (s *Splitter) Open(maxBytes int) { s.payload.written, s.payload.maxWritten = 0, maxBytes }

// IsFull reports whether the limit of Open is reached.
func (s *Splitter) IsFull() bool { return s.payload.isFull() }

// TakePayload returns the payload of the last part, which stays valid.
func (s *Splitter) TakePayload() []byte { return s.payload.take() }

// MemoryBytes estimates the memory that the Splitter keeps.
func (s *Splitter) MemoryBytes() int {
	return cap(s.payload.payload) + 20*cap(s.samples.columns.Time)
}

// Close drops the references to profiles and keeps the memory.
func (s *Splitter) Close() {
	s.Lost, s.observations, s.samples.Profile = nil, nil, Profile{}
	s.payload.chunk, s.payload.measurements = nil, nil
}

// Split returns the parts of a profile, with payloads of at most maxPayload bytes.
func (s *Splitter) Split(p Profile, maxPayload int) iter.Seq[Part] {
	s.open(p, maxPayload)
	for first := 0; first < len(p.Observations); {
		limit := p.Observations[first].Time + partNanos
		end := first
		for end < len(p.Observations) && p.Observations[end].Time < limit {
			end++
		}
		s.todo = append(s.todo, partRange{first: first, end: end, limit: limit})
		first = end
	}
	slices.Reverse(s.todo)
	return s.write
}

func (s *Splitter) open(p Profile, maxPayload int) {
	p.Chunk.ChunkID = noChunkID
	s.Lost, s.observations, s.todo, s.parts = nil, p.Observations, s.todo[:0], 0
	s.samples.open(p)
	s.payload.open(p.Chunk, maxPayload)
}

// write writes the remaining parts.
func (s *Splitter) write(yield func(Part) bool) {
	for len(s.todo) > 0 {
		r := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		switch {
		case s.parts >= maxParts:
			s.lose(discard.ReasonDurationTooLong, r)
		case s.IsFull():
			s.lose(discard.ReasonExceedSizeLimit, r)
		case !s.samples.build(r):
			s.lose(discard.ReasonNotEnoughSamples, r)
		case s.payload.write(s.timesOf(r)):
			part := Part{Payload: s.payload.payload, Number: s.parts, Count: r.end - r.first}
			s.parts++
			if !yield(part) {
				return
			}
		case r.end-r.first == 1:
			s.lose(discard.ReasonExceedSizeLimit, r)
		default:
			middle := r.first + (r.end-r.first)/2
			s.todo = append(s.todo,
				partRange{first: middle, end: r.end, limit: r.limit},
				partRange{first: r.first, end: middle, limit: s.observations[middle].Time})
		}
	}
}

func (s *Splitter) lose(reason discard.Reason, r partRange) {
	s.Lost = discard.AddLoss(s.Lost, reason, r.end-r.first)
}

// timesOf returns the times for which a part has measurements.
func (s *Splitter) timesOf(r partRange) times {
	t := times{from: unixSeconds(s.observations[r.first]), isFirst: s.parts == 0, isLast: r.end == len(s.observations)}
	if !t.isLast {
		t.to = unixSeconds(s.observations[r.end])
	}
	return t
}

func unixSeconds(o Observation) float64 { return float64(o.Time) / jsonscan.NanosPerSecond }
