// SPDX-License-Identifier: Apache-2.0

package symbolicate

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

const (
	// maxText is the maximum size of a name or path, because a message may refer to one symbol any number of times. Sentry keeps 256 bytes of a name.
	maxText = 2048

	// maxInlined is the maximum number of functions at one location.
	maxInlined = 64
)

// write stores the found frames and the status in a location. A function without a name in the symbol file keeps the raw name.
func (e *editor) write(i dictionary.LocationIndex, line dictionary.Line, function dictionary.Function, status symbols.Status) {
	e.startEdit()
	location := e.dict.LocationTable().At(int(i))
	e.put(location.AttributeIndices(), attribute{key: semconv.SymbolicationStatus, text: string(status)})
	found := e.found[:min(len(e.found), maxInlined)]
	if len(found) == 0 {
		return
	}
	list := location.AttributeIndices()
	list.EnsureCapacity(list.Len() + rawAttributes)
	e.putRaw(list, line, function)
	location.Lines().RemoveIf(func(pprofile.Line) bool { return true })
	for n, f := range found {
		outermost := n == len(found)-1 // the function that the profiler saw
		name := e.edit.String(clip(f.Function))
		written := dictionary.Function{Name: name, SystemName: e.edit.String(clip(f.Raw)), Filename: e.edit.String(clip(f.File))}
		if outermost && f.Raw == "" {
			written.SystemName = function.Name
		}
		if outermost && f.Function == "" {
			written.Name = function.Name
		}
		to := location.Lines().AppendEmpty()
		if f.File == "" { // the symbol file states only a name
			written.Filename = function.Filename
			f.Line, f.Column = line.Line, line.Column
		}
		to.SetFunctionIndex(int32(e.function(written)))
		to.SetLine(f.Line)
		to.SetColumn(f.Column)
	}
	if found[0].Library && e.attribute(semconv.SentryFrameInApp) == "" {
		location.AttributeIndices().Append(int32(e.edit.Attribute(semconv.SentryFrameInApp, pcommon.NewValueBool(false))))
	}
}

// rawAttributes is the number of attributes of a raw frame.
const rawAttributes = 5

// startEdit prepares the first change of the message.
func (e *editor) startEdit() {
	if e.edit == nil {
		e.edit = dictionary.NewEditor(e.dict)
	}
}

// function returns the index of a function. Frames that differ only in line and column share one.
func (e *editor) function(f dictionary.Function) dictionary.FunctionIndex {
	i, known := e.functions[f]
	if !known {
		i = e.edit.Function(f)
		e.functions[f] = i
	}
	return i
}

// putRaw stores the frame as the profiler wrote it.
func (e *editor) putRaw(list pcommon.Int32Slice, line dictionary.Line, function dictionary.Function) {
	if function.Name != 0 {
		e.put(list, attribute{key: semconv.SentryFrameRawFunction, text: e.view.Text(function.Name)})
	}
	if function.Filename != 0 {
		e.put(list, attribute{key: semconv.SentryFrameRawFile, text: e.view.Text(function.Filename)})
	}
	if line.Line != 0 {
		e.put(list, attribute{key: semconv.SentryFrameRawLine, number: line.Line})
	}
	if line.Column != 0 {
		e.put(list, attribute{key: semconv.SentryFrameRawColumn, number: line.Column})
	}
}

// attribute is a text, or a number that is not 0.
type attribute struct {
	key, text string
	number    int64
}

// put adds an attribute to a list.
func (e *editor) put(list pcommon.Int32Slice, a attribute) { list.Append(int32(e.attributeOf(a))) }

// attributeOf returns the index of an attribute. Equal attributes share an entry: any number of frames may have the same long name.
func (e *editor) attributeOf(a attribute) dictionary.AttributeIndex {
	i, known := e.attributes[a]
	if !known {
		if a.number != 0 {
			i = e.edit.AttrInt(a.key, a.number)
		} else {
			i = e.edit.AttrString(a.key, a.text)
		}
		e.attributes[a] = i
	}
	return i
}

func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxText)], "") }
