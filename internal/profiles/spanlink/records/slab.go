// SPDX-License-Identifier: Apache-2.0

// Package records stores millions of records without pointers, so that the garbage collector does
// not scan them: a Slab stores the records, and Tables find them. No call visits or copies a number
// of records that grows with their total.
package records

// Slab stores records of one type by reference. Records never move. The garbage collector does not
// scan records without pointers. The slab reuses the memory of released records.
//
// Reference 0 means none.
type Slab[R ~int32, T any] struct {
	chunks   []*[chunkLen]T
	last     R              // the highest reference so far
	released []*[chunkLen]R // a stack: a list would be copied when it grows
	free     int            // length of the stack
}

// A chunk of intervals has 28,672 bytes, and a chunk of segments 16,384 bytes. Go allocates these
// sizes without waste.
const (
	chunkBits = 9
	chunkLen  = 1 << chunkBits
)

// At returns a record. It is valid until its release.
func (s *Slab[R, T]) At(r R) *T { return &s.chunks[r>>chunkBits][r%chunkLen] }

// Alloc returns the reference of a new zero record.
func (s *Slab[R, T]) Alloc() R {
	if s.free > 0 {
		s.free--
		return s.released[s.free>>chunkBits][s.free%chunkLen]
	}
	s.last++
	if int(s.last>>chunkBits) >= len(s.chunks) {
		s.chunks = append(s.chunks, new([chunkLen]T))
	}
	return s.last
}

// Release frees a record.
func (s *Slab[R, T]) Release(r R) {
	var zero T
	*s.At(r) = zero
	if s.free>>chunkBits >= len(s.released) {
		s.released = append(s.released, new([chunkLen]R))
	}
	s.released[s.free>>chunkBits][s.free%chunkLen] = r
	if s.free++; s.free == int(s.last) {
		// The next record may come soon. Released records are zero.
		*s = Slab[R, T]{chunks: []*[chunkLen]T{s.chunks[0]}, released: []*[chunkLen]R{s.released[0]}}
	}
}

// Len returns the number of records.
func (s *Slab[R, T]) Len() int { return int(s.last) - s.free }
