// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"bytes"
	"errors"
	"math"
	"strconv"
)

// Column is a JSON list of integers, such as a column of a table. JavaScript has one type for all
// numbers, so some tools write integers with a fraction. Null is [None].
type Column[T int32 | int64] []T

// None is an entry of a column without a number. Formats use the same value.
const None = -1

var errNoNumber = errors.New("an element of a list of numbers is none")

// UnmarshalJSON reads a list. The decoder has checked its syntax.
func (c *Column[T]) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	if data[0] != '[' {
		return errNoNumber
	}
	list := bytes.TrimSpace(data[1 : len(data)-1])
	if len(list) == 0 {
		*c = nil
		return nil
	}
	*c = make(Column[T], 0, bytes.Count(list, []byte(","))+1)
	for element := range bytes.SplitSeq(list, []byte(",")) {
		n, ok := wholeNumber[T](bytes.TrimSpace(element))
		if !ok {
			return errNoNumber
		}
		*c = append(*c, n)
	}
	return nil
}

func wholeNumber[T int32 | int64](text []byte) (T, bool) {
	if string(text) == "null" {
		return None, true
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		if int64(T(n)) != n {
			return None, true
		}
		return T(n), true
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	if f = math.Trunc(f); math.Abs(f) >= math.MaxInt64 || float64(T(f)) != f {
		return None, true
	}
	return T(f), true
}

// At returns an entry, or [None] beyond the end.
func (c Column[T]) At(i int) T {
	if i < 0 || i >= len(c) {
		return None
	}
	return c[i]
}

// Int is a JSON integer, which may be written with a fraction.
type Int int64

// UnmarshalJSON reads a number.
func (i *Int) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	n, ok := wholeNumber[int64](data)
	if !ok {
		return errors.New("no number")
	}
	*i = Int(n)
	return nil
}
