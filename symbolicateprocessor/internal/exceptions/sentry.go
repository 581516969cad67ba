// SPDX-License-Identifier: Apache-2.0

package exceptions

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/toitems"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/proguard"
)

// sentryEvent writes names into the frames of the exceptions, the threads and the message of an
// event, and rewrites its stack traces.
func (w *writer) sentryEvent(s *source, attrs pcommon.Map) {
	list, ok := attrs.Get(semconv.SentryExceptions)
	if !ok {
		list = pcommon.NewValueEmpty()
	}
	chain := toitems.ExceptionsOf(list)
	changed, at := false, 0
	eachMap(list, func(m pcommon.Map) {
		e := &chain[at]
		at++
		thrown := strings.TrimPrefix(e.Module+"."+e.Type, ".")
		changed = w.stackIn(s, m, e.Stacktrace, thrown) || changed
		if class, ok := w.class(s, thrown); ok {
			e.Module, e.Type = splitName(class)
			m.PutStr(symbolicatedField, class)
			changed = true
		}
	})
	var threads []event.EventThread
	if list, ok := attrs.Get(semconv.SentryThreads); ok {
		threads, at = toitems.ThreadsOf(list), 0
		eachMap(list, func(m pcommon.Map) {
			changed = w.stackIn(s, m, threads[at].Stacktrace, "") || changed
			at++
		})
	}
	if value, ok := attrs.Get(semconv.SentryStacktrace); ok {
		if stack := toitems.StackOf(value); w.stack(s, value, stack, "") {
			changed = true
			replace(attrs, semconv.CodeStacktrace, semconv.CodeStacktraceOriginal, event.FramesText(stack, s.platform))
		}
	}
	if !changed {
		return
	}
	text, kind := "", ""
	if len(chain) > 0 {
		chain = event.WithThreadStack(chain, threads)
		kind = chain[len(chain)-1].Type
		if event.HasFrames(chain) {
			text = event.StacktraceText(chain, s.platform)
		}
	}
	w.done(attrs, text, kind)
}

func eachMap(list pcommon.Value, visit func(pcommon.Map)) {
	if list.Type() != pcommon.ValueTypeSlice {
		return
	}
	for _, element := range list.Slice().All() {
		if element.Type() == pcommon.ValueTypeMap {
			visit(element.Map())
		}
	}
}

// symbolicatedField is the key of the names from the symbol file: in a frame those of its
// functions, in an exception that of its class.
const symbolicatedField = "symbolicated"

// stackIn is stack for the stack of an exception or a thread.
func (w *writer) stackIn(s *source, m pcommon.Map, stack *event.Stacktrace, thrown string) bool {
	value, ok := m.Get("stacktrace")
	return ok && w.stack(s, value, stack, thrown)
}

// stack writes names into the frames of an attribute, and replaces the frames of the event. It
// reports whether any frame was symbolicated.
func (w *writer) stack(s *source, value pcommon.Value, stack *event.Stacktrace, thrown string) (changed bool) {
	if stack == nil {
		return false
	}
	list, ok := value.Map().Get("frames")
	if !ok {
		return false
	}
	n := 0
	eachMap(list, func(pcommon.Map) { n++ })
	if n != len(stack.Frames) { // a map with two stacks
		return false
	}
	tree := stack.IsTree()
	if !tree {
		slices.Reverse(stack.Frames) // innermost first, as in the attribute
	}
	found := w.frames(s, stack.Frames, tree, thrown)
	at := 0
	eachMap(list, func(m pcommon.Map) {
		names := &found[at]
		if names.known && w.spend(textBytes(names.frames)) {
			w.put(m, names.frames)
			changed = true
		} else {
			names.frames = stack.Frames[at : at+1]
		}
		at++
	})
	stack.Frames = joined(stack.Frames, found, tree)
	return changed
}

// joined returns the functions of all frames in Sentry's order. In a tree, the innermost function
// of a frame is the caller of the frame's callees.
func joined(raw []event.EventFrame, found []result, tree bool) (frames []event.EventFrame) {
	last := make([]int64, len(found)) // position of the innermost function of each frame
	for i := range found {
		if !tree {
			frames = append(frames, found[i].frames...)
			continue
		}
		caller := int64(-1)
		if p := raw[i].ParentIndex.Value; p >= 0 && p < int64(i) {
			caller = last[p]
		}
		for _, f := range slices.Backward(found[i].frames) {
			f.ParentIndex, f.SampleCount = jsonscan.Some(caller), raw[i].SampleCount
			caller = int64(len(frames))
			frames = append(frames, f)
		}
		last[i] = caller
	}
	if !tree {
		slices.Reverse(frames)
	}
	return frames
}

// callers returns which frames called another one: their addresses are return addresses.
func callers(stack []event.EventFrame, tree bool) []bool {
	called := make([]bool, len(stack))
	for i := range stack {
		if !tree {
			called[i] = i > 0
		} else if p := stack[i].ParentIndex.Value; p >= 0 && p < int64(i) {
			called[p] = true
		}
	}
	return called
}

// result contains the symbolicated frames for one raw frame. If known is set and there are none,
// the frame does not exist in the source code.
type result struct {
	known  bool
	frames []event.EventFrame
}

// frames looks up the frames of a stack, innermost first, or of a tree. Relative addresses, such as
// offsets in .NET's functions, are not those of a symbol file.
func (w *writer) frames(s *source, stack []event.EventFrame, tree bool, thrown string) []result {
	results, isCaller := make([]result, len(stack)), callers(stack, tree)
	jvm := false
	for i := range stack {
		f := &stack[i]
		if f.InstructionAddr.Set && f.Line == 0 {
			if !event.IsRelative(f.AddrMode) {
				results[i] = resultOf(f, w.native(s, f.Function, f.InstructionAddr.Value, !isCaller[i]), false)
			}
			continue
		}
		switch attr.Platforms[attr.FirstText(f.Platform, s.platform)].FrameType {
		case "v8js":
			url := attr.FirstText(f.AbsPath, f.Filename)
			if f.Line > 0 && symbolicate.IsScript(url) {
				results[i] = resultOf(f, w.script(s, f.Function, url, int64(f.Line), int64(f.Column)), false)
			}
		case "jvm":
			jvm = true
		}
	}
	if jvm && s.mapping != "" {
		w.methods(s, stack, thrown, results)
	}
	return results
}

// methods looks up the frames of an obfuscated program.
func (w *writer) methods(s *source, stack []event.EventFrame, thrown string, results []result) {
	mapping, status := w.files.Mapping(s.mapping)
	if status != symbols.OK {
		w.counts[status] += len(stack)
		return
	}
	places := make([]proguard.Place, len(stack))
	for i := range stack {
		places[i] = proguard.Place{Class: stack[i].Module, Method: stack[i].Function, Line: int64(stack[i].Line)}
	}
	mapping.LookupStack(thrown, places, func(i int, frames []symbols.Frame, status symbols.Status) {
		w.counts[status]++
		if status == symbols.OK || status == symbols.Ambiguous {
			results[i] = resultOf(&stack[i], frames, true)
			results[i].known = true
		}
	})
}

// class returns the original name of the class of an exception.
func (w *writer) class(s *source, obfuscated string) (string, bool) {
	if s.mapping == "" {
		return "", false
	}
	mapping, status := w.files.Mapping(s.mapping)
	if status != symbols.OK {
		return "", false
	}
	original, ok := mapping.Class(obfuscated)
	return original, ok && original != obfuscated && w.spend(len(original))
}

// maxInlined is the maximum number of functions at one position.
const maxInlined = 64

// resultOf converts the frames of a symbol file to frames of an event.
func resultOf(raw *event.EventFrame, found []symbols.Frame, method bool) (r result) {
	r.known = len(found) > 0
	for _, f := range found[:min(len(found), maxInlined)] {
		frame := event.EventFrame{Function: attr.FirstText(f.Function, raw.Function), Filename: f.File, Line: uint32(f.Line), Column: uint32(f.Column), InApp: raw.InApp, Platform: raw.Platform}
		if method {
			frame.Module, frame.Function = splitName(f.Function)
		}
		if f.Library && !raw.InApp.Set {
			frame.InApp = jsonscan.Some(false)
		}
		r.frames = append(r.frames, frame)
	}
	return r
}

// splitName splits a name into class and method, or package and class.
func splitName(name string) (before, last string) {
	dot := strings.LastIndexByte(name, '.')
	return name[:max(dot, 0)], name[dot+1:]
}

func textBytes(frames []event.EventFrame) (n int) {
	for i := range frames {
		f := &frames[i]
		n += 2 * (len(f.Function) + len(f.Module) + len(f.Filename) + 32) // in the list and in the text
	}
	return n
}

func (w *writer) put(m pcommon.Map, frames []event.EventFrame) {
	list := m.PutEmptySlice(symbolicatedField)
	for i := range frames {
		f, to := &frames[i], list.AppendEmpty().SetEmptyMap()
		attr.PutText(to, "function", f.Function)
		attr.PutText(to, "module", f.Module)
		attr.PutText(to, "filename", f.Filename)
		if f.Line != 0 {
			to.PutInt("lineno", int64(f.Line))
		}
		if f.Column != 0 {
			to.PutInt("colno", int64(f.Column))
		}
		if f.InApp.Set {
			to.PutBool("in_app", f.InApp.Value)
		}
	}
}
