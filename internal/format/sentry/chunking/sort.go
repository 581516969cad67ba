// SPDX-License-Identifier: Apache-2.0

package chunking

import (
	"math/bits"
	"slices"
)

// TimeSorter sorts observations by time. It reuses its memory.
type TimeSorter struct {
	scratch   []Observation
	low, high [1 << digit]int32 // by digit: the position in the result of the next observation
}

const digit = 10 // bits

// few is the number of observations that are sorted by insertion.
const few = 32

// Sort sorts observations by time and keeps the order of equal times. It is a radix sort of the two
// highest digits, which almost always decide; observations that have both in common are sorted
// again.
func (s *TimeSorter) Sort(all []Observation) {
	first, last, sorted := timeBounds(all)
	if sorted {
		return
	}
	if len(all) <= few {
		insertionSort(all)
		return
	}
	shift := max(0, bits.Len64(last-first)-2*digit)
	s.distribute(all, first, shift)
	for begin := 0; begin < len(all); {
		end, key := begin+1, (all[begin].Time-first)>>shift
		for end < len(all) && (all[end].Time-first)>>shift == key {
			end++
		}
		switch size := end - begin; {
		case size > few:
			new(TimeSorter).Sort(all[begin:end])
		case size > 1:
			insertionSort(all[begin:end])
		}
		begin = end
	}
}

// distribute sorts observations by two digits of (time - first) >> shift.
func (s *TimeSorter) distribute(all []Observation, first uint64, shift int) {
	const mask = 1<<digit - 1
	s.scratch = slices.Grow(s.scratch[:0], len(all))[:len(all)]
	s.low, s.high = [1 << digit]int32{}, [1 << digit]int32{}
	for i := range all {
		key := (all[i].Time - first) >> shift
		s.low[key&mask]++
		s.high[key>>digit&mask]++
	}
	sumBefore(s.low[:])
	sumBefore(s.high[:])
	for i := range all {
		next := &s.low[(all[i].Time-first)>>shift&mask]
		s.scratch[*next] = all[i]
		*next++
	}
	for i := range s.scratch {
		next := &s.high[(s.scratch[i].Time-first)>>shift>>digit&mask]
		all[*next] = s.scratch[i]
		*next++
	}
}

// sumBefore replaces each number with the sum of those before it.
func sumBefore(numbers []int32) {
	sum := int32(0)
	for i, n := range numbers {
		numbers[i] = sum
		sum += n
	}
}

func insertionSort(all []Observation) {
	for i := 1; i < len(all); i++ {
		o, j := all[i], i
		for ; j > 0 && all[j-1].Time > o.Time; j-- {
			all[j] = all[j-1]
		}
		all[j] = o
	}
}

func timeBounds(all []Observation) (first, last uint64, sorted bool) {
	first, sorted = ^uint64(0), true
	for i := range all {
		time := all[i].Time
		sorted = sorted && time >= last
		first, last = min(first, time), max(last, time)
	}
	return first, last, sorted
}

// Cap returns the number of observations for which there is memory.
func (s *TimeSorter) Cap() int { return cap(s.scratch) }
