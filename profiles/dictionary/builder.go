// SPDX-License-Identifier: Apache-2.0

package dictionary

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// Builder fills the dictionary of one pprofile.Profiles. Every method returns the position of the
// entry that equals its argument, and appends the entry if it is new, so that tables contain no
// duplicates and no unrequested entries.
//
//	p := pprofile.NewProfiles()
//	b := dictionary.NewBuilder(p.Dictionary())
//	fn := b.Function(dictionary.Function{Name: b.String("main")})
//	…
//	b.Finish()
//	b.Release()
//
// A Builder copies its arguments, so strings and slices may refer to buffers that are reused later.
// A Builder is not safe for concurrent use.
type Builder struct {
	d         pprofile.ProfilesDictionary
	mappingsT pprofile.MappingSlice
	locationT pprofile.LocationSlice
	functionT pprofile.FunctionSlice
	linkT     pprofile.LinkSlice
	attrT     pprofile.KeyValueAndUnitSlice
	stackT    pprofile.StackSlice

	// The entries in comparable form. Stacks have no such copy: they are the bulk of a large
	// profile and are compared in place.
	strings    []string
	attributes []attribute
	functions  []Function
	mappings   []mapping
	locations  []location
	links      []link

	// The variable-length parts of mappings and locations.
	lines []Line
	sets  []AttributeIndex

	stringIx, attributeIx, functionIx, mappingIx, locationIx, linkIx, stackIx hashIndex

	arena arena

	shared    map[sharedText]int32 // strings and attributes by the memory of their text, see SharedString
	textBytes int64                // that were hashed

	setBuf   []AttributeIndex // sorted copy of the set that is being looked up
	valueBuf []byte           // encoding of the value that is being looked up
}

// Function is an entry of the function table. At least one of the three strings must be set; a
// Function without strings is entry 0. StartLine is 1-based, 0 when unknown.
type Function struct {
	Name       StringIndex
	SystemName StringIndex
	Filename   StringIndex
	StartLine  int64
}

// Mapping is an entry of the mapping table: a binary in memory, from Start up to but not including
// Limit. Attributes are a set and include the build ID.
type Mapping struct {
	Start, Limit, FileOffset uint64
	Filename                 StringIndex
	Attributes               []AttributeIndex
}

// Location is an entry of the location table: one frame. Lines has one line, or several when calls
// were inlined (callee first), or none when only the address is known. Attributes are a set.
type Location struct {
	Mapping    MappingIndex
	Address    uint64
	Lines      []Line
	Attributes []AttributeIndex
}

// Line is a source position. Line and Column are 1-based, 0 when unknown.
type Line struct {
	Function     FunctionIndex
	Line, Column int64
}

// sliceRange is a range of one of the Builder's flat slices.
type sliceRange struct{ from, to int32 }

type mapping struct {
	start, limit, fileOffset uint64
	filename                 StringIndex
	attributes               sliceRange // of Builder.sets, sorted
}

type location struct {
	address    uint64
	mapping    MappingIndex
	lines      sliceRange // of Builder.lines
	attributes sliceRange // of Builder.sets, sorted
}

type link struct {
	trace pcommon.TraceID
	span  pcommon.SpanID
}

// Hints are the expected numbers of distinct entries. They only avoid reallocation: a wrong hint is
// not an error. A number that is too high costs 8 bytes per missing entry in the message, and 16 in
// the Builder.
type Hints struct {
	Strings, Attributes, Functions, Mappings, Locations, Links, Stacks int
}

// maxKeptEntries bounds the copies of entries that a released Builder keeps. It corresponds to
// maxKeptSlots, which can hold as many entries.
const maxKeptEntries = maxKeptSlots / 2

var pool = sync.Pool{New: func() any { return new(Builder) }}

// NewBuilder returns a Builder for an empty dictionary and writes entry 0 of all seven tables.
// [Builder.Finish] writes the strings.
//
// The scratch memory comes from a pool; [Builder.Release] returns it.
func NewBuilder(d pprofile.ProfilesDictionary) *Builder {
	b := pool.Get().(*Builder)
	b.Reset(d)
	return b
}

// Reset starts over with another empty dictionary. The previous dictionary stays valid.
//
// It panics if d already has entries, because positions would be wrong.
func (b *Builder) Reset(d pprofile.ProfilesDictionary) {
	b.clear()
	b.d = d
	b.mappingsT, b.locationT, b.functionT = d.MappingTable(), d.LocationTable(), d.FunctionTable()
	b.linkT, b.attrT, b.stackT = d.LinkTable(), d.AttributeTable(), d.StackTable()
	if b.mappingsT.Len()+b.locationT.Len()+b.functionT.Len()+b.linkT.Len()+
		b.attrT.Len()+b.stackT.Len()+d.StringTable().Len() != 0 {
		panic("dictionary: a Builder needs an empty dictionary")
	}

	b.mappingsT.AppendEmpty()
	b.locationT.AppendEmpty()
	b.functionT.AppendEmpty()
	b.linkT.AppendEmpty()
	b.attrT.AppendEmpty()
	b.stackT.AppendEmpty()
	b.strings = append(b.strings, "")
	b.attributes = append(b.attributes, attribute{})
	b.functions = append(b.functions, Function{})
	b.mappings = append(b.mappings, mapping{})
	b.locations = append(b.locations, location{})
	b.links = append(b.links, link{})
	for _, x := range b.indexes() {
		x.reset(0)
	}
}

// Grow prepares for the given total numbers of entries.
func (b *Builder) Grow(h Hints) {
	b.strings = slices.Grow(b.strings, h.Strings)
	b.attributes = slices.Grow(b.attributes, h.Attributes)
	b.functions = slices.Grow(b.functions, h.Functions)
	b.mappings = slices.Grow(b.mappings, h.Mappings)
	b.locations = slices.Grow(b.locations, h.Locations)
	b.lines = slices.Grow(b.lines, h.Locations)
	b.links = slices.Grow(b.links, h.Links)

	b.stringIx.reserve(h.Strings)
	b.attributeIx.reserve(h.Attributes)
	b.functionIx.reserve(h.Functions)
	b.mappingIx.reserve(h.Mappings)
	b.locationIx.reserve(h.Locations)
	b.linkIx.reserve(h.Links)
	b.stackIx.reserve(h.Stacks)

	b.attrT.EnsureCapacity(1 + h.Attributes)
	b.functionT.EnsureCapacity(1 + h.Functions)
	b.mappingsT.EnsureCapacity(1 + h.Mappings)
	b.locationT.EnsureCapacity(1 + h.Locations)
	b.linkT.EnsureCapacity(1 + h.Links)
	b.stackT.EnsureCapacity(1 + h.Stacks)
}

// Finish writes the string table. Call it after all calls that may add a string. A second call
// overwrites the table.
func (b *Builder) Finish() { b.d.StringTable().FromRaw(b.strings) }

// Copy returns a copy of s in the memory of the other strings.
func (b *Builder) Copy(s string) string { return b.arena.clone(s) }

// Release returns the scratch memory to the pool. The Builder must not be used afterwards; the
// dictionary it filled is unaffected.
func (b *Builder) Release() {
	b.clear()
	for _, x := range b.indexes() {
		x.trim()
	}
	trim(&b.strings)
	trim(&b.attributes)
	trim(&b.functions)
	trim(&b.mappings)
	trim(&b.locations)
	trim(&b.links)
	trim(&b.lines)
	trim(&b.sets)
	trim(&b.setBuf)
	trim(&b.valueBuf)
	pool.Put(b)
}

// clear drops the dictionary and all references to it, because text that was passed downstream must
// not be kept in memory or overwritten.
func (b *Builder) clear() {
	clear(b.strings)
	clear(b.attributes)
	*b = Builder{
		strings: b.strings[:0], attributes: b.attributes[:0], functions: b.functions[:0],
		mappings: b.mappings[:0], locations: b.locations[:0], links: b.links[:0],
		lines: b.lines[:0], sets: b.sets[:0], setBuf: b.setBuf, valueBuf: b.valueBuf,
		stringIx: b.stringIx, attributeIx: b.attributeIx, functionIx: b.functionIx,
		mappingIx: b.mappingIx, locationIx: b.locationIx, linkIx: b.linkIx, stackIx: b.stackIx,
	}
}

func (b *Builder) indexes() [7]*hashIndex {
	return [...]*hashIndex{&b.stringIx, &b.attributeIx, &b.functionIx, &b.mappingIx,
		&b.locationIx, &b.linkIx, &b.stackIx}
}

func trim[T any](s *[]T) {
	if cap(*s) > maxKeptEntries {
		*s = nil
	}
}

// String returns the position of s, which it copies if it is new. Invalid UTF-8 becomes U+FFFD,
// because protobuf decoders would otherwise reject the whole message.
func (b *Builder) String(s string) StringIndex {
	if s == "" {
		return 0
	}
	b.textBytes += int64(len(s))
	h := short(hashString(s))
	pos := b.stringIx.find(h, func(pos int32) bool { return b.strings[pos] == s })
	if pos != 0 {
		return StringIndex(pos)
	}
	if !utf8.ValidString(s) {
		return b.String(strings.ToValidUTF8(s, "\uFFFD"))
	}
	n := len(b.strings)
	b.strings = append(b.strings, b.arena.clone(s))
	b.stringIx.add(h, n)
	return StringIndex(n)
}

// Function returns the position of f.
func (b *Builder) Function(f Function) FunctionIndex {
	if f == (Function{}) {
		return 0
	}
	h := short(f.hash())
	pos := b.functionIx.find(h, func(pos int32) bool { return b.functions[pos] == f })
	if pos != 0 {
		return FunctionIndex(pos)
	}
	n := len(b.functions)
	b.functions = append(b.functions, f)
	b.functionIx.add(h, n)

	e := b.functionT.AppendEmpty()
	e.SetNameStrindex(int32(f.Name))
	e.SetSystemNameStrindex(int32(f.SystemName))
	e.SetFilenameStrindex(int32(f.Filename))
	e.SetStartLine(f.StartLine)
	return FunctionIndex(n)
}

func (f Function) hash() uint64 {
	return mix2(mix2(mix(wordSeed, uint64(f.StartLine)), f.Name, f.SystemName), f.Filename, StringIndex(0))
}

// Mapping returns the position of m.
func (b *Builder) Mapping(m Mapping) MappingIndex {
	set := b.set(m.Attributes)
	if m.Start|m.Limit|m.FileOffset == 0 && m.Filename == 0 && len(set) == 0 {
		return 0
	}
	hash := mix(mix(mix(wordSeed, m.Start), m.Limit), m.FileOffset)
	hash = mix2(hash, m.Filename, int32(len(set)))
	h := short(hashSet(hash, set))
	pos := b.mappingIx.find(h, func(pos int32) bool {
		k := &b.mappings[pos]
		return k.start == m.Start && k.limit == m.Limit && k.fileOffset == m.FileOffset &&
			k.filename == m.Filename && slices.Equal(b.sets[k.attributes.from:k.attributes.to], set)
	})
	if pos != 0 {
		return MappingIndex(pos)
	}
	n := len(b.mappings)
	b.mappings = append(b.mappings, mapping{
		start: m.Start, limit: m.Limit, fileOffset: m.FileOffset,
		filename: m.Filename, attributes: appendRange(&b.sets, set),
	})
	b.mappingIx.add(h, n)

	e := b.mappingsT.AppendEmpty()
	e.SetMemoryStart(m.Start)
	e.SetMemoryLimit(m.Limit)
	e.SetFileOffset(m.FileOffset)
	e.SetFilenameStrindex(int32(m.Filename))
	SetAttributes(e.AttributeIndices(), set...)
	return MappingIndex(n)
}

// Location returns the position of l.
func (b *Builder) Location(l Location) LocationIndex {
	set := b.set(l.Attributes)
	if l.Mapping == 0 && l.Address == 0 && len(l.Lines) == 0 && len(set) == 0 {
		return 0
	}
	hash := mix2(mix(wordSeed, l.Address), l.Mapping, int32(len(l.Lines)))
	for i := range l.Lines {
		line := &l.Lines[i]
		hash = mix(mix(hash, uint64(line.Line)), uint64(uint32(line.Function))|uint64(line.Column)<<32)
	}
	h := short(hashSet(hash, set))
	pos := b.locationIx.find(h, func(pos int32) bool {
		k := &b.locations[pos]
		return k.address == l.Address && k.mapping == l.Mapping &&
			slices.Equal(b.lines[k.lines.from:k.lines.to], l.Lines) &&
			slices.Equal(b.sets[k.attributes.from:k.attributes.to], set)
	})
	if pos != 0 {
		return LocationIndex(pos)
	}
	n := len(b.locations)
	b.locations = append(b.locations, location{
		address: l.Address, mapping: l.Mapping,
		lines: appendRange(&b.lines, l.Lines), attributes: appendRange(&b.sets, set),
	})
	b.locationIx.add(h, n)

	e := b.locationT.AppendEmpty()
	e.SetMappingIndex(int32(l.Mapping))
	e.SetAddress(l.Address)
	SetAttributes(e.AttributeIndices(), set...)
	lines := e.Lines()
	lines.EnsureCapacity(len(l.Lines))
	for i := range l.Lines {
		line := lines.AppendEmpty()
		line.SetFunctionIndex(int32(l.Lines[i].Function))
		line.SetLine(l.Lines[i].Line)
		line.SetColumn(l.Lines[i].Column)
	}
	return LocationIndex(n)
}

// Link returns the position of a link to a span. It returns 0 if one of the IDs is missing.
func (b *Builder) Link(traceID pcommon.TraceID, spanID pcommon.SpanID) LinkIndex {
	if traceID.IsEmpty() || spanID.IsEmpty() {
		return 0
	}
	k := link{trace: traceID, span: spanID}
	h := short(hashLink(k))
	pos := b.linkIx.find(h, func(pos int32) bool { return b.links[pos] == k })
	if pos != 0 {
		return LinkIndex(pos)
	}
	n := len(b.links)
	b.links = append(b.links, k)
	b.linkIx.add(h, n)

	e := b.linkT.AppendEmpty()
	e.SetTraceID(traceID)
	e.SetSpanID(spanID)
	return LinkIndex(n)
}

// Stack returns the position of a stack, leaf first. Without locations, it returns stack 0, which
// means idle.
func (b *Builder) Stack(locations []LocationIndex) StackIndex {
	if len(locations) == 0 {
		return 0
	}
	h := short(hashIndices(locations))
	pos := b.stackIx.find(h, func(pos int32) bool {
		return equalIndices(b.stackT.At(int(pos)).LocationIndices(), locations)
	})
	if pos != 0 {
		return StackIndex(pos)
	}
	n := b.stackT.Len()
	b.stackIx.add(h, n)
	b.stackT.AppendEmpty().LocationIndices().FromRaw(rawIndices(locations))
	return StackIndex(n)
}

// equalIndices compares indices without AsRaw, which would copy them.
func equalIndices(stored pcommon.Int32Slice, wanted []LocationIndex) bool {
	if stored.Len() != len(wanted) {
		return false
	}
	for i, w := range wanted {
		if stored.At(i) != int32(w) {
			return false
		}
	}
	return true
}

// set returns attributes as a normalized set: sorted, without duplicates, without entry 0 ("no
// attribute"). The result is valid until the next call.
func (b *Builder) set(attributes []AttributeIndex) []AttributeIndex {
	last := AttributeIndex(0)
	for _, a := range attributes {
		if a <= last {
			return b.sortSet(attributes)
		}
		last = a
	}
	return attributes
}

func (b *Builder) sortSet(attributes []AttributeIndex) []AttributeIndex {
	b.setBuf = append(b.setBuf[:0], attributes...)
	slices.Sort(b.setBuf)
	b.setBuf = slices.Compact(b.setBuf)
	if len(b.setBuf) > 0 && b.setBuf[0] == 0 {
		return b.setBuf[1:]
	}
	return b.setBuf
}

func hashSet(hash uint64, set []AttributeIndex) uint64 {
	for _, a := range set {
		hash = mix(hash, uint64(a))
	}
	return hash
}

func appendRange[T any](flat *[]T, part []T) sliceRange {
	from := len(*flat)
	*flat = append(*flat, part...)
	return sliceRange{from: int32(from), to: int32(len(*flat))}
}
