// SPDX-License-Identifier: Apache-2.0

package perfetto

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/allowance"
)

// builder creates the tables of a trace without duplicates. Keys are exact: texts of frames and
// mappings are compared by index, so a long text that many of them share is compared once.
type builder struct {
	trace Trace
	work  allowance.Allowance // of resolving stacks and joining paths

	strings  map[string]int32
	mappings map[Mapping]int32
	frames   map[Frame]int32

	locations []int32 // scratch
	path      []byte  // scratch
}

func newBuilder(size int) builder {
	return builder{
		trace: Trace{Strings: []string{""}, Mappings: []Mapping{{}}}, work: allowance.Of(minWork + size),
		strings: map[string]int32{"": 0}, mappings: map[Mapping]int32{{}: 0}, frames: map[Frame]int32{},
	}
}

var errRepeated = fmt.Errorf("%w: call stacks are resolved again and again, or paths are joined of the same parts", ErrTooLarge)

func (b *builder) string(text []byte) int32 {
	index, known := b.strings[string(text)]
	if !known {
		index = int32(len(b.trace.Strings))
		b.trace.Strings = append(b.trace.Strings, string(text))
		b.strings[b.trace.Strings[index]] = index
	}
	return index
}

// text resolves an interned text. An unknown text is empty.
func (b *builder) text(t *table[text], id uint64) int32 {
	entry := t.get(id)
	if entry == nil {
		return 0
	}
	if !entry.known {
		entry.index, entry.known = b.string(entry.bytes), true
	}
	return entry.index
}

// stack resolves a call stack, which is root first. A stack is unknown if none of its frames is
// known.
func (b *builder) stack(s *sequence, id uint64) (index int32, ok bool, err error) {
	entry := s.stacks.get(id)
	if entry == nil {
		return 0, false, nil
	}
	if entry.is(s) {
		return entry.index, true, nil
	}
	b.locations = b.locations[:0]
	complete := true
	eachID(entry.message, callstackFrames, func(id uint64) {
		if err == nil {
			err = b.work.Demand(1, errRepeated)
		}
		if err != nil {
			return
		}
		var frame int32
		var known bool
		if frame, known, err = b.frame(s, id); known {
			b.locations = append(b.locations, frame)
		} else {
			complete = false
			b.trace.Lost.Frames++
		}
	})
	if err != nil || len(b.locations) == 0 {
		return 0, false, err
	}
	slices.Reverse(b.locations)
	index, _ = b.trace.Stacks.Add(b.locations)
	if complete { // otherwise, missing entries may arrive later
		entry.set(s, index)
	}
	return index, true, nil
}

func (b *builder) frame(s *sequence, id uint64) (index int32, known bool, err error) {
	entry := s.frames.get(id)
	if entry == nil {
		return 0, false, nil
	}
	if entry.is(s) {
		return entry.index, true, nil
	}
	mapping, err := b.mapping(s, entry.mapping)
	if err != nil {
		return 0, false, err
	}
	f := Frame{
		Function: b.text(&s.names, entry.function), File: b.text(&s.sources, entry.source),
		Line: uint32(min(entry.line, 1<<31)), Mapping: mapping, RelPC: entry.relPC, HasRelPC: entry.hasRelPC,
	}
	if b.trace.Mappings[mapping].Java {
		f.RelPC, f.HasRelPC = 0, false
	}
	index, known = b.frames[f]
	if !known && len(b.trace.Frames) == maxFrames {
		return 0, false, fmt.Errorf("%w: more than %d frames", ErrTooLarge, maxFrames)
	}
	if !known {
		index = int32(len(b.trace.Frames))
		b.trace.Frames = append(b.trace.Frames, f)
		b.frames[f] = index
	}
	entry.set(s, index)
	return index, true, nil
}

func (b *builder) mapping(s *sequence, id uint64) (int32, error) {
	entry := s.mappings.get(id)
	if entry == nil {
		return 0, nil
	}
	if entry.is(s) {
		return entry.index, nil
	}
	path, err := b.joinPath(s, entry.path)
	if err != nil {
		return 0, err
	}
	m := Mapping{
		Path: b.string(path), BuildID: b.text(&s.buildIDs, entry.buildID),
		Start: entry.start, End: entry.end, InFile: entry.startOffset, LoadBias: entry.loadBias, Java: isJava(path),
	}
	if entry.hasExactOffset && entry.exactOffset >= entry.startOffset {
		m.Offset = entry.exactOffset - entry.startOffset
	}
	index, known := b.mappings[m]
	if !known {
		index = int32(len(b.trace.Mappings))
		b.trace.Mappings = append(b.trace.Mappings, m)
		b.mappings[m] = index
	}
	entry.set(s, index)
	return index, nil
}

// joinPath joins the segments of a path with slashes, without a leading one. It omits unknown
// segments.
func (b *builder) joinPath(s *sequence, message []byte) (path []byte, err error) {
	b.path = b.path[:0]
	eachID(message, mappingPath, func(id uint64) {
		segment := s.paths.get(id)
		if segment == nil || err != nil {
			return
		}
		if err = b.work.Demand(1+len(segment.bytes), errRepeated); err != nil {
			return
		}
		if len(b.path) > 0 {
			b.path = append(b.path, '/')
		}
		b.path = append(b.path, segment.bytes...)
	})
	return b.path, err
}

// isJava reports whether a file contains code that the Android runtime compiled or interprets.
func isJava(path []byte) bool {
	for _, suffix := range [...]string{".oat", ".odex", ".vdex", ".jar", ".dex"} {
		if bytes.HasSuffix(path, []byte(suffix)) {
			return true
		}
	}
	return bytes.Contains(path, []byte("dalvik-jit-code-cache"))
}
