// SPDX-License-Identifier: Apache-2.0

package exceptions

import (
	"cmp"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/stacktext"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/inapp"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/exception"
)

const (
	// maxExceptions is the maximum number of exceptions of a chain. Real chains have a few.
	maxExceptions = 20
	// maxFrames is the maximum number of frames of a stack: the innermost are listed. Sentry's
	// servers keep 250.
	maxFrames = 250
)

// limits of the lists. Processes have a few hundred threads.
var limits = exception.Limits{Exceptions: maxExceptions, Threads: 1000, Frames: maxFrames}

// thrown is an exception of a chain.
type thrown struct {
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
func chainOf(attributes pcommon.Map) []thrown {
	if chain := exception.Chain(attributes, limits); len(chain) > 0 {
		return structured(chain, attributes)
	}
	texts := exception.Read(attributes)
	first := thrown{kind: texts.Type, message: texts.Message}
	if first.addStack(exception.MessageStack(attributes, limits)); len(first.frames) > 0 { // a message
		return []thrown{first}
	}
	trace, ok := stacktext.Parse(texts.Stacktrace, stacktext.Unknown)
	if !ok {
		return []thrown{first}
	}
	var chain []thrown
	for i, e := range trace.Exceptions[:min(len(trace.Exceptions), maxExceptions)] {
		one := thrown{kind: e.Type, message: e.Message, omitted: e.Omitted}
		if i == 0 && first.kind != "" {
			one.kind, one.message = first.kind, first.message
		}
		for _, f := range slices.Backward(e.Frames) {
			one.add(textFrame(trace.Language, &f))
		}
		chain = append(chain, one)
	}
	return chain
}

func (e *thrown) add(f frame) {
	if len(e.frames) == maxFrames {
		e.omitted++
		return
	}
	e.frames = append(e.frames, f)
}

func textFrame(language stacktext.Language, f *stacktext.Frame) frame {
	out := frame{function: f.Function, module: f.Module, file: f.File, line: int64(f.Line), column: int64(f.Column), source: f.Source}
	if own, known := exception.InApp(language, f); known {
		out.inApp, out.guess = &own, true
	}
	return out
}

// structured returns the exceptions of an event. A thrown exception without a stack has that of its
// thread: native crashes have no other.
func structured(list []exception.Exception, attributes pcommon.Map) (chain []thrown) {
	for i := range list {
		e := &list[len(list)-1-i]
		one := thrown{kind: e.Type, message: e.Value}
		if class := text(e.Map, exception.Symbolicated); class != "" {
			one.kind = class[strings.LastIndexByte(class, '.')+1:]
		}
		if e.Mechanism != nil && e.Mechanism.Handled.Set {
			one.handled = &e.Mechanism.Handled.Value
		}
		one.addStack(e.Stack)
		chain = append(chain, one)
	}
	if first := &list[len(list)-1]; len(chain[0].frames) == 0 {
		for thread := range exception.Threads(attributes, limits) {
			if thread.Stack != nil && thread.Threw(&first.Exception) {
				chain[0].addStack(thread.Stack)
				break
			}
		}
	}
	return chain
}

func (e *thrown) addStack(stack *exception.Stack) {
	if stack == nil {
		return
	}
	e.tree, e.omitted = stack.Tree, stack.Omitted
	depths := make([]int, len(stack.Frames)) // after the frame, in a tree
	for i := range stack.Frames {
		f := &stack.Frames[i]
		functions := functionsOf(f, stack.Maps[i])
		if e.tree {
			slices.Reverse(functions)
			if caller := stack.Caller(i); caller >= 0 {
				depths[i] = depths[caller]
			}
		}
		for _, function := range functions {
			function.depth, function.samples = depths[i], f.SampleCount.Value
			e.add(function)
			if e.tree {
				depths[i]++
			}
		}
	}
}

// functionsOf returns a frame or, if a symbol file has names for it, the functions that it consists
// of, innermost first.
func functionsOf(f *event.EventFrame, m pcommon.Map) (functions []frame) {
	raw := structuredFrame(f)
	if vars, ok := m.Get("vars"); ok && vars.Type() == pcommon.ValueTypeMap {
		raw.vars, raw.hasVars = vars.Map(), vars.Map().Len() > 0
	}
	names, ok := exception.Names(m)
	if !ok {
		return []frame{raw}
	}
	for i := range names {
		f := structuredFrame(&names[i])
		f.raw = &raw
		if i == len(names)-1 { // others are inlined into it
			f.vars, f.hasVars = raw.vars, raw.hasVars
		}
		functions = append(functions, f)
	}
	return functions
}

// stack returns the frames, innermost first: of a tree, those of the path with most samples.
func (e *thrown) stack() (stack []*frame) {
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

func structuredFrame(f *event.EventFrame) frame {
	out := frame{
		function: f.Name(), module: f.Module, file: cmp.Or(f.AbsPath, f.Filename), line: int64(f.Line), column: int64(f.Column),
		before: f.PreContext, source: f.ContextLine, after: f.PostContext,
	}
	if own := f.InApp.Value; f.InApp.Set {
		out.inApp = &own
	} else if own, known := inapp.Guess(inapp.Frame{Function: out.function, Module: out.module, File: out.file, Package: f.Package}); known {
		out.inApp, out.guess = &own, true
	}
	return out
}

func text(m pcommon.Map, key string) string {
	if value, ok := m.Get(key); ok {
		return value.AsString()
	}
	return ""
}

func number(m pcommon.Map, key string) int64 {
	if value, ok := m.Get(key); ok && value.Type() == pcommon.ValueTypeInt {
		return value.Int()
	}
	return 0
}

func texts(m pcommon.Map, key string) (list []string) {
	if value, ok := m.Get(key); ok && value.Type() == pcommon.ValueTypeSlice {
		for _, line := range value.Slice().All() {
			list = append(list, line.AsString())
		}
	}
	return list
}
