// SPDX-License-Identifier: Apache-2.0

package dictionary

import (
	"math"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/internal/canonical"
)

// Value is an attribute value that is not in a table yet. The zero Value is the empty value. A
// Value refers to its source and should be used immediately.
type Value struct {
	kind   pcommon.ValueType
	number uint64 // int64, bool (0, 1) or float64 bits
	text   string
	any    pcommon.Value // bytes, map, slice
	moved  bool          // the Builder may take any over
}

func StringValue(s string) Value { return Value{kind: pcommon.ValueTypeStr, text: s} }

func IntValue(i int64) Value { return Value{kind: pcommon.ValueTypeInt, number: uint64(i)} }

func DoubleValue(f float64) Value {
	return Value{kind: pcommon.ValueTypeDouble, number: math.Float64bits(f)}
}

func BoolValue(b bool) Value {
	if b {
		return Value{kind: pcommon.ValueTypeBool, number: 1}
	}
	return Value{kind: pcommon.ValueTypeBool}
}

// AnyValue returns a Value of any kind, including bytes, maps and slices. Maps are equal regardless
// of the order of their keys. A value of a simple kind equals the one from StringValue, IntValue,
// DoubleValue or BoolValue.
func AnyValue(v pcommon.Value) Value {
	switch v.Type() {
	case pcommon.ValueTypeEmpty:
		return Value{}
	case pcommon.ValueTypeStr:
		return StringValue(v.Str())
	case pcommon.ValueTypeInt:
		return IntValue(v.Int())
	case pcommon.ValueTypeDouble:
		return DoubleValue(v.Double())
	case pcommon.ValueTypeBool:
		return BoolValue(v.Bool())
	default:
		return Value{kind: v.Type(), any: v}
	}
}

// MovedValue is AnyValue for a value that is no longer needed: a Builder moves its content into the
// table, instead of copying it.
func MovedValue(v pcommon.Value) Value {
	value := AnyValue(v)
	value.moved = true
	return value
}

// attribute is an entry of the attribute table in comparable form. It includes the kind: an int 1,
// a bool true and a string "1" differ. Doubles are compared bitwise, so that NaN equals itself.
type attribute struct {
	key, unit StringIndex
	kind      pcommon.ValueType
	first     bool // of the bytes, maps or slices with this key and unit
	alone     bool // it is also the only one so far, and text is not set yet
	number    uint64
	text      string // the string, or the canonical encoding of bytes, map or slice
}

// Attribute returns the position of an attribute. The unit is a UCUM unit ("ms", "By") and part of
// the identity. It is empty if a semantic convention defines it.
func (b *Builder) Attribute(key string, value Value, unit string) AttributeIndex {
	return b.attributeAt(b.String(key), value, b.String(unit))
}

// attributeAt is Attribute with the positions of key and unit.
func (b *Builder) attributeAt(key StringIndex, value Value, unit StringIndex) AttributeIndex {
	a := attribute{key: key, unit: unit, kind: value.kind, number: value.number, text: value.text}
	switch a.kind {
	case pcommon.ValueTypeStr:
		if !utf8.ValidString(a.text) {
			a.text = strings.ToValidUTF8(a.text, "\uFFFD")
		}
	case pcommon.ValueTypeBytes, pcommon.ValueTypeMap, pcommon.ValueTypeSlice:
		if b.isFirst(a) {
			a.first, a.alone = true, true
			return b.appendAttribute(a, value)
		}
		var ok bool
		if b.valueBuf, ok = canonical.AppendValue(b.valueBuf[:0], value.any, 0); !ok {
			// Too deeply nested to compare: it gets its own entry.
			return b.appendAttribute(a, value)
		}
		return b.attribute(a, value, b.valueBuf)
	}
	return b.attribute(a, value, nil)
}

// isFirst reports whether a, of bytes, map or slice, is the first with its key and unit, and
// remembers it. Most such attributes occur once in a dictionary, and can be large: hundreds of
// debug images. They are therefore encoded only when there is a second one to compare.
func (b *Builder) isFirst(a attribute) bool {
	h := short(mix2(mix(wordSeed, uint64(a.kind)), a.key, a.unit))
	pos := b.attributeIx.find(h, func(pos int32) bool {
		k := &b.attributes[pos]
		return k.first && k.key == a.key && k.unit == a.unit && k.kind == a.kind
	})
	if pos == 0 {
		b.attributeIx.add(h, len(b.attributes))
		return true
	}
	if first := &b.attributes[pos]; first.alone {
		first.alone = false
		var ok bool
		if b.valueBuf, ok = canonical.AppendValue(b.valueBuf[:0], b.attrT.At(int(pos)).Value(), 0); ok {
			first.text = string(b.valueBuf)
			b.attributeIx.add(short(first.hash(b.valueBuf)), int(pos))
		}
	}
	return false
}

// AttrString, AttrInt and AttrBool are Attribute without a unit.
func (b *Builder) AttrString(key, value string) AttributeIndex {
	return b.Attribute(key, StringValue(value), "")
}

func (b *Builder) AttrInt(key string, value int64) AttributeIndex {
	return b.Attribute(key, IntValue(value), "")
}

func (b *Builder) AttrBool(key string, value bool) AttributeIndex {
	return b.Attribute(key, BoolValue(value), "")
}

// attribute finds or appends a. encoded replaces a.text for kinds that have an encoding.
func (b *Builder) attribute(a attribute, value Value, encoded []byte) AttributeIndex {
	if a.key == 0 && a.unit == 0 && a.kind == pcommon.ValueTypeEmpty {
		return 0
	}
	b.textBytes += int64(len(a.text) + len(encoded))
	h := short(a.hash(encoded))
	pos := b.attributeIx.find(h, func(pos int32) bool {
		k := &b.attributes[pos]
		if k.key != a.key || k.unit != a.unit || k.kind != a.kind || k.number != a.number {
			return false
		}
		if encoded != nil {
			return k.text == string(encoded)
		}
		return k.text == a.text
	})
	if pos != 0 {
		return AttributeIndex(pos)
	}
	if encoded != nil {
		a.text = string(encoded)
	} else {
		a.text = b.arena.clone(a.text)
	}
	b.attributeIx.add(h, len(b.attributes))
	return b.appendAttribute(a, value)
}

// hash returns the hash of an attribute; encoded replaces text, as in [Builder.attribute].
func (a *attribute) hash(encoded []byte) uint64 {
	hash := mix(mix2(mix(wordSeed, uint64(a.kind)), a.key, a.unit), a.number)
	if encoded != nil {
		return mix(hash, hashBytes(encoded))
	}
	return mix(hash, hashString(a.text))
}

func (b *Builder) appendAttribute(a attribute, value Value) AttributeIndex {
	n := len(b.attributes)
	b.attributes = append(b.attributes, a)

	e := b.attrT.AppendEmpty()
	e.SetKeyStrindex(int32(a.key))
	e.SetUnitStrindex(int32(a.unit))
	switch a.kind {
	case pcommon.ValueTypeStr:
		e.Value().SetStr(a.text)
	case pcommon.ValueTypeInt:
		e.Value().SetInt(int64(a.number))
	case pcommon.ValueTypeDouble:
		e.Value().SetDouble(math.Float64frombits(a.number))
	case pcommon.ValueTypeBool:
		e.Value().SetBool(a.number != 0)
	case pcommon.ValueTypeBytes, pcommon.ValueTypeMap, pcommon.ValueTypeSlice:
		if value.moved {
			value.any.MoveTo(e.Value())
		} else {
			value.any.CopyTo(e.Value())
		}
	}
	return AttributeIndex(n)
}
