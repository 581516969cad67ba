// SPDX-License-Identifier: Apache-2.0

package sourcemap

import (
	"cmp"
	"errors"
	"math/bits"
	"slices"
	"sort"
	"strings"
	"unsafe"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// File is a generated JavaScript file: its map, and the functions of its text if that is known.
type File struct {
	m      *Map
	scopes []scope // in order of start
	sparse sparse  // of scopes
	names  texts
	// byColumn orders scopes by the column of their parameters: see [File.DefinitionInColumn].
	byColumn []inColumn
}

// scope is a function with its original names.
type scope struct {
	start, end   place
	params       place
	parent       int32 // -1: none
	jump         int32 // a parent of a parent, for scopeAt; -1: none
	name, method int32 // see File.text; method starts with the class
	raw          int32 // the name in the generated file
}

const scopeBytes, inColumnBytes = int64(unsafe.Sizeof(scope{})), int64(unsafe.Sizeof(inColumn{}))

// NewFile joins a map and the text of its generated file, which may be empty. Without the text, or
// if its brackets do not match, only functions with a name of their own in the map get names. The
// error is that of the work.
func NewFile(work *symbols.Work, m *Map, script string) (*File, error) {
	f := &File{m: m}
	b := fileBuilder{File: f, work: work}
	_, b.oneLine = m.tokens.onlyLine()
	if err := f.names.add(work, ""); err != nil {
		return nil, err
	}
	if err := findFunctions(work, script, &b); err != nil {
		if b.err != nil || !isSyntax(err) {
			return nil, err
		}
		return &File{m: m}, nil
	}
	return f, b.finish()
}

// fileBuilder adds functions to a file.
type fileBuilder struct {
	*File
	work *symbols.Work
	err  error // of the work
	// oneLine: places in columns are places in the line, so that byColumn is not needed.
	oneLine bool
}

// begin implements functions.
func (b *fileBuilder) begin(fn function) (int, error) {
	b.claim(scopeBytes)
	s := scope{start: fn.start, params: fn.params, parent: -1, jump: -1, name: b.original(fn.name)}
	if !b.oneLine {
		b.claim(inColumnBytes)
		s.raw = b.name(generated(fn.name))
	}
	plain := b.text(s.name)
	s.method = s.name
	if fn.class != 0 && s.name != 0 {
		if plain == "constructor" {
			s.name, s.method = fn.class, b.name("new "+b.text(fn.class))
		} else {
			s.method = b.name(fn.accessor + b.text(fn.class) + "." + plain)
		}
	}
	if fn.accessor != "" && plain != "" {
		s.name = b.name(fn.accessor + plain)
		if !b.oneLine {
			s.raw = b.name(fn.accessor + b.text(s.raw))
		}
		if fn.class == 0 {
			s.method = s.name
		}
	}
	if b.err != nil {
		return 0, b.err
	}
	b.scopes = append(b.scopes, s)
	return len(b.scopes) - 1, nil
}

// end implements functions.
func (b *fileBuilder) end(number int, at place) { b.scopes[number].end = at }

// class implements functions.
func (b *fileBuilder) class(name []part) (int32, error) { return b.original(name), b.err }

func (b *fileBuilder) claim(bytes int64) {
	if b.err == nil {
		b.err = b.work.Claim(bytes)
	}
}

// name stores a name; 0 is the empty one.
func (b *fileBuilder) name(s string) int32 {
	if s = clip(s); s == "" || b.err != nil {
		return 0
	}
	b.err = b.names.add(b.work, s)
	return int32(b.names.len() - 1)
}

// original stores the original form of a name: the map has identifiers that the minifier changed.
func (b *fileBuilder) original(name []part) int32 {
	var words []string
	for _, p := range name {
		if err := b.work.Step(lookupSteps); b.err == nil {
			b.err = err
		}
		i := b.m.nameIndexAt(p.at.line, p.at.column)
		if i < 0 && p.spaced { // UglifyJS 2 maps the space in front of an identifier, too
			i = b.m.nameIndexAt(p.at.line, p.at.column-1)
		}
		switch {
		case i >= 0 && len(name) == 1 && len(b.m.names.at(int(i))) <= maxName:
			return -1 - i
		case i >= 0:
			words = append(words, b.m.names.at(int(i)))
		default:
			words = append(words, p.text)
		}
	}
	return b.name(strings.Join(words, "."))
}

// lookupSteps is the work of a lookup in the map: a binary search, and two blocks.
const lookupSteps = 64

// finish orders the functions, and links them with those around them.
func (b *fileBuilder) finish() error {
	f := b.File
	// Calls that looked like methods have no end.
	f.scopes = slices.DeleteFunc(f.scopes, func(s scope) bool { return s.end == place{} })
	if err := b.work.Step(len(f.scopes) * bits.Len(uint(len(f.scopes)))); err != nil {
		return err
	}
	slices.SortFunc(f.scopes, func(a, b scope) int { return a.start.compare(b.start) })
	f.sparse = newSparse(len(f.scopes), f.startOf)
	var open []int32 // the functions around the current one
	for i := range f.scopes {
		s := &f.scopes[i]
		for len(open) > 0 && f.scopes[open[len(open)-1]].end.compare(s.start) <= 0 {
			open = open[:len(open)-1]
		}
		if depth := len(open); depth > 0 {
			s.parent = open[depth-1]
			if around := f.scopes[s.parent].end; around.compare(s.end) < 0 { // no JavaScript
				s.end = around
			}
			s.jump = open[jumpFrom(depth)]
		}
		open = append(open, int32(i))
	}
	if !b.oneLine {
		f.orderByColumn()
	}
	return nil
}

// jumpFrom returns the depth to which a function at a depth jumps: without the lowest set bit.
func jumpFrom(depth int) int { return depth & (depth - 1) }

// isSyntax reports whether an error is about the script, rather than about the work.
func isSyntax(err error) bool {
	return errors.Is(err, errBrackets) || errors.Is(err, errUnclosed) || errors.Is(err, errTooLarge)
}

// maxName bounds names: the name of a class is repeated for each method.
const maxName = 256

func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxName)], "") }

func generated(name []part) string {
	var words []string
	for _, p := range name {
		words = append(words, p.text)
	}
	return strings.Join(words, ".")
}

// Bytes returns the approximate memory of the file.
func (f *File) Bytes() int64 {
	return f.m.Bytes() + f.names.bytes() + int64(cap(f.scopes))*int64(unsafe.Sizeof(scope{})) + int64(cap(f.byColumn))*int64(unsafe.Sizeof(inColumn{}))
}

// text returns a name: that of the map at -1 - name, or one of the file.
func (f *File) text(name int32) string {
	if name < 0 {
		return f.m.names.at(int(-1 - name))
	}
	return f.names.at(int(name))
}

// DebugID returns the debug ID in the map.
func (f *File) DebugID() string { return f.m.DebugID }

// Call returns the function that is running at a place: a line and a column from 1, as in stack
// traces. A column of 0 is unknown.
func (f *File) Call(dst []symbols.Frame, raw string, line, column int64) ([]symbols.Frame, symbols.Status) {
	return f.at(dst, raw, line, column, func(s scope) int32 { return s.method })
}

// Definition returns the function that is defined at a place, as in profiles of browsers: V8
// reports the parenthesis of the parameters. Its name is that of the function without its class, as
// V8 writes it for code that is not minified.
func (f *File) Definition(dst []symbols.Frame, raw string, line, column int64) ([]symbols.Frame, symbols.Status) {
	return f.at(dst, raw, line, column, func(s scope) int32 { return s.name })
}

func (f *File) at(dst []symbols.Frame, raw string, line, column int64, nameOf func(scope) int32) ([]symbols.Frame, symbols.Status) {
	if line < 1 || column < 1 || line > maxFile || column > maxFile {
		return dst, symbols.NoSymbol
	}
	at := place{uint32(line - 1), uint32(column - 1)}
	position, ok := f.m.Lookup(at.line, at.column)
	if !ok {
		return dst, symbols.NoSymbol
	}
	frame := symbols.Frame{File: position.Source, Line: int64(position.Line) + 1, Column: int64(position.Column) + 1, Library: position.Ignored}
	if name, stated := f.m.functionAt(at.line, at.column); stated {
		frame.Function = name
	} else if i := f.scopeAt(at); i >= 0 {
		frame.Function = f.text(nameOf(f.scopes[i]))
	} else if f.scopes == nil {
		frame.Function = f.m.definedAt(raw, at)
	}
	return append(dst, frame), symbols.OK
}

func (f *File) startOf(i int) place { return f.scopes[i].start }

// scopeAt returns the innermost function around a place, or -1.
func (f *File) scopeAt(at place) int32 {
	after := place{at.line, at.column + 1} // maxFile bounds columns
	last := f.sparse.search(len(f.scopes), after, f.startOf) - 1
	i, _ := f.around(int32(last), at)
	return i
}

// around returns the innermost function around a place among a function that starts before it and
// its parents, and the number of functions that it visited. Functions that end before the place are
// inside of those that do not, so that jumps over several of them find the first that does not:
// x=>x=>x=> can be nested a million times.
func (f *File) around(i int32, at place) (scope int32, visited int) {
	for ; i >= 0 && f.scopes[i].end.compare(at) <= 0; visited++ {
		if jump := f.scopes[i].jump; jump >= 0 && f.scopes[jump].end.compare(at) <= 0 {
			i = jump
		} else {
			i = f.scopes[i].parent
		}
	}
	return i, visited
}

// forms are the texts between the name of a function and its parameters.
var forms = []string{"", "=", ":", "=async", ":async", "=function", ":function", "=async function", ":async function"}

// definedAt returns the original name of a function whose parameters start at a place, if the map
// has one exactly where its generated name must be.
func (m *Map) definedAt(raw string, at place) string {
	if raw == "" {
		return ""
	}
	for _, form := range forms {
		if before := uint32(len(raw) + len(form)); before <= at.column {
			if name := m.nameAt(at.line, at.column-before); name != "" {
				return name
			}
		}
	}
	return ""
}

// inColumn is a function in the order of its column and of the last part of its generated name.
type inColumn struct {
	scope int32
	// next is the position of the next function with another column or original name.
	next int32
}

// DefinitionInColumn returns the function with a generated name that is defined in a column,
// whatever the line: profiles of node have the column of the definition, but the line of the call.
// If several functions fit, it returns only a name, and only if they share it. A function without a
// name fits all.
func (f *File) DefinitionInColumn(dst []symbols.Frame, raw string, column int64) ([]symbols.Frame, symbols.Status) {
	if line, ok := f.m.tokens.onlyLine(); ok {
		return f.Definition(dst, raw, int64(line)+1, column)
	}
	last := lastPart(raw)
	compare := func(x inColumn) int {
		s := &f.scopes[x.scope]
		if c := cmp.Compare(int64(s.params.column), column-1); c != 0 || raw == "" {
			return c
		}
		return strings.Compare(lastPart(f.text(s.raw)), last)
	}
	first := sort.Search(len(f.byColumn), func(i int) bool { return compare(f.byColumn[i]) >= 0 })
	end := first + sort.Search(len(f.byColumn)-first, func(i int) bool { return compare(f.byColumn[first+i]) > 0 })
	if first == end {
		return dst, symbols.NoSymbol
	}
	found := &f.scopes[f.byColumn[first].scope]
	switch {
	case end-first == 1:
		return f.Definition(dst, raw, int64(found.params.line)+1, column)
	case int(f.byColumn[first].next) < end:
		return dst, symbols.Ambiguous
	}
	return append(dst, symbols.Frame{Function: f.text(found.name)}), symbols.Ambiguous
}

// lastPart returns the part of a name after its last dot, or more than maxName bytes of it: it
// equals no name then.
func lastPart(name string) string {
	name = name[max(0, len(name)-maxName-1):]
	return name[strings.LastIndexByte(name, '.')+1:]
}

func (f *File) orderByColumn() {
	f.byColumn = make([]inColumn, len(f.scopes))
	for i := range f.byColumn {
		f.byColumn[i].scope = int32(i)
	}
	slices.SortFunc(f.byColumn, func(a, b inColumn) int {
		s, t := &f.scopes[a.scope], &f.scopes[b.scope]
		return cmp.Or(cmp.Compare(s.params.column, t.params.column), strings.Compare(lastPart(f.text(s.raw)), lastPart(f.text(t.raw))),
			cmp.Compare(a.scope, b.scope))
	})
	next := int32(len(f.byColumn))
	for i := len(f.byColumn) - 1; i >= 0; i-- {
		f.byColumn[i].next = next
		if i > 0 {
			s, before := &f.scopes[f.byColumn[i].scope], &f.scopes[f.byColumn[i-1].scope]
			if s.params.column != before.params.column || f.text(s.name) != f.text(before.name) {
				next = int32(i)
			}
		}
	}
}
