// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/wire"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/internal/canonical"
)

// value returns the value of an attribute with resolved string references.
func (c *checker) value(i int, a pprofile.KeyValueAndUnit) pcommon.Value {
	if v, ok := c.resolved[i]; ok {
		return v
	}
	return a.Value()
}

// resolve reads string references inside values of the attribute table. pdata resolves those of
// resources and scopes. It keeps those of the table, but returns an empty value or key for each.
// The encoded message has them.
func (c *checker) resolve() {
	copied := pprofile.NewProfiles()
	table := copied.Dictionary().AttributeTable()
	var places []int
	for i, a := range c.dict.AttributeTable().All() {
		if i > 0 && mayRefer(a.Value(), 0) {
			a.CopyTo(table.AppendEmpty())
			places = append(places, i)
		}
	}
	if len(places) == 0 {
		return
	}
	encoded, err := new(pprofile.ProtoMarshaler).MarshalProfiles(copied)
	if err != nil {
		return // without resources, there are no references that could be wrong
	}
	c.resolved, c.references = map[int]pcommon.Value{}, map[int][]int32{}
	n := 0
	encoded = rewrite(encoded, fieldDictionary, func(dictionary []byte) []byte {
		return rewrite(dictionary, fieldAttributeTable, func(attribute []byte) []byte {
			r := reader{checker: c, place: places[n]}
			n++
			return rewrite(attribute, fieldValue, func(value []byte) []byte { return r.value(value, 0) })
		})
	})
	decoded, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(encoded)
	if err != nil {
		return // pdata has encoded it
	}
	for n, a := range decoded.Dictionary().AttributeTable().All() {
		c.resolved[places[n]] = a.Value()
	}
}

// mayRefer reports whether a value, or one in it, may be a reference: it reads as empty.
func mayRefer(v pcommon.Value, depth int) bool {
	if depth > canonical.MaxDepth {
		return false // which attributeTable reports
	}
	switch v.Type() {
	case pcommon.ValueTypeEmpty:
		return true
	case pcommon.ValueTypeSlice:
		for _, x := range v.Slice().All() {
			if mayRefer(x, depth+1) {
				return true
			}
		}
	case pcommon.ValueTypeMap:
		for key, x := range v.Map().All() {
			if key == "" || mayRefer(x, depth+1) {
				return true
			}
		}
	}
	return false
}

// The numbers of the fields that lead to a reference.
const (
	fieldDictionary     = 2 // of the message
	fieldAttributeTable = 6
	fieldValue          = 2 // of KeyValueAndUnit and KeyValue

	fieldText     = 1 // of AnyValue, and the key of KeyValue
	fieldArray    = 5 // of AnyValue
	fieldMap      = 6
	fieldTextRef  = 8
	fieldKeyRef   = 3 // of KeyValue
	fieldElements = 1 // of ArrayValue and KeyValueList
)

// rewrite changes the fields of an encoded message that have a number.
func rewrite(message []byte, number protowire.Number, change func([]byte) []byte) (to []byte) {
	for f := range wire.Fields(message) {
		if f.Is(number, protowire.BytesType) {
			to = appendBytes(to, number, change(f.Bytes))
		} else {
			to = append(to, f.Raw...)
		}
	}
	return to
}

func appendBytes(to []byte, number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, number, protowire.BytesType), content)
}

// reader replaces the references of one attribute by their texts.
type reader struct {
	*checker
	place int
}

func (r *reader) value(value []byte, depth int) (to []byte) {
	for f := range wire.Fields(value) {
		switch {
		case f.Is(fieldTextRef, protowire.VarintType):
			to = r.appendText(to, f.Varint)
		case f.Number == fieldArray && depth <= canonical.MaxDepth:
			to = appendBytes(to, fieldArray, rewrite(f.Bytes, fieldElements, func(element []byte) []byte { return r.value(element, depth+1) }))
		case f.Number == fieldMap && depth <= canonical.MaxDepth:
			to = appendBytes(to, fieldMap, rewrite(f.Bytes, fieldElements, func(entry []byte) []byte { return r.entry(entry, depth+1) }))
		default:
			to = append(to, f.Raw...)
		}
	}
	return to
}

// entry rewrites an entry of a map, which has either a key or a reference to it.
func (r *reader) entry(entry []byte, depth int) (to []byte) {
	hasKey, hasReference := false, false
	for f := range wire.Fields(entry) {
		switch {
		case f.Is(fieldKeyRef, protowire.VarintType):
			hasReference = true
			to = r.appendText(to, f.Varint)
		case f.Is(fieldValue, protowire.BytesType):
			to = appendBytes(to, fieldValue, r.value(f.Bytes, depth))
		default:
			hasKey = hasKey || f.Number == fieldText && len(f.Bytes) > 0
			to = append(to, f.Raw...)
		}
	}
	if hasKey && hasReference {
		r.report(RuleAttribute, tableAttributes, r.place, "an entry of a map has a key and a reference to a key")
	}
	return to
}

// appendText appends the text of a reference, and marks it as used by the attribute.
func (r *reader) appendText(to []byte, reference uint64) []byte {
	i, n := int32(reference), r.dict.StringTable().Len()
	if !inTable(i, n) {
		r.report(RuleAttribute, tableAttributes, r.place, "its value refers to string %d of %d", i, n)
		return to
	}
	r.references[r.place] = append(r.references[r.place], i)
	return protowire.AppendString(protowire.AppendTag(to, fieldText, protowire.BytesType), r.dict.StringTable().At(int(i)))
}
