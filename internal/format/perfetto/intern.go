// SPDX-License-Identifier: Apache-2.0

package perfetto

import (
	"fmt"
	"math"
)

// Fields of InternedData and of its entries. Field 1 of each entry is its ID.
const (
	internedFunctionNames = 5
	internedFrames        = 6
	internedCallstacks    = 7
	internedBuildIDs      = 16
	internedMappingPaths  = 17
	internedSourcePaths   = 18
	internedMappings      = 19

	internedID = 1

	stringText = 2

	frameFunction = 2
	frameMapping  = 3
	frameRelPC    = 4
	frameSource   = 5
	frameLine     = 6

	callstackFrames = 2

	mappingBuildID     = 2
	mappingStartOffset = 3
	mappingStart       = 4
	mappingEnd         = 5
	mappingLoadBias    = 6
	mappingPath        = 7
	mappingExactOffset = 8
)

// noID is an absent ID. 0 is a usual one: Android's profiler first writes the empty text, as the
// entry 0 of each table of texts.
const noID = math.MaxUint64

// sequence is the state of a sequence of packets.
type sequence struct {
	names, paths, buildIDs, sources table[text]
	mappings                        table[mapping]
	frames                          table[frame]
	stacks                          table[stack]

	clock  uint32 // of packets that state none; 0 = the clock of the trace
	period uint64 // nanoseconds between two samples; 0 = unknown

	// changed counts the IDs whose meaning changed. Results of entries that were resolved before
	// may be out of date.
	changed int
}

// table has the entries of one kind by ID.
type table[T any] struct {
	index   map[uint64]int32
	entries []T
	missed  map[uint64]bool // IDs that were looked up without an entry
}

func (t *table[T]) get(id uint64) *T {
	i, known := t.index[id]
	if known {
		return &t.entries[i]
	}
	if id != noID && len(t.missed) < maxMissed {
		if t.missed == nil {
			t.missed = map[uint64]bool{}
		}
		t.missed[id] = true
	}
	return nil
}

// put reports whether the meaning of the ID changed: it had another entry, or was looked up without
// one.
func (t *table[T]) put(id uint64, entry T) (changed bool) {
	if i, known := t.index[id]; known {
		t.entries[i] = entry
		return true
	}
	if t.index == nil {
		t.index = map[uint64]int32{}
	}
	t.index[id] = int32(len(t.entries))
	t.entries = append(t.entries, entry)
	changed = t.missed[id]
	delete(t.missed, id)
	return changed
}

// resolved is the index of an entry in the result, once it is resolved.
type resolved struct {
	index int32
	at    int // 1 + sequence.changed when it was resolved; 0 = never
}

func (r *resolved) is(s *sequence) bool { return r.at == 1+s.changed }

func (r *resolved) set(s *sequence, index int32) { *r = resolved{index, 1 + s.changed} }

// text is an InternedString that refers to the data of the trace. It does not depend on other
// entries.
type text struct {
	bytes []byte
	index int32 // in the result, once it is resolved
	known bool
}

type frame struct {
	function, mapping, source, relPC, line uint64
	hasRelPC                               bool
	resolved
}

type mapping struct {
	buildID, startOffset, exactOffset, start, end, loadBias uint64
	hasExactOffset                                          bool
	path                                                    []byte // the encoded message, for the IDs in it
	resolved
}

type stack struct {
	message []byte // for the IDs in it
	resolved
}

// entries returns the number of entries.
func (s *sequence) entries() int {
	return len(s.names.entries) + len(s.paths.entries) + len(s.buildIDs.entries) + len(s.sources.entries) +
		len(s.mappings.entries) + len(s.frames.entries) + len(s.stacks.entries)
}

// clear empties the tables and the defaults, which belong to the same incremental state.
func (s *sequence) clear() { *s = sequence{} }

// intern adds the entries of an InternedData. It reports whether the whole message is well-formed.
func (r *reader) intern(s *sequence, data []byte) (ok bool, err error) {
	ok = true
	m := fieldsOf(data)
	for m.next() {
		if m.Bytes == nil {
			continue
		}
		before := s.entries()
		good, err := s.add(int(m.Number), m.Bytes)
		if err != nil {
			return false, err
		}
		ok = ok && good
		if r.entries += s.entries() - before; r.entries > maxEntries {
			return false, fmt.Errorf("%w: more than %d interned entries", ErrTooLarge, maxEntries)
		}
	}
	return ok && !m.Broken, nil
}

// add adds one entry. It skips entries without an ID.
func (s *sequence) add(kind int, data []byte) (ok bool, err error) {
	changed := false
	switch kind {
	case internedFunctionNames:
		changed, ok = addText(&s.names, data)
	case internedMappingPaths:
		changed, ok = addText(&s.paths, data)
	case internedBuildIDs:
		changed, ok = addText(&s.buildIDs, data)
	case internedSourcePaths:
		changed, ok = addText(&s.sources, data)
	case internedFrames:
		changed, ok = s.addFrame(data)
	case internedMappings:
		changed, ok, err = s.addMapping(data)
	case internedCallstacks:
		changed, ok, err = s.addCallstack(data)
	default:
		return true, nil
	}
	if changed {
		s.changed++
	}
	return ok, err
}

func addText(t *table[text], data []byte) (changed, ok bool) {
	var entry text
	id, m := uint64(noID), fieldsOf(data)
	for m.next() {
		switch m.Number {
		case internedID:
			id = m.Varint
		case stringText:
			entry.bytes = m.Bytes
		}
	}
	if m.Broken || id == noID {
		return false, false
	}
	return t.put(id, entry), true
}

func (s *sequence) addFrame(data []byte) (changed, ok bool) {
	f := frame{function: noID, mapping: noID, source: noID}
	id, m := uint64(noID), fieldsOf(data)
	for m.next() {
		switch m.Number {
		case internedID:
			id = m.Varint
		case frameFunction:
			f.function = m.Varint
		case frameMapping:
			f.mapping = m.Varint
		case frameRelPC:
			f.relPC, f.hasRelPC = m.Varint, true
		case frameSource:
			f.source = m.Varint
		case frameLine:
			f.line = m.Varint
		}
	}
	if m.Broken || id == noID {
		return false, false
	}
	return s.frames.put(id, f), true
}

func (s *sequence) addMapping(data []byte) (changed, ok bool, err error) {
	entry := mapping{buildID: noID, path: data}
	id, segments, m := uint64(noID), 0, fieldsOf(data)
	for m.next() {
		switch m.Number {
		case internedID:
			id = m.Varint
		case mappingBuildID:
			entry.buildID = m.Varint
		case mappingStartOffset:
			entry.startOffset = m.Varint
		case mappingStart:
			entry.start = m.Varint
		case mappingEnd:
			entry.end = m.Varint
		case mappingLoadBias:
			entry.loadBias = m.Varint
		case mappingExactOffset:
			entry.exactOffset, entry.hasExactOffset = m.Varint, true
		case mappingPath:
			segments += m.count()
		}
	}
	switch {
	case segments > maxPathSegments:
		return false, false, fmt.Errorf("%w: a path of %d segments, at most %d", ErrTooLarge, segments, maxPathSegments)
	case m.Broken || id == noID:
		return false, false, nil
	}
	return s.mappings.put(id, entry), true, nil
}

func (s *sequence) addCallstack(data []byte) (changed, ok bool, err error) {
	id, depth, m := uint64(noID), 0, fieldsOf(data)
	for m.next() {
		switch m.Number {
		case internedID:
			id = m.Varint
		case callstackFrames:
			depth += m.count()
		}
	}
	switch {
	case depth > maxDepth:
		return false, false, fmt.Errorf("%w: a call stack of %d frames, at most %d", ErrTooLarge, depth, maxDepth)
	case m.Broken || id == noID:
		return false, false, nil
	}
	return s.stacks.put(id, stack{message: data}), true, nil
}

// count returns the number of values in the current field, which may be packed.
func (m *message) count() int {
	if m.Bytes == nil {
		return 1
	}
	count := 0
	for _, b := range m.Bytes {
		if b < 0x80 { // the last byte of a number
			count++
		}
	}
	return count
}

// eachID visits the values of a repeated field, packed or not.
func eachID(data []byte, field int, visit func(id uint64)) {
	for m := fieldsOf(data); m.next(); {
		if int(m.Number) != field {
			continue
		}
		for id := range m.Varints() {
			visit(id)
		}
	}
}
