// SPDX-License-Identifier: Apache-2.0

package exceptions

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/exception"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/proguard"
)

// lists writes names into the frames of the exceptions, the threads and the message of an event. It
// returns the texts with these names, and reports whether there are any.
func (w *writer) lists(s *source, attrs pcommon.Map) (texts exception.Texts, changed bool) {
	most := exception.Unlimited
	most.Elements = &w.elements
	var chain []event.Exception
	for _, e := range exception.Chain(attrs, most) {
		thrown := strings.TrimPrefix(e.Module+"."+e.Type, ".")
		e.Stacktrace = w.stack(s, e.Stack, thrown, &changed)
		if class, ok := w.class(s, thrown); ok {
			e.Module, e.Type = splitName(class)
			w.changes = append(w.changes, func() { e.Map.PutStr(exception.Symbolicated, class) })
			changed = true
		}
		chain = append(chain, e.Exception)
	}
	var threads []event.EventThread
	for t := range exception.Threads(attrs, most) {
		t.Stacktrace = w.stack(s, t.Stack, "", &changed)
		threads = append(threads, t.EventThread)
	}
	inMessage := false
	if stack := w.stack(s, exception.MessageStack(attrs, most), "", &inMessage); inMessage {
		changed = true
		text := event.FramesText(stack, s.platform)
		w.changes = append(w.changes, func() { exception.SymbolicateMessage(attrs, text) })
	}
	if changed && len(chain) > 0 {
		texts = exception.TextsOf(chain, threads, s.platform)
	}
	return texts, changed
}

// stack writes names into the frames of a stack, and returns the stack with these names. It sets
// changed if any frame was symbolicated.
func (w *writer) stack(s *source, stack *exception.Stack, thrown string, changed *bool) *event.Stacktrace {
	if stack == nil {
		return nil
	}
	if stack.Omitted > 0 { // a status without frames is not counted
		w.counts[symbols.Limit] += stack.Omitted
	}
	found := w.frames(s, stack, thrown)
	for i := range found {
		if names := &found[i]; names.known && w.spend(textBytes(names.frames)) {
			m, frames := stack.Maps[i], names.frames
			w.changes = append(w.changes, func() { exception.PutNames(m, frames) })
			*changed = true
		} else {
			names.frames = stack.Frames[i : i+1]
		}
	}
	return &event.Stacktrace{Frames: joined(stack, found)}
}

// joined returns the functions of all frames in Sentry's order. In a tree, the innermost function
// of a frame is the caller of the frame's callees.
func joined(stack *exception.Stack, found []result) (frames []event.EventFrame) {
	last := make([]int64, len(found)) // position of the innermost function of each frame
	for i := range found {
		if !stack.Tree {
			frames = append(frames, found[i].frames...)
			continue
		}
		caller := int64(-1)
		if p := stack.Caller(i); p >= 0 {
			caller = last[p]
		}
		for _, f := range slices.Backward(found[i].frames) {
			f.ParentIndex, f.SampleCount = jsonscan.Some(caller), stack.Frames[i].SampleCount
			caller = int64(len(frames))
			frames = append(frames, f)
		}
		last[i] = caller
	}
	if !stack.Tree {
		slices.Reverse(frames)
	}
	return frames
}

// callers returns which frames called another one: their addresses are return addresses.
func callers(stack *exception.Stack) []bool {
	called := make([]bool, len(stack.Frames))
	for i := range stack.Frames {
		if !stack.Tree {
			called[i] = i > 0
		} else if caller := stack.Caller(i); caller >= 0 {
			called[caller] = true
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

// frames looks up the frames of a stack. Relative addresses, such as
// offsets in .NET's functions, are not those of a symbol file.
func (w *writer) frames(s *source, stack *exception.Stack, thrown string) []result {
	results, isCaller := make([]result, len(stack.Frames)), callers(stack)
	jvm := false
	for i := range stack.Frames {
		f := &stack.Frames[i]
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
		w.methods(s, stack.Frames, thrown, results)
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

// resultOf converts the frames of a symbol file to frames of an event.
func resultOf(raw *event.EventFrame, found []symbols.Frame, method bool) (r result) {
	r.known = len(found) > 0
	for _, f := range found[:min(len(found), exception.MaxNames)] {
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
