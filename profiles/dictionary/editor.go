// SPDX-License-Identifier: Apache-2.0

package dictionary

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// Editor adds entries to the dictionary of an existing message. It does not search for equal
// entries, which would cost a pass over the tables. Call [Compact] after all edits to merge
// duplicates.
type Editor struct {
	d       pprofile.ProfilesDictionary
	strings map[string]StringIndex // added by this Editor
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
	return &Editor{d: d, strings: map[string]StringIndex{"": 0}}
}

// String returns the position of a string, which it adds unless this Editor has added it before.
func (e *Editor) String(s string) StringIndex {
	i, known := e.strings[s]
	if !known {
		i = StringIndex(e.d.StringTable().Len())
		e.d.StringTable().Append(s)
		e.strings[s] = i
	}
	return i
}

// Attribute adds an attribute without a unit.
func (e *Editor) Attribute(key string, value pcommon.Value) AttributeIndex {
	i := e.d.AttributeTable().Len()
	entry := e.d.AttributeTable().AppendEmpty()
	entry.SetKeyStrindex(int32(e.String(key)))
	value.CopyTo(entry.Value())
	return AttributeIndex(i)
}

// AttrString adds a string attribute.
func (e *Editor) AttrString(key, text string) AttributeIndex {
	i := e.d.AttributeTable().Len()
	entry := e.d.AttributeTable().AppendEmpty()
	entry.SetKeyStrindex(int32(e.String(key)))
	entry.Value().SetStr(text)
	return AttributeIndex(i)
}

// AttrInt adds an integer attribute.
func (e *Editor) AttrInt(key string, number int64) AttributeIndex {
	i := e.d.AttributeTable().Len()
	entry := e.d.AttributeTable().AppendEmpty()
	entry.SetKeyStrindex(int32(e.String(key)))
	entry.Value().SetInt(number)
	return AttributeIndex(i)
}

// Function adds a function.
func (e *Editor) Function(f Function) FunctionIndex {
	i := e.d.FunctionTable().Len()
	e.d.FunctionTable().AppendEmpty()
	e.SetFunction(FunctionIndex(i), f)
	return FunctionIndex(i)
}

// SetFunction replaces a function for all its references. It panics if the table has no such entry.
func (e *Editor) SetFunction(i FunctionIndex, f Function) {
	entry := e.d.FunctionTable().At(int(i))
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
