// SPDX-License-Identifier: Apache-2.0

package exception

import (
	"iter"
	"math"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/allowance"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// Members of the lists with a structure of their own. Tables of package event have all others.
const (
	memberFrames     = "frames"
	memberStacktrace = "stacktrace"
	memberMechanism  = "mechanism"
	memberParent     = "parent_index"

	// Symbolicated is the member with the names of a symbol file: in an exception that of its
	// class, in a frame those of its functions, innermost first. The list is empty if the frame
	// does not exist in the source code.
	Symbolicated = "symbolicated"
)

// PutChain sets the exceptions of an event. The texts are those of the exception that was thrown,
// which is the last one of the chain.
func PutChain(attrs pcommon.Map, e *event.ErrorEvent) {
	if len(e.Exceptions) > 0 {
		TextsOf(e.Exceptions, e.Threads, e.Platform).Put(attrs)
	}
	putAll(attrs, semconv.SentryExceptions, e.Exceptions, func(m pcommon.Map, x *event.Exception) *event.Stacktrace {
		attr.PutMembers(m, event.Exceptions, x)
		if x.Mechanism != nil {
			attr.PutMembers(m.PutEmptyMap(memberMechanism), event.Mechanisms, x.Mechanism)
		}
		return x.Stacktrace
	})
}

// PutThreads sets the threads of an event.
func PutThreads(attrs pcommon.Map, e *event.ErrorEvent) {
	putAll(attrs, semconv.SentryThreads, e.Threads, func(m pcommon.Map, t *event.EventThread) *event.Stacktrace {
		attr.PutMembers(m, event.EventThreads, t)
		return t.Stacktrace
	})
}

// PutMessageStack sets the stack of the message of an event.
func PutMessageStack(attrs pcommon.Map, e *event.ErrorEvent) {
	if e.Stacktrace != nil {
		attr.PutText(attrs, semconv.CodeStacktrace, event.FramesText(e.Stacktrace, e.Platform))
		putStack(attrs, semconv.SentryStacktrace, e.Stacktrace)
	}
}

// TextsOf returns the texts of a chain, which is not empty.
func TextsOf(chain []event.Exception, threads []event.EventThread, platform string) Texts {
	thrown := &chain[len(chain)-1]
	return Texts{thrown.Type, thrown.Value, event.StacktraceText(event.WithThreadStack(chain, threads), platform)}
}

func putAll[T any](attrs pcommon.Map, key string, all []T, put func(pcommon.Map, *T) *event.Stacktrace) {
	if len(all) == 0 {
		return
	}
	to := attrs.PutEmptySlice(key)
	for i := range all {
		m := to.AppendEmpty().SetEmptyMap()
		if stack := put(m, &all[i]); stack != nil {
			putStack(m, memberStacktrace, stack)
		}
	}
}

func putStack(in pcommon.Map, key string, stack *event.Stacktrace) {
	m := in.PutEmptyMap(key)
	frames := m.PutEmptySlice(memberFrames)
	frames.EnsureCapacity(len(stack.Frames))
	tree := stack.IsTree()
	for i := range stack.Frames {
		if !tree {
			i = len(stack.Frames) - 1 - i
		}
		attr.PutMembers(frames.AppendEmpty().SetEmptyMap(), event.Frames, &stack.Frames[i])
	}
	attr.PutMembers(m, event.Stacktraces, stack)
}

// PutNames sets the functions of a frame by a symbol file, MaxNames at most.
func PutNames(frame pcommon.Map, functions []event.EventFrame) {
	to := frame.PutEmptySlice(Symbolicated)
	for _, f := range functions {
		f.Function, f.Module, f.Filename = strings.Clone(f.Function), strings.Clone(f.Module), strings.Clone(f.Filename) // of the file
		f.Platform = ""
		attr.PutMembers(to.AppendEmpty().SetEmptyMap(), event.Frames, &f)
	}
}

// Exception is an exception of a list, with its map. Its stack is in Stack only.
type Exception struct {
	event.Exception
	Stack *Stack // nil = none
	Map   pcommon.Map
}

// Thread is a thread of a list. Its stack is in Stack only.
type Thread struct {
	event.EventThread
	Stack *Stack // nil = none
}

// Stack is a stack in OTLP's order: the innermost frame comes first, or the frames are a tree.
type Stack struct {
	event.Stacktrace
	Maps    []pcommon.Map // of the frames
	Tree    bool
	Omitted int // frames beyond the limit
}

// Limits bound the memory of readers: an element of a list takes four bytes of a message, and 400
// in memory.
type Limits struct {
	Exceptions, Threads int
	Frames              int                  // of each stack
	Elements            *allowance.Allowance // ElementBytes for each exception, thread and frame; nil = unlimited
}

// ElementBytes is less than a frame takes of a message that states a place in the code.
const ElementBytes = 32

func (l Limits) spend() bool { return l.Elements == nil || l.Elements.Spend(ElementBytes) }

// Unlimited is for readers that write names into all frames.
var Unlimited = Limits{Exceptions: math.MaxInt, Threads: math.MaxInt, Frames: math.MaxInt}

// MaxNames is the maximum number of functions of a frame by a symbol file.
const MaxNames = 64

// Chain returns the last exceptions of an event, the thrown one last.
func Chain(attrs pcommon.Map, most Limits) (chain []Exception) {
	all, i := valueOf(attrs, semconv.SentryExceptions), 0
	for m := range attr.Maps(all) {
		if i++; i <= all.Slice().Len()-most.Exceptions || !most.spend() {
			continue
		}
		x := Exception{Map: m, Stack: stackOf(m, memberStacktrace, most)}
		read(m, event.Exceptions, &x.Exception)
		if mechanism, ok := m.Get(memberMechanism); ok && mechanism.Type() == pcommon.ValueTypeMap {
			x.Mechanism = &event.Mechanism{}
			read(mechanism.Map(), event.Mechanisms, x.Mechanism)
		}
		chain = append(chain, x)
	}
	return chain
}

// Threads returns the first threads of an event.
func Threads(attrs pcommon.Map, most Limits) iter.Seq[Thread] {
	return func(yield func(Thread) bool) {
		n := 0
		for m := range attr.Maps(valueOf(attrs, semconv.SentryThreads)) {
			if n++; n > most.Threads || !most.spend() {
				return
			}
			t := Thread{Stack: stackOf(m, memberStacktrace, most)}
			if read(m, event.EventThreads, &t.EventThread); !yield(t) {
				return
			}
		}
	}
}

// MessageStack returns the stack of the message of an event, or nil.
func MessageStack(attrs pcommon.Map, most Limits) *Stack {
	return stackOf(attrs, semconv.SentryStacktrace, most)
}

// HasLists reports whether attributes have the exceptions of an event, or the stack of its message.
func HasLists(attrs pcommon.Map) bool {
	_, chain := attrs.Get(semconv.SentryExceptions)
	_, stack := attrs.Get(semconv.SentryStacktrace)
	return chain || stack
}

func stackOf(in pcommon.Map, key string, most Limits) *Stack {
	value, ok := in.Get(key)
	if !ok || value.Type() != pcommon.ValueTypeMap {
		return nil
	}
	frames := valueOf(value.Map(), memberFrames)
	s := &Stack{Tree: isTree(frames)}
	for m := range attr.Maps(frames) {
		if len(s.Frames) == most.Frames || !most.spend() {
			s.Omitted++
			continue
		}
		s.Maps, s.Frames = append(s.Maps, m), append(s.Frames, event.EventFrame{})
		read(m, event.Frames, &s.Frames[len(s.Frames)-1])
	}
	return s
}

// isTree is event.Stacktrace.IsTree for a list.
func isTree(frames pcommon.Value) bool {
	if frames.Type() != pcommon.ValueTypeSlice || frames.Slice().Len() == 0 {
		return false
	}
	hasParent := func(frame pcommon.Value) bool {
		return frame.Type() == pcommon.ValueTypeMap && valueOf(frame.Map(), memberParent).Type() == pcommon.ValueTypeInt
	}
	return hasParent(frames.Slice().At(0)) && hasParent(frames.Slice().At(frames.Slice().Len()-1))
}

// Names returns the functions of a frame by a symbol file, innermost first. It reports false if no
// symbol file has names for it.
func Names(frame pcommon.Map) (functions []event.EventFrame, ok bool) {
	named := valueOf(frame, Symbolicated)
	for m := range attr.Maps(named) {
		if len(functions) == MaxNames {
			break
		}
		functions = append(functions, event.EventFrame{})
		read(m, event.Frames, &functions[len(functions)-1])
	}
	return functions, named.Type() == pcommon.ValueTypeSlice
}

// read sets the fields of an object that code uses, except for those with a structure of their own.
func read[T any](m pcommon.Map, table *event.Table[T], into *T) {
	attr.TakeMembers(into, table, m, &attr.Scratch{}, false)
}

func valueOf(in pcommon.Map, key string) pcommon.Value {
	if value, ok := in.Get(key); ok {
		return value
	}
	return none
}

// none is a value that is not a list.
var none = pcommon.NewValueEmpty()
