// SPDX-License-Identifier: Apache-2.0

// Package records keeps millions of records without pointers, which cost the garbage collector
// nothing: a Slab has the records, and Tables find them.
package records

// Slab stores records of one type by reference. Records never move, and growth copies nothing. A
// slab of records without pointers costs the garbage collector nothing, however many there are. It
// keeps the memory of released records for the next ones until reset.
//
// The reference 0 is none.
type Slab[R ~int32, T any] struct {
	chunks   []*[chunkLen]T
	last     R // the last reference that Alloc has made
	released []R
}

// A chunk of intervals (28,672 bytes) and one of segments (16,384) are of sizes that Go allocates
// without waste.
const (
	chunkBits = 9
	chunkLen  = 1 << chunkBits
)

// At returns a record. It is valid until its release.
func (s *Slab[R, T]) At(r R) *T { return &s.chunks[r>>chunkBits][r%chunkLen] }

// Alloc returns the reference of a new zero record.
func (s *Slab[R, T]) Alloc() R {
	if n := len(s.released); n > 0 {
		r := s.released[n-1]
		s.released = s.released[:n-1]
		return r
	}
	s.last++
	if int(s.last>>chunkBits) >= len(s.chunks) {
		s.chunks = append(s.chunks, new([chunkLen]T))
	}
	return s.last
}

// Release ends the use of a record.
func (s *Slab[R, T]) Release(r R) {
	var zero T
	*s.At(r) = zero
	s.released = append(s.released, r)
	if len(s.released) == int(s.last) {
		*s = Slab[R, T]{}
	}
}

// Len returns the number of records.
func (s *Slab[R, T]) Len() int { return int(s.last) - len(s.released) }
