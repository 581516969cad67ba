// SPDX-License-Identifier: Apache-2.0

package symbolicate

import (
	"strings"
	"unsafe"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

const (
	// maxText is the maximum size of a name or path, because a message may refer to one symbol any
	// number of times. Sentry keeps 256 bytes of a name.
	maxText = 2048

	// maxInlined is the maximum number of functions at one location.
	maxInlined = 64
)

// changes are the changes of a message.
type changes struct {
	edit       *dictionary.Editor          // nil until the first change
	references []int32                     // by function of the message: number of lines that refer to it
	names      []dictionary.AttributeIndex // by string of the message: its attribute as raw function, or 0
	paths      []dictionary.AttributeIndex // the same as raw file
	rawModules []dictionary.AttributeIndex // by attribute of the message with a class: the same as raw module, or 0
	symbols    map[symbol]dictionary.StringIndex
	mayBeEqual bool // locations that differed may have become equal
}

// startEdit prepares the first change of the message.
func (e *editor) startEdit() {
	if e.edit != nil {
		return
	}
	e.edit = dictionary.NewEditor(e.dict)
	e.references = make([]int32, e.dict.FunctionTable().Len())
	e.names = make([]dictionary.AttributeIndex, e.dict.StringTable().Len())
	e.paths = make([]dictionary.AttributeIndex, e.dict.StringTable().Len())
	e.rawModules = make([]dictionary.AttributeIndex, e.dict.AttributeTable().Len())
	e.symbols = map[symbol]dictionary.StringIndex{}
	locations := e.dict.LocationTable()
	for i := range locations.Len() {
		lines := locations.At(i).Lines()
		for j := range lines.Len() {
			e.refer(dictionary.FunctionIndex(lines.At(j).FunctionIndex()), 1)
		}
	}
}

// refer counts references to a function of the message.
func (e *editor) refer(i dictionary.FunctionIndex, count int32) {
	if i > 0 && int(i) < len(e.references) {
		e.references[i] += count
	}
}

// rawAttributes is the maximum number of attributes that a frame gets: the status, the raw frame
// and whether it belongs to the application.
const rawAttributes = 7

// write stores the found frames and the status in a location. A function without a name in the
// symbol file keeps the raw name.
func (e *editor) write(f candidate, status symbols.Status) {
	e.startEdit()
	location := e.dict.LocationTable().At(int(f.at))
	list := location.AttributeIndices()
	found := e.found[:min(len(e.found), maxInlined)]
	if len(found) > 0 {
		list.EnsureCapacity(list.Len() + rawAttributes)
	}
	put(list, e.edit.AttrString(semconv.SymbolicationStatus, string(status)))
	if len(found) == 0 {
		return
	}
	e.putRaw(list, f)
	e.refer(f.line.Function, -1)
	unused := e.unused(f.line.Function)
	lines := location.Lines()
	for n, s := range found {
		if n == lines.Len() {
			lines.AppendEmpty()
		}
		if s.File == "" { // the symbol file states only a name
			s.Line, s.Column = f.line.Line, f.line.Column
		}
		index := e.edit.FunctionIn(unused, e.functionOf(s, f.function, n == len(found)-1))
		if index == unused {
			unused = 0
		}
		e.refer(index, 1)
		lines.At(n).SetFunctionIndex(int32(index))
		lines.At(n).SetLine(s.Line)
		lines.At(n).SetColumn(s.Column)
	}
	if found[0].Library && !e.labels.inApp {
		library := e.edit.AttrBool(semconv.SentryFrameInApp, false)
		put(list, library)
		e.mayBeEqual = e.mayBeEqual || int(library) < len(e.attributes)
	}
	e.mayBeEqual = e.mayBeEqual || losesDetails(f, len(e.loc.Lines))
}

// unused returns a function of the message if no line refers to it any more, else 0.
func (e *editor) unused(i dictionary.FunctionIndex) dictionary.FunctionIndex {
	if i > 0 && e.references[i] == 0 {
		return i
	}
	return 0
}

// functionOf returns the function of a frame in the symbol file. The outermost function is the one
// that the profiler saw.
func (e *editor) functionOf(s symbols.Frame, raw dictionary.Function, outermost bool) dictionary.Function {
	f := dictionary.Function{Name: e.symbol(s.Function), SystemName: e.symbol(s.Raw), Filename: e.symbol(s.File)}
	if outermost && s.Raw == "" {
		f.SystemName = raw.Name
	}
	if outermost && s.Function == "" {
		f.Name = raw.Name
	}
	if s.File == "" {
		f.Filename = raw.Filename
	}
	return f
}

// losesDetails reports whether a frame has details that are not kept as raw attributes. SDKs do not
// report them for frames without names.
func losesDetails(f candidate, lines int) bool {
	return f.function.SystemName != 0 || f.function.StartLine != 0 || lines == 1 && f.line == (dictionary.Line{})
}

// putRaw stores the frame as the profiler wrote it.
func (e *editor) putRaw(list pcommon.Int32Slice, f candidate) {
	if f.function.Name != 0 {
		put(list, e.text(e.names, semconv.SentryFrameRawFunction, f.function.Name))
	}
	if f.function.Filename != 0 {
		put(list, e.text(e.paths, semconv.SentryFrameRawFile, f.function.Filename))
	}
	if f.line.Line != 0 {
		put(list, e.edit.AttrInt(semconv.SentryFrameRawLine, f.line.Line))
	}
	if f.line.Column != 0 {
		put(list, e.edit.AttrInt(semconv.SentryFrameRawColumn, f.line.Column))
	}
}

// text returns the index of an attribute with a string of the message. known has those that were
// used before.
func (e *editor) text(known []dictionary.AttributeIndex, key string, s dictionary.StringIndex) dictionary.AttributeIndex {
	if known[s] == 0 {
		known[s] = e.edit.AttrString(key, e.view.Text(s))
	}
	return known[s]
}

// symbol is the memory of a text in a symbol file, which does not change.
type symbol struct {
	data *byte
	size int
}

// symbol returns the string of a text of a symbol file. Most files are those of many functions: a
// text is clipped and hashed once.
func (e *editor) symbol(s string) dictionary.StringIndex {
	if s == "" {
		return 0
	}
	key := symbol{unsafe.StringData(s), len(s)}
	known, ok := e.symbols[key]
	if !ok {
		known = e.edit.String(clip(s))
		e.symbols[key] = known
	}
	return known
}

func put(list pcommon.Int32Slice, i dictionary.AttributeIndex) { list.Append(int32(i)) }

func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxText)], "") }
