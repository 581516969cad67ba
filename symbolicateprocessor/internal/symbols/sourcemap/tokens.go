// SPDX-License-Identifier: Apache-2.0

package sourcemap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
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
	chunks [][]byte // the differences; a block does not cross chunks, so that nothing is copied
	count  int
	first  token
	last   token // that was appended
	base   token // that differences refer to: source and name of the last token that has them
	sparse sparse
}

// tokenBlock starts with a token; the chunk has those that follow.
type tokenBlock struct {
	first     token
	chunk, at uint16
}

const (
	// blockSize: 28 bytes per block are less than two per token, and a lookup decodes eight tokens
	// on average.
	blockSize = 16

	// maxTokens bounds a map to some 130 MiB. Bundles of 50 MB have 2 to 9 million mappings.
	maxTokens = 1 << 24

	// maxEncoded is the size of a token: the flags, and five numbers of at most 33 bits.
	maxEncoded = 1 + 5*binary.MaxVarintLen32

	blockBytes = int64(unsafe.Sizeof(tokenBlock{}))

	// chunkBytes is the size of a chunk of a large map, and minChunk that of a small one.
	chunkBytes = 1 << 16
	minChunk   = 1 << 9 // more than maxEncoded * blockSize
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

// reserve prepares for tokens of a text. It claims the memory of their blocks.
func (s *tokens) reserve(work *symbols.Work, more int) error {
	if more > maxTokens-s.count {
		return errTooMany
	}
	n := (s.count+more+blockSize-1)/blockSize - len(s.blocks)
	if err := work.Claim(int64(n) * blockBytes); err != nil {
		return err
	}
	if cap(s.blocks) == 0 { // the only section: exactly
		s.blocks = make([]tokenBlock, 0, n)
	}
	return nil
}

// append adds a token, which must not be before the last one.
func (s *tokens) append(work *symbols.Work, t token) error {
	switch {
	case s.count == maxTokens:
		return errTooMany
	case s.count > 0 && s.last.after(t.line, t.column):
		return errUnsorted
	}
	if s.count%blockSize == 0 {
		if err := s.reserveChunk(work); err != nil {
			return err
		}
		chunk := len(s.chunks) - 1
		s.blocks = append(s.blocks, tokenBlock{first: t, chunk: uint16(chunk), at: uint16(len(s.chunks[chunk]))})
		s.base = token{}
	} else {
		s.encode(t)
	}
	if s.count == 0 {
		s.first = t
	}
	s.base = baseOf(s.base, t)
	s.last = t
	s.count++
	return nil
}

// reserveChunk makes room for a block. Blocks that start in a chunk start in its first 64 KiB, and
// the blocks of maxTokens fit into 2^16 chunks.
func (s *tokens) reserveChunk(work *symbols.Work) error {
	n := len(s.chunks)
	if n > 0 && len(s.chunks[n-1])+blockSize*maxEncoded <= cap(s.chunks[n-1]) {
		return nil
	}
	size := min(minChunk<<min(n, 16), chunkBytes)
	if err := work.Claim(int64(size)); err != nil {
		return err
	}
	s.chunks = append(s.chunks, make([]byte, 0, size))
	return nil
}

// truncate returns to an earlier state.
func (s *tokens) truncate(work *symbols.Work, to tokens, end int) {
	for _, chunk := range s.chunks[len(to.chunks):] {
		work.Free(int64(cap(chunk)))
	}
	to.blocks = s.blocks[:len(to.blocks)]
	*s = to
	if n := len(s.chunks); n > 0 {
		s.chunks[n-1] = s.chunks[n-1][:end]
	}
}

// end returns the length of the last chunk, for truncate.
func (s *tokens) end() int {
	if len(s.chunks) == 0 {
		return 0
	}
	return len(s.chunks[len(s.chunks)-1])
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
	data := &s.chunks[len(s.chunks)-1]
	flags, at := byte(0), len(*data)
	b := append(*data, 0)
	column := t.column
	if t.line != s.base.line {
		flags |= hasLine
		b = binary.AppendUvarint(b, uint64(t.line-s.base.line))
	} else {
		column -= s.base.column
	}
	b = binary.AppendUvarint(b, uint64(column))
	if t.source >= 0 {
		flags |= hasSource
		if t.source != s.base.source {
			flags |= hasOtherSource
			b = binary.AppendVarint(b, int64(t.source)-int64(s.base.source))
		}
		b = binary.AppendVarint(b, int64(t.sourceLine)-int64(s.base.sourceLine))
		b = binary.AppendVarint(b, int64(t.sourceColumn)-int64(s.base.sourceColumn))
	}
	if t.name >= 0 {
		flags |= hasName
		b = binary.AppendVarint(b, int64(t.name)-int64(s.base.name))
	}
	b[at] = flags
	*data = b
}

// tokenReader decodes the tokens of a block.
type tokenReader struct {
	data    []byte // of the chunk
	at, end int    // of the tokens of the block after the first
	base    token
	token   token
}

// block returns a reader at the first token of a block.
func (s *tokens) block(i int) tokenReader {
	b := &s.blocks[i]
	data := s.chunks[b.chunk]
	end := len(data)
	if i+1 < len(s.blocks) && s.blocks[i+1].chunk == b.chunk {
		end = int(s.blocks[i+1].at)
	}
	return tokenReader{data: data, at: int(b.at), end: end, base: baseOf(token{}, b.first), token: b.first}
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
	i := s.sparse.search(len(s.blocks), place{line, column}, s.blockAt)
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

func (s *tokens) blockAt(i int) place { return place{s.blocks[i].first.line, s.blocks[i].first.column} }

// finish prepares for lookups.
func (s *tokens) finish() { s.sparse = newSparse(len(s.blocks), s.blockAt) }

// onlyLine returns the generated line that has all tokens.
func (s *tokens) onlyLine() (line uint32, ok bool) {
	return s.first.line, s.count > 0 && s.first.line == s.last.line
}

func (s *tokens) bytes() int64 {
	bytes := blockBytes * int64(cap(s.blocks))
	for _, chunk := range s.chunks {
		bytes += int64(cap(chunk))
	}
	return bytes
}
