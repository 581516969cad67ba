// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"encoding/hex"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// lineWidth is how long a value with structure may be before its parts get lines of their own.
const lineWidth = 110

// value prints a name and a value: in one line if it fits, else with its members below, in their
// order. Multi-line texts stay readable.
func (d *dumper) value(indent int, name string, v pcommon.Value) {
	if v.Type() == pcommon.ValueTypeStr && strings.Contains(v.Str(), "\n") {
		d.line(indent, "%s =", name)
		for text := range strings.SplitSeq(v.Str(), "\n") {
			d.line(indent+1, "| %s", text)
		}
		return
	}
	text := valueText(v)
	structured := v.Type() == pcommon.ValueTypeMap || v.Type() == pcommon.ValueTypeSlice
	if !structured || 2*indent+len(name)+len(" = ")+len(text) <= lineWidth {
		d.line(indent, "%s%s", nameBefore(name), text)
		return
	}
	d.line(indent, "%s", name)
	if v.Type() == pcommon.ValueTypeMap {
		d.attributes(indent+1, v.Map())
		return
	}
	for _, element := range v.Slice().All() {
		d.value(indent+1, "-", element)
	}
}

// nameBefore returns a name with its separator; "-" is an element of a list.
func nameBefore(name string) string {
	if name == "-" {
		return "- "
	}
	return name + " = "
}

// valueText is a value in one line.
func valueText(v pcommon.Value) string {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return strconv.Quote(v.Str())
	case pcommon.ValueTypeInt:
		return strconv.FormatInt(v.Int(), 10)
	case pcommon.ValueTypeDouble:
		return doubleText(v.Double())
	case pcommon.ValueTypeBool:
		return strconv.FormatBool(v.Bool())
	case pcommon.ValueTypeBytes:
		return "0x" + hex.EncodeToString(v.Bytes().AsRaw())
	case pcommon.ValueTypeSlice:
		var elements []string
		for _, element := range v.Slice().All() {
			elements = append(elements, valueText(element))
		}
		return "[" + strings.Join(elements, ", ") + "]"
	case pcommon.ValueTypeMap:
		var members []string
		for key, member := range v.Map().All() {
			members = append(members, keyText(key)+": "+valueText(member))
		}
		return "{" + strings.Join(members, ", ") + "}"
	}
	return "nothing"
}

func doubleText(f float64) string {
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if strings.ContainsAny(text, ".NI") { // NaN and Inf have no point
		return text
	}
	return text + ".0"
}

// keyText quotes keys that would read as something else.
func keyText(key string) string {
	if key == "" || key == "-" || strings.ContainsAny(key, " =:,{}[]\"\n\r\t\\") || strconv.Quote(key) != `"`+key+`"` {
		return strconv.Quote(key)
	}
	return key
}
