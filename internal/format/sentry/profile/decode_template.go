// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// sampleTemplate is the text around the values of a sample. SDKs write all samples of a payload
// with the same key order and white space, so the fast path compares the text between the values
// with that of the previous sample, and parses only the values. The general path reads samples that
// do not match, and replaces the template.
//
// This is correct because the text between the values is compared byte by byte with valid JSON, and
// values are read only in forms with an unambiguous end.
type sampleTemplate struct {
	parts  []templatePart
	suffix []byte // from the last value to the closing brace
}

type templatePart struct {
	prefix []byte // from the opening brace or the previous value to this value
	field  sampleField
}

// templateValues is the number of fields of a sample that the fast path reads: time, thread and
// stack.
const templateValues = 3

// sampleField is a field of a sample, in a form that the fast path reads.
type sampleField int8

const (
	fieldOther  sampleField = iota
	fieldStack              // a number
	fieldThread             // a string
	fieldTime               // a number; in V1 also a string
)

// addValue adds the value between start and end to the template and returns the end of the value's
// text.
func (l *sampleTemplate) addValue(data []byte, field sampleField, f format, previous, start, end int) (next int) {
	quoted := data[start] == '"'
	if quoted {
		start, end = start+1, end-1
	}
	switch {
	case field == fieldThread && !quoted, field == fieldStack && quoted, field == fieldTime && quoted && f == formatV2:
		field = fieldOther
	}
	if len(l.parts) <= templateValues { // one more marks the template as unusable; a hostile sample may have millions
		l.parts = append(l.parts, templatePart{data[previous:start], field})
	}
	return end
}

// usable reports whether the fast path can use the template: it must have exactly the three
// required fields.
func (l *sampleTemplate) usable() bool {
	if len(l.parts) != templateValues {
		return false
	}
	for _, part := range l.parts {
		if part.field == fieldOther {
			return false
		}
	}
	return true
}

// fastSample reads a sample that matches the template. If it does not match, fastSample changes
// nothing and returns false.
func (d *sampledDecoder) fastSample() bool {
	if !d.templateUsable {
		return false
	}
	var (
		data          = d.Data
		pos           = d.Pos
		nanos         uint64
		stack, thread int32
		ok            bool
	)
	for i := range d.template.parts {
		part := &d.template.parts[i]
		if !hasPrefixAt(data, pos, part.prefix) {
			return false
		}
		pos += len(part.prefix)
		switch part.field {
		case fieldStack:
			stack, pos, ok = plainIndex(data, pos)
		case fieldThread:
			thread, pos, ok = d.plainThread(data, pos)
		case fieldTime:
			if d.format == formatV2 {
				nanos, pos, ok = plainUnixNanos(data, pos)
			} else {
				nanos, pos, ok = plainNanos(data, pos)
			}
		}
		if !ok {
			return false
		}
	}
	if !hasPrefixAt(data, pos, d.template.suffix) {
		return false
	}
	d.Pos = pos + len(d.template.suffix)
	d.appendSample(nanos, stack, thread)
	return true
}

// hasPrefixAt compares prefixes of 8 to 16 bytes, the usual length, as two overlapping words, which
// is cheaper than a call.
func hasPrefixAt(data []byte, pos int, prefix []byte) bool {
	n := len(prefix)
	if pos+n > len(data) {
		return false
	}
	text := data[pos : pos+n]
	if 8 <= n && n <= 16 {
		return binary.LittleEndian.Uint64(text) == binary.LittleEndian.Uint64(prefix) &&
			binary.LittleEndian.Uint64(text[n-8:]) == binary.LittleEndian.Uint64(prefix[n-8:])
	}
	return string(text) == string(prefix)
}

// plainIndex reads a whole number of up to nine digits.
func plainIndex(data []byte, pos int) (index int32, end int, ok bool) {
	start := pos
	for pos < len(data) && jsonscan.IsDigit(data[pos]) {
		index = index*10 + int32(data[pos]-'0')
		pos++
		if pos-start > 9 {
			return 0, start, false
		}
	}
	return index, pos, pos > start && (data[start] != '0' || pos == start+1)
}

// plainNanos reads a whole number of up to 18 digits.
func plainNanos(data []byte, pos int) (nanos uint64, end int, ok bool) {
	start := pos
	for pos < len(data) && jsonscan.IsDigit(data[pos]) {
		nanos = nanos*10 + uint64(data[pos]-'0')
		pos++
		if pos-start > 18 {
			return 0, start, false
		}
	}
	return nanos, pos, pos > start && (data[start] != '0' || pos == start+1)
}

// plainUnixNanos reads Unix seconds in the form that all SDKs send, ten digits and up to nine
// decimals, and returns nanoseconds.
func plainUnixNanos(data []byte, pos int) (nanos uint64, end int, ok bool) {
	high, digits := digits8(data, pos)
	if digits < 8 || pos+10 > len(data) || !jsonscan.IsDigit(data[pos+8]) || !jsonscan.IsDigit(data[pos+9]) {
		return 0, pos, false
	}
	if data[pos] == '0' || data[pos] > '7' { // stays below MaxUnixSeconds
		return 0, pos, false
	}
	nanos = (high*100 + uint64(data[pos+8]-'0')*10 + uint64(data[pos+9]-'0')) * jsonscan.NanosPerSecond
	pos += 10
	if pos == len(data) || data[pos] != '.' {
		return nanos, pos, pos == len(data) || !jsonscan.IsDigit(data[pos])
	}
	fraction, decimals := digits8(data, pos+1)
	pos += 1 + decimals
	if decimals == 8 && pos < len(data) && jsonscan.IsDigit(data[pos]) {
		fraction = fraction*10 + uint64(data[pos]-'0')
		decimals++
		pos++
	}
	if decimals == 0 || pos < len(data) && jsonscan.IsDigit(data[pos]) {
		return 0, pos, false
	}
	return nanos + fraction*powersOfTen[9-decimals], pos, true
}

// digits8 reads up to eight decimal digits at once and returns their number. (D. Lemire, "Quickly
// parsing eight digits": it combines neighboring digits to pairs, pairs to groups of four, and
// these to eight.)
func digits8(data []byte, pos int) (value uint64, count int) {
	if pos+8 > len(data) {
		for pos+count < len(data) && jsonscan.IsDigit(data[pos+count]) {
			value = value*10 + uint64(data[pos+count]-'0')
			count++
		}
		return value, count
	}
	const zeros = 0x3030303030303030
	word := binary.LittleEndian.Uint64(data[pos:]) ^ zeros // digits become 0 to 9
	if other := (word + 0x7676767676767676 | word) & 0x8080808080808080; other != 0 {
		count = bits.TrailingZeros64(other) / 8
		word <<= 64 - 8*count // leading zeros; all zeros if there is no digit
	} else {
		count = 8
	}
	word = word*10 + word>>8
	const pairs = 0x000000FF000000FF
	word = (word&pairs*(100+1_000_000<<32) + word>>16&pairs*(1+10_000<<32)) >> 32
	return word, count
}

var powersOfTen = [...]uint64{1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000}

// plainThread reads the content of a string that is the ID of a known thread. It first tries the
// thread that last followed the thread of the previous sample, because profilers visit threads in a
// fixed order. The caller compares the text after the ID.
func (d *sampledDecoder) plainThread(data []byte, pos int) (thread int32, end int, ok bool) {
	threads := d.out.Samples.Thread
	if len(threads) == 0 {
		return 0, pos, false
	}
	before := threads[len(threads)-1]
	guess := d.threadAfter[before]
	if id := d.plainIDs[guess]; id != nil && hasPrefixAt(data, pos, id) {
		return guess, pos + len(id), true
	}
	length := bytes.IndexByte(data[pos:min(len(data), pos+maxPlainID)], '"')
	if length <= 0 {
		return 0, pos, false
	}
	thread, ok = d.threadByID[string(data[pos:pos+length])]
	if !ok || d.plainIDs[thread] == nil {
		return 0, pos, false
	}
	d.threadAfter[before] = thread
	return thread, pos + length, true
}

// maxPlainID bounds the search for the end of a thread ID. Thread IDs have up to 20 digits.
const maxPlainID = 40

// plainID returns the ID of a thread as the content of a JSON string, or nil if it needs escapes.
func plainID(id string) []byte {
	if end := jsonscan.NextSpecial([]byte(id), 0); id == "" || end < len(id) {
		return nil
	}
	return []byte(id)
}
