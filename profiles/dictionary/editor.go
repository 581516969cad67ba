// SPDX-License-Identifier: Apache-2.0

package dictionary

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// Editor adds entries to the dictionary of an existing message. It returns the existing entry if
// the dictionary already has an equal string, function, or attribute with a text, number or truth
// value. It does not search for other attributes, locations and stacks, which would cost a pass
// over the tables.
//
// Call [Compact] after all edits, to remove entries that are no longer used and to merge locations,
// stacks and samples that have become equal.
type Editor struct {
	d          pprofile.ProfilesDictionary
	stringT    pcommon.StringSlice
	functionT  pprofile.FunctionSlice
	attributeT pprofile.KeyValueAndUnitSlice

	// The indexes have all strings, and added functions and attributes. An added entry with a new
	// string cannot equal an entry of the message, so those are indexed only when needed.
	stringIx, functionIx, attributeIx   hashIndex
	before                              Hints // sizes of the tables of the message
	functionsIndexed, attributesIndexed bool
}

// NewEditor returns an Editor of d. It adds entry 0 to empty tables, so that the first added entry
// does not mean "none".
func NewEditor(d pprofile.ProfilesDictionary) *Editor {
	if d.MappingTable().Len() == 0 {
		d.MappingTable().AppendEmpty()
	}
	if d.LocationTable().Len() == 0 {
		d.LocationTable().AppendEmpty()
	}
	if d.FunctionTable().Len() == 0 {
		d.FunctionTable().AppendEmpty()
	}
	if d.LinkTable().Len() == 0 {
		d.LinkTable().AppendEmpty()
	}
	if d.AttributeTable().Len() == 0 {
		d.AttributeTable().AppendEmpty()
	}
	if d.StackTable().Len() == 0 {
		d.StackTable().AppendEmpty()
	}
	if d.StringTable().Len() == 0 {
		d.StringTable().Append("")
	}
	return &Editor{
		d: d, stringT: d.StringTable(), functionT: d.FunctionTable(), attributeT: d.AttributeTable(), before: hintsOf(d),
	}
}

// String returns the position of a string, which it adds if it is new.
func (e *Editor) String(s string) StringIndex {
	if s == "" {
		return 0
	}
	if len(e.stringIx.slots) == 0 {
		e.stringIx.reset(e.stringT.Len())
		for i := 1; i < e.stringT.Len(); i++ {
			e.findString(e.stringT.At(i), i)
		}
	}
	n := e.stringT.Len()
	i := e.findString(s, n)
	if int(i) == n {
		e.stringT.Append(s)
	}
	return i
}

// findString returns the position of a string. If the index does not have it, it gets position n.
func (e *Editor) findString(s string, n int) StringIndex {
	h := short(hashString(s))
	pos := e.stringIx.find(h, func(pos int32) bool { return e.stringT.At(int(pos)) == s })
	if pos == 0 {
		e.stringIx.add(h, n)
		pos = int32(n)
	}
	return StringIndex(pos)
}

// Attribute adds an attribute without a unit.
func (e *Editor) Attribute(key string, value pcommon.Value) AttributeIndex {
	i := e.attributeT.Len()
	entry := e.attributeT.AppendEmpty()
	entry.SetKeyStrindex(int32(e.String(key)))
	value.CopyTo(entry.Value())
	return AttributeIndex(i)
}

// AttrString returns the position of a string attribute without a unit, which it adds if it is new.
func (e *Editor) AttrString(key, text string) AttributeIndex {
	return e.attribute(key, StringValue(text))
}

// AttrInt is AttrString for an integer.
func (e *Editor) AttrInt(key string, number int64) AttributeIndex {
	return e.attribute(key, IntValue(number))
}

// AttrBool is AttrString for a truth value.
func (e *Editor) AttrBool(key string, value bool) AttributeIndex {
	return e.attribute(key, BoolValue(value))
}

func (e *Editor) attribute(key string, value Value) AttributeIndex {
	a := attribute{key: e.String(key), kind: value.kind, number: value.number, text: value.text}
	if len(e.attributeIx.slots) == 0 {
		e.attributeIx.reset(e.before.Locations)
	}
	if int(a.key) < e.before.Strings && !e.attributesIndexed {
		e.attributesIndexed = true
		for i := 1; i < e.before.Attributes; i++ {
			if known, ok := e.simpleAttribute(i); ok {
				e.findAttribute(known, i)
			}
		}
	}
	n := e.attributeT.Len()
	i := e.findAttribute(a, n)
	if int(i) < n {
		return i
	}
	entry := e.attributeT.AppendEmpty()
	entry.SetKeyStrindex(int32(a.key))
	switch a.kind {
	case pcommon.ValueTypeStr:
		entry.Value().SetStr(a.text)
	case pcommon.ValueTypeInt:
		entry.Value().SetInt(int64(a.number))
	case pcommon.ValueTypeBool:
		entry.Value().SetBool(a.number != 0)
	}
	return i
}

// simpleAttribute returns an entry of the attribute table if it has no unit, and a text, number or
// truth value.
func (e *Editor) simpleAttribute(i int) (a attribute, ok bool) {
	entry := e.attributeT.At(i)
	value := AnyValue(entry.Value())
	switch value.kind {
	case pcommon.ValueTypeStr, pcommon.ValueTypeInt, pcommon.ValueTypeBool:
		return attribute{key: StringIndex(entry.KeyStrindex()), kind: value.kind, number: value.number, text: value.text}, entry.UnitStrindex() == 0
	}
	return a, false
}

// findAttribute returns the position of an attribute. If the index does not have it, it gets
// position n.
func (e *Editor) findAttribute(a attribute, n int) AttributeIndex {
	h := short(a.hash(nil))
	pos := e.attributeIx.find(h, func(pos int32) bool {
		known, _ := e.simpleAttribute(int(pos))
		return known == a
	})
	if pos == 0 {
		e.attributeIx.add(h, n)
		pos = int32(n)
	}
	return AttributeIndex(pos)
}

// Function returns the position of a function, which it adds if it is new.
func (e *Editor) Function(f Function) FunctionIndex { return e.FunctionIn(0, f) }

// FunctionIn is Function, but replaces an entry to which nothing refers, instead of adding one. 0
// is no entry.
func (e *Editor) FunctionIn(unused FunctionIndex, f Function) FunctionIndex {
	if f == (Function{}) {
		return 0
	}
	if len(e.functionIx.slots) == 0 {
		e.functionIx.reset(e.before.Functions)
	}
	if !e.functionsIndexed && int(max(f.Name, f.SystemName, f.Filename)) < e.before.Strings {
		e.functionsIndexed = true
		for i := 1; i < e.before.Functions; i++ {
			e.findFunction(e.function(FunctionIndex(i)), FunctionIndex(i))
		}
	}
	i := unused
	if i == 0 {
		i = FunctionIndex(e.functionT.Len())
	}
	found := e.findFunction(f, i)
	if found != i {
		return found
	}
	if unused == 0 {
		e.functionT.AppendEmpty()
	}
	e.SetFunction(i, f)
	return i
}

func (e *Editor) function(i FunctionIndex) Function {
	entry := e.functionT.At(int(i))
	return Function{
		Name: StringIndex(entry.NameStrindex()), SystemName: StringIndex(entry.SystemNameStrindex()),
		Filename: StringIndex(entry.FilenameStrindex()), StartLine: entry.StartLine(),
	}
}

// findFunction returns the position of a function. If the index does not have it, it gets position
// i.
func (e *Editor) findFunction(f Function, i FunctionIndex) FunctionIndex {
	h := short(f.hash())
	pos := e.functionIx.find(h, func(pos int32) bool { return e.function(FunctionIndex(pos)) == f })
	if pos == 0 {
		e.functionIx.add(h, int(i))
		pos = int32(i)
	}
	return FunctionIndex(pos)
}

// SetFunction replaces a function for all its references. It panics if the table has no such entry.
func (e *Editor) SetFunction(i FunctionIndex, f Function) {
	entry := e.functionT.At(int(i))
	entry.SetNameStrindex(int32(f.Name))
	entry.SetSystemNameStrindex(int32(f.SystemName))
	entry.SetFilenameStrindex(int32(f.Filename))
	entry.SetStartLine(f.StartLine)
}

// Location adds a location.
func (e *Editor) Location(l Location) LocationIndex {
	i := e.d.LocationTable().Len()
	entry := e.d.LocationTable().AppendEmpty()
	entry.SetMappingIndex(int32(l.Mapping))
	entry.SetAddress(l.Address)
	SetAttributes(entry.AttributeIndices(), l.Attributes...)
	for _, line := range l.Lines {
		to := entry.Lines().AppendEmpty()
		to.SetFunctionIndex(int32(line.Function))
		to.SetLine(line.Line)
		to.SetColumn(line.Column)
	}
	return LocationIndex(i)
}

// Stack adds a stack, leaf first.
func (e *Editor) Stack(locations []LocationIndex) StackIndex {
	if len(locations) == 0 {
		return 0
	}
	i := e.d.StackTable().Len()
	e.d.StackTable().AppendEmpty().LocationIndices().FromRaw(rawIndices(locations))
	return StackIndex(i)
}
