// SPDX-License-Identifier: Apache-2.0

package sourcemap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
)

// token is a mapping: the generated text from (line, column) to the next token comes from a place
// in a source.
type token struct {
	line, column             uint32 // in the generated file
	source                   int32  // -1: the text comes from no source
	sourceLine, sourceColumn uint32
	name                     int32 // -1: none
}

func (t token) after(line, column uint32) bool {
	return t.line > line || t.line == line && t.column > column
}

// tokens stores tokens in order of their place, as differences, in blocks: a lookup searches the
// block and decodes it.
type tokens struct {
	blocks []tokenBlock
	data   []byte
	count  int
	last   token // that was appended
	base   token // that differences refer to: source and name of the last token that has them
}

// tokenBlock starts with a token; data has those that follow.
type tokenBlock struct {
	first token
	data  uint32
}

const (
	// blockSize: 28 bytes per block are less than two per token, and a lookup decodes eight tokens
	// on average.
	blockSize = 16

	// maxTokens bounds a map to some 130 MiB. Bundles of 50 MB have 2 to 9 million mappings.
	maxTokens = 1 << 24
)

// Bits in front of a token say which differences follow.
const (
	hasLine = 1 << iota // the line; then the column counts from 0
	hasSource
	hasOtherSource
	hasName
)

var (
	errUnsorted = errors.New("mappings are not in order")
	errTooMany  = fmt.Errorf("more than %d mappings", maxTokens)
)

// append adds a token, which must not be before the last one.
func (s *tokens) append(t token) error {
	switch {
	case s.count == maxTokens:
		return errTooMany
	case s.count > 0 && s.last.after(t.line, t.column):
		return errUnsorted
	}
	if s.count%blockSize == 0 {
		s.blocks = append(s.blocks, tokenBlock{first: t, data: uint32(len(s.data))})
		s.base = token{}
	} else {
		s.encode(t)
	}
	s.base = baseOf(s.base, t)
	s.last = t
	s.count++
	return nil
}

// baseOf returns what the differences of the next token refer to.
func baseOf(base, t token) token {
	next := t
	if t.source < 0 {
		next.source, next.sourceLine, next.sourceColumn = base.source, base.sourceLine, base.sourceColumn
	}
	if t.name < 0 {
		next.name = base.name
	}
	return next
}

func (s *tokens) encode(t token) {
	flags, at := byte(0), len(s.data)
	s.data = append(s.data, 0)
	column := t.column
	if t.line != s.base.line {
		flags |= hasLine
		s.data = binary.AppendUvarint(s.data, uint64(t.line-s.base.line))
	} else {
		column -= s.base.column
	}
	s.data = binary.AppendUvarint(s.data, uint64(column))
	if t.source >= 0 {
		flags |= hasSource
		if t.source != s.base.source {
			flags |= hasOtherSource
			s.data = binary.AppendVarint(s.data, int64(t.source)-int64(s.base.source))
		}
		s.data = binary.AppendVarint(s.data, int64(t.sourceLine)-int64(s.base.sourceLine))
		s.data = binary.AppendVarint(s.data, int64(t.sourceColumn)-int64(s.base.sourceColumn))
	}
	if t.name >= 0 {
		flags |= hasName
		s.data = binary.AppendVarint(s.data, int64(t.name)-int64(s.base.name))
	}
	s.data[at] = flags
}

// tokenReader decodes the tokens of a block.
type tokenReader struct {
	data    []byte // of all blocks
	at, end int    // of the tokens of the block after the first
	base    token
	token   token
}

// block returns a reader at the first token of a block.
func (s *tokens) block(i int) tokenReader {
	end := len(s.data)
	if i+1 < len(s.blocks) {
		end = int(s.blocks[i+1].data)
	}
	first := s.blocks[i].first
	return tokenReader{data: s.data, at: int(s.blocks[i].data), end: end, base: baseOf(token{}, first), token: first}
}

// next moves to the next token, or returns false after the last.
func (r *tokenReader) next() bool {
	if r.at == r.end {
		return false
	}
	flags := r.data[r.at]
	r.at++
	t := token{line: r.base.line, column: r.base.column, source: -1, name: -1}
	if flags&hasLine != 0 {
		t.line, t.column = t.line+r.unsigned(), 0
	}
	t.column += r.unsigned()
	if flags&hasSource != 0 {
		if flags&hasOtherSource != 0 {
			r.base.source += r.signed()
		}
		r.base.sourceLine += uint32(r.signed())
		r.base.sourceColumn += uint32(r.signed())
		t.source, t.sourceLine, t.sourceColumn = r.base.source, r.base.sourceLine, r.base.sourceColumn
	}
	if flags&hasName != 0 {
		r.base.name += r.signed()
		t.name = r.base.name
	}
	r.base.line, r.base.column, r.token = t.line, t.column, t
	return true
}

// unsigned decodes a varint. Most have one byte, which is faster than binary.Uvarint.
func (r *tokenReader) unsigned() uint32 {
	if b := r.data[r.at]; b < 0x80 {
		r.at++
		return uint32(b)
	}
	v, n := binary.Uvarint(r.data[r.at:])
	r.at += n
	return uint32(v)
}

// signed decodes a difference. Differences of values below 2^31 fit, also as zigzag.
func (r *tokenReader) signed() int32 {
	v := r.unsigned()
	return int32(v>>1) ^ -int32(v&1)
}

// find returns the last token of the line at or before a place; of several at one place, the first.
func (s *tokens) find(line, column uint32) (found token, ok bool) {
	i := sort.Search(len(s.blocks), func(i int) bool {
		first := s.blocks[i].first
		return first.after(line, column) || first.line == line && first.column == column
	})
	// Block i starts at the place or after it: the token is in the block before, or the first of
	// block i.
	for _, i := range []int{i - 1, i} {
		if i < 0 || i == len(s.blocks) {
			continue
		}
		r := s.block(i)
		for more := true; more && !r.token.after(line, column); more = r.next() {
			if t := &r.token; t.line == line && !(ok && found.column == t.column && column == t.column) {
				found, ok = *t, true
			}
		}
	}
	return found, ok
}

// lines returns the generated lines that have tokens, or false if there are more than limit.
func (s *tokens) lines(limit int) (lines []uint32, ok bool) {
	for i := range s.blocks {
		if len(lines) > 0 && s.blocks[i].first.line == lines[len(lines)-1] && i+1 < len(s.blocks) && s.blocks[i+1].first.line == s.blocks[i].first.line {
			continue // the whole block is on the last line
		}
		r := s.block(i)
		for more := true; more && len(lines) <= limit; more = r.next() {
			if len(lines) == 0 || lines[len(lines)-1] != r.token.line {
				lines = append(lines, r.token.line)
			}
		}
		if len(lines) > limit {
			return nil, false
		}
	}
	return lines, true
}

func (s *tokens) bytes() int64 { return 28*int64(cap(s.blocks)) + int64(cap(s.data)) }
