package sentry

import (
	"math"
	"strconv"
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
	d.open('[')
	for n := 0; d.element(&n); {
		switch {
		case !d.expect('[', "stacks"):
			d.frameIndices = append(d.frameIndices, absent)
		case !d.plainStack():
			d.stack()
		}
		d.stackOffsets = push(d.stackOffsets, int32(len(d.frameIndices)))
	}
}

func (d *sampledDecoder) stack() {
	d.open('[')
	for n := 0; d.element(&n); {
		d.frameIndices = append(d.frameIndices, d.index("stacks"))
	}
}

// plainStack reads a stack without white space whose indices have up to nine digits, the form all SDKs print. If it is not,
// nothing has happened.
func (d *sampledDecoder) plainStack() bool {
	data, pos, indices := d.data, d.pos+1, d.frameIndices
	if pos < len(data) && data[pos] == ']' {
		d.pos = pos + 1
		return true
	}
	for {
		index, end, ok := plainIndex(data, pos)
		if !ok || end == len(data) {
			return false
		}
		indices = push(indices, index)
		pos = end + 1
		switch data[end] {
		case ',':
		case ']':
			d.pos, d.frameIndices = pos, indices
			return true
		default:
			return false
		}
	}
}

// resolveStacks turns payload frame indices into indices of Frames. A stack with a frame that is not there is marked by an
// absent leaf.
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

// index decodes a non-negative whole number that fits an index; absent for anything else.
func (d *sampledDecoder) index(field string) int32 {
	if c := d.peek(); c-'0' > 9 {
		d.out.flaw(field)
		d.skip()
		return absent
	}
	start, value := d.pos, int64(0)
	for d.pos < len(d.data) && isDigit(d.data[d.pos]) && d.pos-start < 10 {
		value = value*10 + int64(d.data[d.pos]-'0')
		d.pos++
	}
	if next := d.byteAt(d.pos); (next == ',' || next == ']' || next == '}') && value < math.MaxInt32 &&
		(d.data[start] != '0' || d.pos == start+1) {
		return int32(value)
	}
	d.pos = start
	return d.slowIndex(field)
}

// slowIndex is index for what the fast path leaves: white space after the number, fractions, exponents, large numbers.
func (d *sampledDecoder) slowIndex(field string) int32 {
	value, err := strconv.ParseUint(string(d.number()), 10, 31)
	if err != nil || value == math.MaxInt32 {
		d.out.flaw(field)
		return absent
	}
	return int32(value)
}

func (d *sampledDecoder) byteAt(pos int) byte {
	if pos < len(d.data) {
		return d.data[pos]
	}
	return 0
}
