// SPDX-License-Identifier: Apache-2.0

package spanlink

// slab stores records of one type by reference. Records never move, and growth copies nothing. A
// slab of records without pointers costs the garbage collector nothing, however many there are. It
// keeps the memory of released records for the next ones until reset.
//
// The reference 0 is none.
type slab[R ~int32, T any] struct {
	chunks   []*[chunkLen]T
	last     R // the last reference that alloc has made
	released []R
}

// A chunk of intervals (28,672 bytes) and one of segments (16,384) are of sizes that Go allocates
// without waste.
const (
	chunkBits = 9
	chunkLen  = 1 << chunkBits
)

// at returns a record. It is valid until its release.
func (s *slab[R, T]) at(r R) *T { return &s.chunks[r>>chunkBits][r%chunkLen] }

// alloc returns the reference of a new zero record.
func (s *slab[R, T]) alloc() R {
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

// release ends the use of a record.
func (s *slab[R, T]) release(r R) {
	var zero T
	*s.at(r) = zero
	s.released = append(s.released, r)
	if len(s.released) == int(s.last) {
		*s = slab[R, T]{}
	}
}

// len returns the number of records.
func (s *slab[R, T]) len() int { return int(s.last) - len(s.released) }
