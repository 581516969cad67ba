// SPDX-License-Identifier: Apache-2.0

package sourcemap

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// decodeMappings adds the tokens of a mappings field, shifted by the offset of its section, after
// check has seen them. It accepts tokens of a line in any order.
func decodeMappings(text []byte, offset place, to *tokens, check func(*token) error) error {
	before := *to
	err := eachToken(text, offset, func(t token) error {
		if err := check(&t); err != nil {
			return err
		}
		return to.append(t)
	})
	if !errors.Is(err, errUnsorted) {
		return err
	}
	// Few tools write such maps; only these need a complete line in memory.
	*to = before
	var line []token
	flush := func() error { // in order of place
		slices.SortStableFunc(line, func(a, b token) int { return cmp.Compare(a.column, b.column) })
		for _, t := range line {
			if err := check(&t); err != nil {
				return err
			}
			if err := to.append(t); err != nil {
				return err
			}
		}
		line = line[:0]
		return nil
	}
	err = eachToken(text, offset, func(t token) error {
		if len(line) > 0 && line[0].line != t.line {
			if err := flush(); err != nil {
				return err
			}
		}
		if len(line) == maxTokens {
			return errTooMany
		}
		line = append(line, t)
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// place is a line and a column from 0.
type place struct{ line, column uint32 }

// eachToken decodes base64 VLQ: a field is the difference from the previous field of the same kind;
// the column restarts on each line.
func eachToken(text []byte, offset place, visit func(token) error) error {
	t := token{line: offset.line, column: offset.column, source: -1, name: -1}
	var source, sourceLine, sourceColumn, name int64
	column := int64(offset.column)
	for i := 0; i < len(text); {
		switch text[i] {
		case ';':
			t.line++
			if t.line == math.MaxUint32 {
				return errors.New("too many lines")
			}
			column = 0
			i++
			continue
		case ',':
			i++
			continue
		}
		var fields [5]int64
		start, n := i, 0
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
		if n != 1 && n != 4 && n != 5 {
			return fmt.Errorf("mapping at byte %d has %d fields, must have 1, 4 or 5", start, n)
		}
		column += fields[0]
		source, sourceLine, sourceColumn, name = source+fields[1], sourceLine+fields[2], sourceColumn+fields[3], name+fields[4]
		for _, v := range []int64{column, source, sourceLine, sourceColumn, name} {
			if v < 0 || v > math.MaxInt32 {
				return fmt.Errorf("mapping at byte %d refers to position %d", start, v)
			}
		}
		t = token{line: t.line, column: uint32(column), source: -1, name: -1}
		if n >= 4 {
			t.source, t.sourceLine, t.sourceColumn = int32(source), uint32(sourceLine), uint32(sourceColumn)
		}
		if n == 5 {
			t.name = int32(name)
		}
		if err := visit(t); err != nil {
			return err
		}
	}
	return nil
}

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
