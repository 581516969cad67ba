// SPDX-License-Identifier: Apache-2.0

package dictionary

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// View reads the dictionary of a message of any origin: indices may be negative or out of range,
// and entry 0 may be missing. No method panics or changes the message.
//
// The results use the same types as the arguments of [Builder]. The second result is false if the
// index, or an index in the entry, points outside its table. The entry is still returned, with 0
// ("none") in place of the broken reference. A lenient caller uses the value and counts the error;
// a strict caller stops.
//
// Index 0 means "none" and reads as the zero value, regardless of the entry in the message.
type View struct {
	strings    pcommon.StringSlice
	attributes pprofile.KeyValueAndUnitSlice
	functions  pprofile.FunctionSlice
	mappings   pprofile.MappingSlice
	locations  pprofile.LocationSlice
	links      pprofile.LinkSlice
	stacks     pprofile.StackSlice
}

// NewView returns a View of d. It is cheap and reflects later changes of d.
func NewView(d pprofile.ProfilesDictionary) View {
	return View{
		strings: d.StringTable(), attributes: d.AttributeTable(), functions: d.FunctionTable(),
		mappings: d.MappingTable(), locations: d.LocationTable(), links: d.LinkTable(), stacks: d.StackTable(),
	}
}

// Attribute is an entry of the attribute table with its strings. Value belongs to the message and
// must not be changed.
type Attribute struct {
	Key   string
	Value pcommon.Value
	Unit  string
}

// valid reports whether index i is inside a table of n entries.
func valid[I ~int32](i I, n int) bool { return i >= 0 && int(i) < n }

// reference returns i if it is "none" or inside a table of n entries. All bounds checks of this
// package use it.
func reference[I ~int32](i I, n int, ok *bool) I {
	if i != 0 && !valid(i, n) {
		*ok = false
		return 0
	}
	return i
}

// String returns an entry of the string table, or "" for index 0.
func (v View) String(i StringIndex) (string, bool) {
	ok := true
	if i = reference(i, v.strings.Len(), &ok); i == 0 {
		return "", ok
	}
	return v.strings.At(int(i)), true
}

// Text returns the string for an index that is already checked, such as an index in a [Function] of
// this View.
func (v View) Text(i StringIndex) string {
	s, _ := v.String(i)
	return s
}

// Attribute returns an entry of the attribute table. If the index or the key is broken, it is
// empty; a broken unit reads as none.
func (v View) Attribute(i AttributeIndex) (Attribute, bool) {
	if i == 0 || !valid(i, v.attributes.Len()) {
		return Attribute{Value: pcommon.NewValueEmpty()}, i == 0
	}
	e := v.attributes.At(int(i))
	key, ok := v.String(StringIndex(e.KeyStrindex()))
	if !ok {
		return Attribute{Value: pcommon.NewValueEmpty()}, false
	}
	unit, ok := v.String(StringIndex(e.UnitStrindex()))
	return Attribute{Key: key, Value: e.Value(), Unit: unit}, ok
}

// Attributes appends the attributes of a record to list. It omits broken attributes and index 0.
func (v View) Attributes(indices pcommon.Int32Slice, list []Attribute) ([]Attribute, bool) {
	ok := true
	for j := range indices.Len() {
		i := AttributeIndex(indices.At(j))
		a, one := v.Attribute(i)
		ok = ok && one
		if i != 0 && (one || a.Key != "") {
			list = append(list, a)
		}
	}
	return list, ok
}

// Get returns the value of one attribute of a record by its key, or false if the record has none.
func (v View) Get(indices pcommon.Int32Slice, key string) (pcommon.Value, bool) {
	for j := range indices.Len() {
		i := indices.At(j)
		if i == 0 || !valid(i, v.attributes.Len()) {
			continue
		}
		e := v.attributes.At(int(i))
		if k, ok := v.String(StringIndex(e.KeyStrindex())); ok && k == key {
			return e.Value(), true
		}
	}
	return pcommon.Value{}, false
}

// ValueType returns the two strings of a sample type or period type.
func (v View) ValueType(t pprofile.ValueType) (typ, unit string, ok bool) {
	typ, ok1 := v.String(StringIndex(t.TypeStrindex()))
	unit, ok2 := v.String(StringIndex(t.UnitStrindex()))
	return typ, unit, ok1 && ok2
}

// Function returns an entry of the function table; its string indices are checked.
func (v View) Function(i FunctionIndex) (Function, bool) {
	ok := true
	if i = reference(i, v.functions.Len(), &ok); i == 0 {
		return Function{}, ok
	}
	e, n := v.functions.At(int(i)), v.strings.Len()
	return Function{
		Name:       reference(StringIndex(e.NameStrindex()), n, &ok),
		SystemName: reference(StringIndex(e.SystemNameStrindex()), n, &ok),
		Filename:   reference(StringIndex(e.FilenameStrindex()), n, &ok),
		StartLine:  e.StartLine(),
	}, ok
}

// Mapping reads an entry of the mapping table into m, reusing its slice.
func (v View) Mapping(i MappingIndex, m *Mapping) bool {
	*m = Mapping{Attributes: m.Attributes[:0]}
	ok := true
	if i = reference(i, v.mappings.Len(), &ok); i == 0 {
		return ok
	}
	e := v.mappings.At(int(i))
	m.Start, m.Limit, m.FileOffset = e.MemoryStart(), e.MemoryLimit(), e.FileOffset()
	m.Filename = reference(StringIndex(e.FilenameStrindex()), v.strings.Len(), &ok)
	m.Attributes = appendReferences(m.Attributes, e.AttributeIndices(), v.attributes.Len(), &ok)
	return ok
}

// Location reads an entry of the location table into l, reusing its slices. Function indices are
// checked; read them with [View.Function].
func (v View) Location(i LocationIndex, l *Location) bool {
	*l = Location{Lines: l.Lines[:0], Attributes: l.Attributes[:0]}
	ok := true
	if i = reference(i, v.locations.Len(), &ok); i == 0 {
		return ok
	}
	e := v.locations.At(int(i))
	l.Mapping = reference(MappingIndex(e.MappingIndex()), v.mappings.Len(), &ok)
	l.Address = e.Address()
	l.Attributes = appendReferences(l.Attributes, e.AttributeIndices(), v.attributes.Len(), &ok)
	lines := e.Lines()
	for j := range lines.Len() {
		line := lines.At(j)
		l.Lines = append(l.Lines, Line{
			Function: reference(FunctionIndex(line.FunctionIndex()), v.functions.Len(), &ok),
			Line:     line.Line(),
			Column:   line.Column(),
		})
	}
	return ok
}

// Stack appends the locations of a stack to list, leaf first. A broken location becomes 0, so that
// the depth stays the same.
func (v View) Stack(i StackIndex, list []LocationIndex) ([]LocationIndex, bool) {
	ok := true
	if i = reference(i, v.stacks.Len(), &ok); i == 0 {
		return list, ok
	}
	return appendReferences(list, v.stacks.At(int(i)).LocationIndices(), v.locations.Len(), &ok), ok
}

// Link returns the span of a sample, or two zero IDs if there is none. An entry that lacks one of
// its IDs is broken.
func (v View) Link(i LinkIndex) (pcommon.TraceID, pcommon.SpanID, bool) {
	ok := true
	if i = reference(i, v.links.Len(), &ok); i == 0 {
		return pcommon.TraceID{}, pcommon.SpanID{}, ok
	}
	e := v.links.At(int(i))
	if e.TraceID().IsEmpty() || e.SpanID().IsEmpty() {
		return pcommon.TraceID{}, pcommon.SpanID{}, false
	}
	return e.TraceID(), e.SpanID(), true
}

func appendReferences[I ~int32](list []I, indices pcommon.Int32Slice, n int, ok *bool) []I {
	for j := range indices.Len() {
		list = append(list, reference(I(indices.At(j)), n, ok))
	}
	return list
}
