// SPDX-License-Identifier: Apache-2.0

package sourcemap

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// File is a generated JavaScript file: its map, and the functions of its text if that is known.
type File struct {
	m      *Map
	scopes []scope // in order of start
	names  texts
	// byColumn orders scopes by the column of their parameters: see [File.DefinitionInColumn].
	byColumn []int32
}

// scope is a function with its original names.
type scope struct {
	start, end   place
	params       place
	parent       int32 // -1: none
	name, method int32 // in names; method starts with the class
	raw          int32 // the name in the generated file
}

// NewFile joins a map and the text of its generated file, which may be empty. Without the text, or
// if its brackets do not match, only functions with a name of their own in the map get names.
func NewFile(m *Map, script string) *File {
	f := &File{m: m}
	f.names.add("")
	functions, err := functionsOf(script)
	if err != nil {
		return f
	}
	f.scopes, f.names.ends = slices.Grow(f.scopes, len(functions)), slices.Grow(f.names.ends, 2*len(functions))
	classes := map[place]int32{}
	var open []int32
	for i, fn := range functions {
		for len(open) > 0 && f.scopes[open[len(open)-1]].end.compare(fn.start) <= 0 {
			open = open[:len(open)-1]
		}
		s := scope{start: fn.start, end: fn.end, params: fn.params, parent: -1, name: f.name(m.original(fn.name)), raw: f.name(generated(fn.name))}
		plain := f.names.at(int(s.name))
		s.method = s.name
		if fn.class != nil && s.name != 0 {
			class, known := classes[fn.class[0].at]
			if !known {
				class = f.name(m.original(fn.class))
				classes[fn.class[0].at] = class
			}
			if plain == "constructor" {
				s.name, s.method = class, f.name("new "+f.names.at(int(class)))
			} else {
				s.method = f.name(fn.accessor + f.names.at(int(class)) + "." + plain)
			}
		}
		if fn.accessor != "" && plain != "" {
			s.name, s.raw = f.name(fn.accessor+plain), f.name(fn.accessor+f.names.at(int(s.raw)))
			if fn.class == nil {
				s.method = s.name
			}
		}
		if len(open) > 0 {
			s.parent = open[len(open)-1]
		}
		f.scopes = append(f.scopes, s)
		open = append(open, int32(i))
	}
	f.orderByColumn()
	return f
}

// name stores a name; 0 is the empty one.
func (f *File) name(s string) int32 {
	if s = clip(s); s == "" {
		return 0
	}
	f.names.add(s)
	return int32(f.names.len() - 1)
}

// maxName bounds names: the name of a class is repeated for each method.
const maxName = 256

func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxName)], "") }

// original returns the original form of a name: the map has identifiers that the minifier changed.
func (m *Map) original(name []part) string {
	var words []string
	for _, p := range name {
		words = append(words, or(m.nameAt(p.at.line, p.at.column), p.text))
	}
	return strings.Join(words, ".")
}

func generated(name []part) string {
	var words []string
	for _, p := range name {
		words = append(words, p.text)
	}
	return strings.Join(words, ".")
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// Bytes returns the approximate memory of the file.
func (f *File) Bytes() int64 {
	return f.m.Bytes() + f.names.bytes() + int64(cap(f.scopes))*40 + int64(cap(f.byColumn))*4
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
	if i := f.scopeAt(at); i >= 0 {
		frame.Function = f.names.at(int(nameOf(f.scopes[i])))
	} else if f.scopes == nil {
		frame.Function = f.m.definedAt(raw, at)
	}
	return append(dst, frame), symbols.OK
}

// scopeAt returns the innermost function around a place, or -1.
func (f *File) scopeAt(at place) int32 {
	i := int32(sort.Search(len(f.scopes), func(i int) bool { return f.scopes[i].start.compare(at) > 0 })) - 1
	for i >= 0 && f.scopes[i].end.compare(at) <= 0 {
		i = f.scopes[i].parent
	}
	return i
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

// DefinitionInColumn returns the function with a generated name that is defined in a column,
// whatever the line: profiles of node have the column of the definition, but the line of the call.
// If several functions fit, it returns only a name, and only if they share it.
func (f *File) DefinitionInColumn(dst []symbols.Frame, raw string, column int64) ([]symbols.Frame, symbols.Status) {
	if lines, ok := f.m.tokens.lines(1); ok && len(lines) == 1 {
		return f.Definition(dst, raw, int64(lines[0])+1, column)
	}
	candidates := f.inColumn(column - 1)
	var found []scope
	for _, i := range candidates {
		if s := f.scopes[i]; raw == "" || f.names.at(int(s.raw)) == raw || lastPart(raw) == lastPart(f.names.at(int(s.raw))) {
			found = append(found, s)
		}
	}
	switch {
	case len(found) == 0:
		return dst, symbols.NoSymbol
	case len(found) == 1:
		return f.Definition(dst, raw, int64(found[0].params.line)+1, column)
	}
	name := f.names.at(int(found[0].name))
	for _, s := range found {
		if f.names.at(int(s.name)) != name {
			return dst, symbols.Ambiguous
		}
	}
	return append(dst, symbols.Frame{Function: name}), symbols.Ambiguous
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// inColumn returns the functions that are defined in a column.
func (f *File) inColumn(column int64) []int32 {
	first := sort.Search(len(f.byColumn), func(i int) bool { return int64(f.scopes[f.byColumn[i]].params.column) >= column })
	end := first
	for end < len(f.byColumn) && end-first < maxCandidates && int64(f.scopes[f.byColumn[end]].params.column) == column {
		end++
	}
	return f.byColumn[first:end]
}

// maxCandidates: a file with more functions in a column is not minified.
const maxCandidates = 1000

func (f *File) orderByColumn() {
	f.byColumn = make([]int32, len(f.scopes))
	for i := range f.byColumn {
		f.byColumn[i] = int32(i)
	}
	slices.SortFunc(f.byColumn, func(a, b int32) int {
		return cmp.Compare(f.scopes[a].params.column, f.scopes[b].params.column)
	})
}
