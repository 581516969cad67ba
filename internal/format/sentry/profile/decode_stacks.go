// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"math"
	"strconv"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

func (d *sampledDecoder) resetStacks() {
	d.frameIndices, d.stackOffsets = d.frameIndices[:0], d.stackOffsets[:0]
}

// stacks decodes the array "stacks": arrays of indices into the payload's frames, leaf first.
func (d *sampledDecoder) stacks() {
	d.resetStacks()
	if !d.expect('[', "stacks") {
		return
	}
	d.Open('[')
	for n := 0; d.Element(&n); {
		switch {
		case !d.expect('[', "stacks"):
			d.frameIndices = push(d, d.frameIndices, absent)
		case !d.plainStack():
			d.stack()
		}
		d.stackOffsets = push(d, d.stackOffsets, int32(len(d.frameIndices)))
	}
}

func (d *sampledDecoder) stack() {
	d.Open('[')
	for n := 0; d.Element(&n); {
		d.frameIndices = push(d, d.frameIndices, d.index("stacks"))
	}
}

// plainStack reads a stack without white space and with indices of up to nine digits, the form that
// all SDKs send. For other forms, it changes nothing and returns false.
func (d *sampledDecoder) plainStack() bool {
	data, pos, indices := d.Data, d.Pos+1, d.frameIndices
	if pos < len(data) && data[pos] == ']' {
		d.Pos = pos + 1
		return true
	}
	for {
		index, end, ok := plainIndex(data, pos)
		if !ok || end == len(data) {
			return false
		}
		indices = push(d, indices, index)
		pos = end + 1
		switch data[end] {
		case ',':
		case ']':
			d.Pos, d.frameIndices = pos, indices
			return true
		default:
			return false
		}
	}
}

// resolveStacks converts frame indices of the payload to indices of Frames. It marks a stack with a
// missing frame by an absent leaf.
func (d *sampledDecoder) resolveStacks() {
	stacks := Stacks{frames: d.frameIndices, ends: d.stackOffsets}
	for i := range stacks.ends {
		dangling := false
		stack := stacks.At(int32(i))
		for j, index := range stack {
			if index != absent && int(index) < len(d.frameOf) {
				stack[j] = d.frameOf[index]
			} else {
				stack[j] = absent
			}
			dangling = dangling || stack[j] == absent
		}
		if dangling {
			stack[0] = absent
			stacks.dangling++
		}
	}
	d.out.Stacks = stacks
}

// index decodes a non-negative whole number that fits an index. It returns absent for anything
// else.
func (d *sampledDecoder) index(field string) int32 {
	if c := d.Peek(); c-'0' > 9 {
		d.out.addFlaw(field)
		d.Skip()
		return absent
	}
	start, value := d.Pos, int64(0)
	for d.Pos < len(d.Data) && jsonscan.IsDigit(d.Data[d.Pos]) && d.Pos-start < 10 {
		value = value*10 + int64(d.Data[d.Pos]-'0')
		d.Pos++
	}
	if next := d.byteAt(d.Pos); (next == ',' || next == ']' || next == '}') && value < math.MaxInt32 &&
		(d.Data[start] != '0' || d.Pos == start+1) {
		return int32(value)
	}
	d.Pos = start
	return d.slowIndex(field)
}

// slowIndex handles the cases that index does not: white space after the number, fractions,
// exponents, large numbers.
func (d *sampledDecoder) slowIndex(field string) int32 {
	value, err := strconv.ParseUint(string(d.Number()), 10, 31)
	if err != nil || value == math.MaxInt32 {
		d.out.addFlaw(field)
		return absent
	}
	return int32(value)
}

func (d *sampledDecoder) byteAt(pos int) byte {
	if pos < len(d.Data) {
		return d.Data[pos]
	}
	return 0
}
