// SPDX-License-Identifier: Apache-2.0

package exceptions

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/stacktext"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/inapp"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

const (
	// maxExceptions is the maximum number of exceptions of a chain. Real chains have a few.
	maxExceptions = 20
	// maxFrames is the maximum number of frames of a stack: the innermost are listed. Sentry's
	// servers keep 250.
	maxFrames = 250
)

// exception is an exception of a chain.
type exception struct {
	kind, message string
	handled       *bool
	frames        []frame // the innermost first; in a tree, callers first
	tree          bool
	omitted       int // frames beyond maxFrames
}

// frame is a call in a stack.
type frame struct {
	function, module, file string
	line, column           int64
	inApp                  *bool // nil: unknown
	guess                  bool  // the SDK does not state inApp
	before, after          []string
	source                 string // the line itself
	vars                   pcommon.Map
	hasVars                bool
	raw                    *frame // as the SDK reported it, if a symbol file has other names
	depth                  int    // in a tree, the number of callers
	samples                int64  // in a tree, including its callees
}

// chainOf returns the exceptions of an error, the thrown one first.
func chainOf(attributes pcommon.Map) []exception {
	if list, ok := attributes.Get(semconv.SentryExceptions); ok && list.Type() == pcommon.ValueTypeSlice && list.Slice().Len() > 0 {
		return structured(list.Slice(), attributes)
	}
	thrown := exception{kind: text(attributes, semconv.ExceptionType), message: text(attributes, semconv.ExceptionMessage)}
	if thrown.addStack(attributes, semconv.SentryStacktrace); len(thrown.frames) > 0 { // a message
		return []exception{thrown}
	}
	trace, ok := stacktext.Parse(text(attributes, semconv.ExceptionStacktrace), stacktext.Unknown)
	if !ok {
		return []exception{thrown}
	}
	var chain []exception
	for i, e := range trace.Exceptions[:min(len(trace.Exceptions), maxExceptions)] {
		one := exception{kind: e.Type, message: e.Message, omitted: e.Omitted}
		if i == 0 && thrown.kind != "" {
			one.kind, one.message = thrown.kind, thrown.message
		}
		for _, f := range slices.Backward(e.Frames) {
			one.add(textFrame(&f))
		}
		chain = append(chain, one)
	}
	return chain
}

func (e *exception) add(f frame) {
	if len(e.frames) == maxFrames {
		e.omitted++
		return
	}
	e.frames = append(e.frames, f)
}

func textFrame(f *stacktext.Frame) frame {
	out := frame{function: f.Function, module: f.Module, file: f.File, line: int64(f.Line), column: int64(f.Column), source: f.Source}
	out.guessInApp(f.Package)
	if f.Runtime {
		no := false
		out.inApp, out.guess = &no, true
	}
	return out
}

func (f *frame) guessInApp(library string) {
	if own, known := inapp.Guess(inapp.Frame{Function: f.function, Module: f.module, File: f.file, Package: library}); known {
		f.inApp, f.guess = &own, true
	}
}

// structured reads the list that our receivers write, a cause before its effect.
func structured(list pcommon.Slice, attributes pcommon.Map) (chain []exception) {
	for i := range min(list.Len(), maxExceptions) {
		value := list.At(list.Len() - 1 - i)
		if value.Type() != pcommon.ValueTypeMap {
			continue
		}
		m := value.Map()
		one := exception{kind: text(m, "type"), message: text(m, "value")}
		if class := text(m, "symbolicated"); class != "" {
			one.kind = class[strings.LastIndexByte(class, '.')+1:]
		}
		if mechanism, ok := m.Get("mechanism"); ok && mechanism.Type() == pcommon.ValueTypeMap {
			one.handled = flag(mechanism.Map(), "handled")
		}
		one.addStack(m, "stacktrace")
		chain = append(chain, one)
	}
	if len(chain) > 0 && len(chain[0].frames) == 0 {
		chain[0].addThreadStack(attributes)
	}
	return chain
}

// addThreadStack adds the stack of the crashed thread: native crashes have no other.
func (e *exception) addThreadStack(attributes pcommon.Map) {
	threads, ok := attributes.Get(semconv.SentryThreads)
	if !ok || threads.Type() != pcommon.ValueTypeSlice {
		return
	}
	for _, thread := range threads.Slice().All() {
		if thread.Type() != pcommon.ValueTypeMap {
			continue
		}
		if crashed := flag(thread.Map(), "crashed"); crashed != nil && *crashed {
			e.addStack(thread.Map(), "stacktrace")
			return
		}
	}
}

func (e *exception) addStack(m pcommon.Map, key string) {
	stack, ok := m.Get(key)
	if !ok || stack.Type() != pcommon.ValueTypeMap {
		return
	}
	value, ok := stack.Map().Get("frames")
	if !ok || value.Type() != pcommon.ValueTypeSlice {
		return
	}
	frames := value.Slice()
	e.tree = frames.Len() > 0 && hasCaller(frames.At(0)) && hasCaller(frames.At(frames.Len()-1))
	depths := make([]int, frames.Len()) // after the frame, in a tree
	for i, f := range frames.All() {
		if f.Type() != pcommon.ValueTypeMap {
			continue
		}
		functions := functionsOf(f.Map())
		if e.tree {
			slices.Reverse(functions)
			if p := number(f.Map(), "parent_index"); p >= 0 && p < int64(i) {
				depths[i] = depths[p]
			}
		}
		for _, function := range functions {
			function.depth, function.samples = depths[i], number(f.Map(), "sample_count")
			e.add(function)
			if e.tree {
				depths[i]++
			}
		}
	}
}

// hasCaller reports whether a frame states the position of its caller, as those of a call tree do.
// The frames of a tree are in depth-first order, callers first.
func hasCaller(f pcommon.Value) bool {
	if f.Type() != pcommon.ValueTypeMap {
		return false
	}
	caller, ok := f.Map().Get("parent_index")
	return ok && caller.Type() == pcommon.ValueTypeInt
}

// functionsOf returns a frame or, if a symbol file has names for it, the functions that it consists
// of, innermost first.
func functionsOf(m pcommon.Map) (functions []frame) {
	raw := structuredFrame(m)
	list, ok := m.Get("symbolicated")
	if !ok || list.Type() != pcommon.ValueTypeSlice {
		return []frame{raw}
	}
	for i, function := range list.Slice().All() {
		if function.Type() != pcommon.ValueTypeMap {
			continue
		}
		f := structuredFrame(function.Map())
		f.raw = &raw
		if i == list.Slice().Len()-1 { // others are inlined into it
			f.vars, f.hasVars = raw.vars, raw.hasVars
		}
		functions = append(functions, f)
	}
	return functions
}

// stack returns the frames, innermost first: of a tree, those of the path with most samples.
func (e *exception) stack() (stack []*frame) {
	if !e.tree {
		for i := range e.frames {
			stack = append(stack, &e.frames[i])
		}
		return stack
	}
	for callees, depth := e.frames, 0; ; depth++ {
		heaviest := -1
		for i := range callees {
			if f := &callees[i]; f.depth < depth {
				callees = callees[:i]
				break
			} else if f.depth == depth && (heaviest < 0 || f.samples > callees[heaviest].samples) {
				heaviest = i
			}
		}
		if heaviest < 0 {
			slices.Reverse(stack)
			return stack
		}
		stack = append(stack, &callees[heaviest])
		callees = callees[heaviest+1:]
	}
}

func structuredFrame(m pcommon.Map) frame {
	f := frame{
		function: text(m, "function"), module: text(m, "module"), file: firstText(m, "abs_path", "filename"),
		line: number(m, "lineno"), column: number(m, "colno"), inApp: flag(m, "in_app"),
		before: texts(m, "pre_context"), source: text(m, "context_line"), after: texts(m, "post_context"),
	}
	if f.function == "" {
		f.function = text(m, "instruction_addr")
		if mode := text(m, "addr_mode"); f.function != "" && strings.HasPrefix(mode, "rel:") {
			f.function = mode + "+" + f.function
		}
	}
	if f.inApp == nil {
		f.guessInApp(text(m, "package"))
	}
	if vars, ok := m.Get("vars"); ok && vars.Type() == pcommon.ValueTypeMap {
		f.vars, f.hasVars = vars.Map(), vars.Map().Len() > 0
	}
	return f
}

func text(m pcommon.Map, key string) string {
	if value, ok := m.Get(key); ok {
		return value.AsString()
	}
	return ""
}

func firstText(m pcommon.Map, keys ...string) string {
	for _, key := range keys {
		if found := text(m, key); found != "" {
			return found
		}
	}
	return ""
}

func number(m pcommon.Map, key string) int64 {
	if value, ok := m.Get(key); ok && value.Type() == pcommon.ValueTypeInt {
		return value.Int()
	}
	return 0
}

func flag(m pcommon.Map, key string) *bool {
	if value, ok := m.Get(key); ok && value.Type() == pcommon.ValueTypeBool {
		set := value.Bool()
		return &set
	}
	return nil
}

func texts(m pcommon.Map, key string) (list []string) {
	if value, ok := m.Get(key); ok && value.Type() == pcommon.ValueTypeSlice {
		for _, line := range value.Slice().All() {
			list = append(list, line.AsString())
		}
	}
	return list
}
