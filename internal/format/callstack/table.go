// SPDX-License-Identifier: Apache-2.0

// Package callstack stores call stacks of trace formats.
package callstack

import (
	"hash/maphash"
	"slices"
	"unsafe"
)

// Table has call stacks, each once: lists of frames, which are indices. The order of frames is the
// caller's.
type Table struct {
	frames  []int32 // of all stacks, laid end to end
	ends    []int32
	indices map[uint64]int32 // by hash
}

// Grow prepares for this many frames.
func (t *Table) Grow(frames int) { t.frames = slices.Grow(t.frames, frames) }

// Len is the number of stacks.
func (t *Table) Len() int { return len(t.ends) }

// At returns the frames of stack i.
func (t *Table) At(i int32) []int32 {
	start := int32(0)
	if i > 0 {
		start = t.ends[i-1]
	}
	return t.frames[start:t.ends[i]]
}

// seed differs between processes, so that no trace can be built of stacks with equal hashes.
var seed = maphash.MakeSeed()

// Add returns the index of a stack, and adds a copy of it if the table does not have it yet.
func (t *Table) Add(frames []int32) (index int32, added bool) {
	for hash := hashOf(frames); ; hash++ { // equal hashes of different stacks, if they ever occur
		index, known := t.indices[hash]
		if !known {
			return t.add(hash, frames), true
		}
		if slices.Equal(t.At(index), frames) {
			return index, false
		}
	}
}

func (t *Table) add(hash uint64, frames []int32) (index int32) {
	if t.indices == nil {
		t.indices = map[uint64]int32{}
	}
	index = int32(len(t.ends))
	t.frames = append(t.frames, frames...)
	t.ends = append(t.ends, int32(len(t.frames)))
	t.indices[hash] = index
	return index
}

// hashOf hashes the memory of frames: the byte order of the machine does not matter inside one
// process.
func hashOf(frames []int32) uint64 {
	return maphash.Bytes(seed, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(frames))), 4*len(frames)))
}
