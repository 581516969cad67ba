// SPDX-License-Identifier: Apache-2.0

package dictionary

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// maxValueDepth bounds recursion into maps and slices. Protobuf decoders in
// most languages refuse messages nested deeper than 100, so no honest value
// gets here; a hostile one must not exhaust the stack.
const maxValueDepth = 100

// appendCanonical appends an encoding that two values share exactly when they
// are equal: kind, then content with its length in front, map entries in the
// order of their keys. It reports false when the value is nested too deeply.
func appendCanonical(to []byte, v pcommon.Value, depth int) ([]byte, bool) {
	if depth > maxValueDepth {
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
			if to, ok = appendCanonical(to, x, depth+1); !ok {
				return to, false
			}
		}
	case pcommon.ValueTypeMap:
		to = binary.AppendUvarint(to, uint64(v.Map().Len()))
		for _, e := range sortedEntries(v.Map()) {
			to = appendText(to, e.key)
			if to, ok = appendCanonical(to, e.value, depth+1); !ok {
				return to, false
			}
		}
	}
	return to, true
}

func appendText(to []byte, s string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(s))), s...)
}

type entry struct {
	key   string
	value pcommon.Value
}

// sortedEntries lists a map by key. The sort is stable: a message from outside
// may hold a key twice, and then their order is all there is.
func sortedEntries(m pcommon.Map) []entry {
	entries := make([]entry, 0, m.Len())
	for k, v := range m.All() {
		entries = append(entries, entry{k, v})
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	return entries
}
