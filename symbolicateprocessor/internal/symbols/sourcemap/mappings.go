// SPDX-License-Identifier: Apache-2.0

package sourcemap

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// decodeMappings adds the tokens of a mappings field, shifted by the offset of its section, after
// check has seen them. It accepts tokens of a line in any order.
func decodeMappings(work *symbols.Work, text []byte, offset place, to *tokens, check func(*token) error) error {
	count, longest := countTokens(text)
	if err := errors.Join(work.Step(len(text)), to.reserve(work, count)); err != nil {
		return err
	}
	before, end := *to, to.end()
	err := eachToken(work, text, offset, func(t token) error {
		if err := check(&t); err != nil {
			return err
		}
		return to.append(work, t)
	})
	if !errors.Is(err, errUnsorted) {
		return err
	}
	// Few tools write such maps; only these need a complete line in memory.
	to.truncate(work, before, end)
	needed := int64(longest) * int64(unsafe.Sizeof(token{})+unsafe.Sizeof(uint64(0)))
	if err := work.Claim(needed); err != nil {
		return err
	}
	defer work.Free(needed)
	line := unsortedLine{make([]token, 0, longest), make([]uint64, 0, longest)}
	flush := func() error {
		return line.flush(work, func(t token) error {
			if err := check(&t); err != nil {
				return err
			}
			return to.append(work, t)
		})
	}
	err = eachToken(work, text, offset, func(t token) error {
		if len(line.tokens) > 0 && line.tokens[0].line != t.line {
			if err := flush(); err != nil {
				return err
			}
		}
		line.add(t)
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// countTokens returns the numbers of tokens in a text, and in its longest line.
func countTokens(text []byte) (count, longest int) {
	line, inside := 0, false
	for _, c := range text {
		switch {
		case c == ';':
			longest, line, inside = max(longest, line), 0, false
		case c == ',':
			inside = false
		case !inside:
			line, count, inside = line+1, count+1, true
		}
	}
	return count, max(longest, line)
}

// unsortedLine has the tokens of a line, and their columns with their positions in the list: tokens
// with equal columns keep their order.
type unsortedLine struct {
	tokens []token
	order  []uint64
}

func (l *unsortedLine) add(t token) {
	l.order = append(l.order, uint64(t.column)<<32|uint64(len(l.tokens)))
	l.tokens = append(l.tokens, t)
}

// flush visits the tokens in order of their columns, and empties the line.
func (l *unsortedLine) flush(work *symbols.Work, visit func(token) error) error {
	if err := work.Step(len(l.order) * bits.Len(uint(len(l.order))) / 4); err != nil {
		return err
	}
	slices.Sort(l.order)
	for _, key := range l.order {
		if err := visit(l.tokens[uint32(key)]); err != nil {
			return err
		}
	}
	l.tokens, l.order = l.tokens[:0], l.order[:0]
	return nil
}

// place is a line and a column from 0.
type place struct{ line, column uint32 }

// eachToken decodes mappings: a field is the difference from the previous field of the same kind;
// the column restarts on each line.
func eachToken(work *symbols.Work, text []byte, offset place, visit func(token) error) error {
	last := offset.line
	var source, sourceLine, sourceColumn, name int64
	column := int64(offset.column)
	return eachSegment(work, text, func(at, line, n int, fields *[maxFields]int64) error {
		if n != 1 && n != 4 && n != 5 {
			return fmt.Errorf("mapping at byte %d has %d fields, must have 1, 4 or 5", at, n)
		}
		if line > math.MaxInt32-int(offset.line) {
			return errors.New("too many lines")
		}
		t := token{line: offset.line + uint32(line), source: -1, name: -1}
		if t.line != last {
			last, column = t.line, 0
		}
		column += fields[0]
		source, sourceLine, sourceColumn, name = source+fields[1], sourceLine+fields[2], sourceColumn+fields[3], name+fields[4]
		for _, v := range []int64{column, source, sourceLine, sourceColumn, name} {
			if v < 0 || v > math.MaxInt32 {
				return fmt.Errorf("mapping at byte %d refers to position %d", at, v)
			}
		}
		t.column = uint32(column)
		if n >= 4 {
			t.source, t.sourceLine, t.sourceColumn = int32(source), uint32(sourceLine), uint32(sourceColumn)
		}
		if n == 5 {
			t.name = int32(name)
		}
		return visit(t)
	})
}

// maxFields is the maximum number of fields of a segment.
const maxFields = 5

// eachSegment decodes base64 VLQ: segments of n fields, with their byte, and their line from 0.
func eachSegment(work *symbols.Work, text []byte, visit func(at, line, n int, fields *[maxFields]int64) error) error {
	counted, line := 0, 0
	var fields [maxFields]int64
	for i := 0; i < len(text); {
		if i-counted >= stepBytes {
			if err := work.Step(i - counted); err != nil {
				return err
			}
			counted = i
		}
		switch text[i] {
		case ';':
			line++
			i++
			continue
		case ',':
			i++
			continue
		}
		start, n := i, 0
		fields = [maxFields]int64{}
		for i < len(text) && text[i] != ',' && text[i] != ';' {
			if n == len(fields) {
				return fmt.Errorf("mapping at byte %d has more than five fields", start)
			}
			var ok bool
			if fields[n], i, ok = decodeVLQ(text, i); !ok {
				return fmt.Errorf("mapping at byte %d is not base64 VLQ of 32 bits", start)
			}
			n++
		}
		if err := visit(start, line, n, &fields); err != nil {
			return err
		}
	}
	return nil
}

// stepBytes is the size of a piece of a text that is counted as work at once.
const stepBytes = 1 << 12

// decodeVLQ returns the value at i, and the position after it.
func decodeVLQ(text []byte, i int) (value int64, next int, ok bool) {
	for shift := 0; i < len(text); shift += 5 {
		digit := base64Digits[text[i]]
		if digit < 0 || shift > 30 {
			return 0, i, false
		}
		value |= int64(digit&31) << shift
		i++
		if digit&32 == 0 {
			if value&1 != 0 {
				return -(value >> 1), i, true
			}
			return value >> 1, i, true
		}
	}
	return 0, i, false
}

var base64Digits = func() (digits [256]int8) {
	for i := range digits {
		digits[i] = -1
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		digits[c] = int8(i)
	}
	return digits
}()
