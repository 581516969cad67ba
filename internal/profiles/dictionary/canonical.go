// SPDX-License-Identifier: Apache-2.0

package dictionary

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// MaxValueDepth bounds recursion into maps and slices. Protobuf decoders in most languages reject
// messages nested deeper than 100, so no valid value exceeds it; a hostile value must not exhaust
// the stack.
const MaxValueDepth = 100

// AppendCanonical appends an encoding that two values share exactly if they are equal: kind, then
// content with its length in front, map entries in the order of their keys. It reports false if the
// value is nested too deeply.
func AppendCanonical(to []byte, v pcommon.Value, depth int) ([]byte, bool) {
	if depth > MaxValueDepth {
		return to, false
	}
	to = append(to, byte(v.Type()))
	var ok bool
	switch v.Type() {
	case pcommon.ValueTypeStr:
		to = appendText(to, v.Str())
	case pcommon.ValueTypeInt:
		to = binary.BigEndian.AppendUint64(to, uint64(v.Int()))
	case pcommon.ValueTypeDouble:
		to = binary.BigEndian.AppendUint64(to, math.Float64bits(v.Double()))
	case pcommon.ValueTypeBool:
		if v.Bool() {
			to = append(to, 1)
		} else {
			to = append(to, 0)
		}
	case pcommon.ValueTypeBytes:
		to = binary.AppendUvarint(to, uint64(v.Bytes().Len()))
		for _, x := range v.Bytes().All() {
			to = append(to, x)
		}
	case pcommon.ValueTypeSlice:
		to = binary.AppendUvarint(to, uint64(v.Slice().Len()))
		for _, x := range v.Slice().All() {
			if to, ok = AppendCanonical(to, x, depth+1); !ok {
				return to, false
			}
		}
	case pcommon.ValueTypeMap:
		to = binary.AppendUvarint(to, uint64(v.Map().Len()))
		for _, e := range SortedEntries(v.Map()) {
			to = appendText(to, e.Key)
			if to, ok = AppendCanonical(to, e.Value, depth+1); !ok {
				return to, false
			}
		}
	}
	return to, true
}

func appendText(to []byte, s string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(s))), s...)
}

// Entry is an entry of a map.
type Entry struct {
	Key   string
	Value pcommon.Value
}

// SortedEntries returns the entries of a map by key. The sort is stable: an incoming message may
// have a key twice, and then only their order is defined.
func SortedEntries(m pcommon.Map) []Entry {
	entries := make([]Entry, 0, m.Len())
	for k, v := range m.All() {
		entries = append(entries, Entry{k, v})
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	return entries
}
