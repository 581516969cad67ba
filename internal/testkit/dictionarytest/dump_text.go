// SPDX-License-Identifier: Apache-2.0

package dictionarytest

import (
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// maxDepth is the depth below which values are not printed.
const maxDepth = 100

// quoteName returns a name unchanged if it consists of letters, digits and plain punctuation, else
// as a Go string literal. Characters and words of the layout (spaces, colons, equals signs, quotes,
// braces, square brackets, "!" and a few words) cause quotes. Parentheses and angle brackets do
// not: they are in too many names, such as (*T).Run, Array.map<T> and <module>.
func quoteName(s string) string {
	switch s {
	case "", "?", "in", "inlined", "nothing":
		return strconv.Quote(s)
	}
	if strings.HasPrefix(s, "0x") { // would read as an address
		return strconv.Quote(s)
	}
	for _, r := range s {
		if r >= utf8.RuneSelf || !isPlain(byte(r)) {
			return strconv.Quote(s)
		}
	}
	return s
}

func isPlain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		strings.IndexByte("._-/$@#*+~,&()<>%", c) >= 0
}

// formatValue returns a value such that its kind is visible: strings are quoted, doubles have a
// point or an exponent, bytes start with 0x, maps are sorted.
func formatValue(v pcommon.Value) string {
	return string(appendValue(nil, v, 0))
}

// formatParts returns the entries of a map, or the elements of a list of maps, to be printed on
// separate lines; nil for any other value.
func formatParts(v pcommon.Value) (parts []string) {
	switch {
	case v.Type() == pcommon.ValueTypeMap:
		for _, e := range sortedEntries(v.Map()) {
			parts = append(parts, quoteName(e.Key)+": "+formatValue(e.Value))
		}
	case v.Type() == pcommon.ValueTypeSlice && v.Slice().Len() > 0 && v.Slice().At(0).Type() == pcommon.ValueTypeMap:
		for _, x := range v.Slice().All() {
			parts = append(parts, formatValue(x))
		}
	}
	return parts
}

func appendValue(to []byte, v pcommon.Value, depth int) []byte {
	if depth > maxDepth {
		return append(to, "!too deep"...)
	}
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return strconv.AppendQuote(to, v.Str())
	case pcommon.ValueTypeInt:
		return strconv.AppendInt(to, v.Int(), 10)
	case pcommon.ValueTypeDouble:
		return appendDouble(to, v.Double())
	case pcommon.ValueTypeBool:
		return strconv.AppendBool(to, v.Bool())
	case pcommon.ValueTypeBytes:
		return hex.AppendEncode(append(to, "0x"...), v.Bytes().AsRaw())
	case pcommon.ValueTypeSlice:
		to = append(to, '[')
		for i, x := range v.Slice().All() {
			if i > 0 {
				to = append(to, ", "...)
			}
			to = appendValue(to, x, depth+1)
		}
		return append(to, ']')
	case pcommon.ValueTypeMap:
		to = append(to, '{')
		for i, e := range sortedEntries(v.Map()) {
			if i > 0 {
				to = append(to, ", "...)
			}
			to = append(append(to, quoteName(e.Key)...), ": "...)
			to = appendValue(to, e.Value, depth+1)
		}
		return append(to, '}')
	default:
		return append(to, "nothing"...)
	}
}

func appendDouble(to []byte, f float64) []byte {
	from, form := len(to), byte('f') // as people and payloads write it, unless that takes too many zeros
	if size := math.Abs(f); size >= 1e21 || size != 0 && size < 1e-6 {
		form = 'g'
	}
	to = strconv.AppendFloat(to, f, form, -1, 64)
	if math.IsInf(f, 0) || math.IsNaN(f) || strings.ContainsAny(string(to[from:]), ".e") {
		return to
	}
	return append(to, ".0"...)
}

type entry struct {
	Key   string
	Value pcommon.Value
}

// sortedEntries returns the entries of a map, sorted by key. The sort is stable, because an
// incoming map may contain a key twice.
func sortedEntries(m pcommon.Map) []entry {
	entries := make([]entry, 0, m.Len())
	for k, v := range m.All() {
		entries = append(entries, entry{k, v})
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return strings.Compare(a.Key, b.Key) })
	return entries
}
