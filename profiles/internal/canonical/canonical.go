// SPDX-License-Identifier: Apache-2.0

// Package canonical encodes attribute values such that equal values have equal bytes.
package canonical

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// MaxDepth bounds recursion into maps and slices, so that hostile values cannot exhaust the
// stack. Most protobuf decoders reject messages with more than 100 levels, so valid values do not
// exceed it.
const MaxDepth = 100

// AppendValue appends an encoding that is the same for two values if and only if they are
// equal: the kind, then the length and the content, with map entries sorted by key. It reports
// false if the value is nested too deeply.
func AppendValue(to []byte, v pcommon.Value, depth int) ([]byte, bool) {
	if depth > MaxDepth {
		return to, false
	}
	to = append(to, byte(v.Type()))
	switch v.Type() {
	case pcommon.ValueTypeStr:
		to = AppendText(to, v.Str())
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
			var ok bool
			if to, ok = AppendValue(to, x, depth+1); !ok {
				return to, false
			}
		}
	case pcommon.ValueTypeMap:
		return AppendMap(to, v.Map(), depth)
	}
	return to, true
}

// AppendMap is [AppendValue] for a map.
func AppendMap(to []byte, m pcommon.Map, depth int) (_ []byte, ok bool) {
	to = binary.AppendUvarint(to, uint64(m.Len()))
	for _, e := range SortedEntries(m) {
		to = AppendText(to, e.Key)
		if to, ok = AppendValue(to, e.Value, depth+1); !ok {
			return to, false
		}
	}
	return to, true
}

// AppendText appends the length of a text and the text.
func AppendText(to []byte, s string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(s))), s...)
}

// Entry is an entry of a map.
type Entry struct {
	Key   string
	Value pcommon.Value
}

// SortedEntries returns the entries of a map, sorted by key. The sort is stable, because an
// incoming map may contain a key twice.
func SortedEntries(m pcommon.Map) []Entry {
	entries := make([]Entry, 0, m.Len())
	for k, v := range m.All() {
		entries = append(entries, Entry{k, v})
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	return entries
}
