// SPDX-License-Identifier: Apache-2.0

package event

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Exception is one error in the chain of an event.
// https://develop.sentry.dev/sdk/data-model/event-payloads/exception/
type Exception struct {
	Type       string // class or name of the error
	Value      string // its message
	Module     string // package of Type, if Type does not contain it
	ThreadID   string
	Mechanism  *Mechanism
	Stacktrace *Stacktrace
	Rest       []NamedValue
}

var Exceptions = newTable("exception", func(e *Exception) *[]NamedValue { return &e.Rest },
	text("type", func(e *Exception) *string { return &e.Type }),
	exceptionValue("value", func(e *Exception) *string { return &e.Value }),
	text("module", func(e *Exception) *string { return &e.Module }),
	identifier("thread_id", func(e *Exception) *string { return &e.ThreadID }),
	pointer(KindMechanism, "mechanism", Mechanisms, func(e *Exception) **Mechanism { return &e.Mechanism }),
	stacktrace(func(e *Exception) **Stacktrace { return &e.Stacktrace }),
).carrying(KindObject, "raw_stacktrace")

// isException reports whether an exception states anything. Ingest drops others.
func (e *Exception) isException() bool { return e.Type != "" || e.Value != "" || e.Stacktrace != nil }

// exceptionValue is text, or any other JSON as text, because Sentry's schema allows both
// ("JsonLenientString").
func exceptionValue[T any](key string, at func(*T) *string) row[T] {
	r := text(key, at)
	r.read = func(l *reader, t *T, name string) { *at(t) = l.lenientText(name) }
	return r
}

// lenientText reads text, or any other JSON as text.
func (l *reader) lenientText(field string) string {
	if next := l.S.Peek(); next == '{' || next == '[' {
		return string(jsonscan.ValidUTF8(l.S.Value()))
	}
	return l.Text(field)
}

// Mechanism states how the SDK captured the exception, and its position in the chain.
type Mechanism struct {
	Type        string                  // generic, onerror, chained, instrument, …
	Source      string                  // member of the parent that holds this exception: __cause__, cause, errors[0]
	Handled     jsonscan.Optional[bool] // false = the program did not catch it
	Group       jsonscan.Optional[bool] // true = one of several, such as AggregateError or ExceptionGroup
	ExceptionID jsonscan.Optional[int64]
	ParentID    jsonscan.Optional[int64]
	Rest        []NamedValue
}

// Mechanisms is the table of Mechanism. Old SDKs for Apple's systems state signals in separate
// members, from which ingest makes `meta` (relay-event-schema/src/protocol/mechanism.rs,
// LegacyMechanism).
var Mechanisms = newTable("mechanism", func(m *Mechanism) *[]NamedValue { return &m.Rest },
	text("type", func(m *Mechanism) *string { return &m.Type }),
	text("source", func(m *Mechanism) *string { return &m.Source }),
	flag("handled", func(m *Mechanism) *jsonscan.Optional[bool] { return &m.Handled }),
	flag("is_exception_group", func(m *Mechanism) *jsonscan.Optional[bool] { return &m.Group }),
	integer("exception_id", func(m *Mechanism) *jsonscan.Optional[int64] { return &m.ExceptionID }),
	integer("parent_id", func(m *Mechanism) *jsonscan.Optional[int64] { return &m.ParentID }),
).carrying(KindText, "description", "help_link", "relevant_address").
	carrying(KindFlag, "synthetic").
	carrying(KindObject, "meta", "data", "posix_signal", "mach_exception") // meta: signal, mach_exception, ns_error, errno

// EventThread is a thread of the process at the time of an event.
// https://develop.sentry.dev/sdk/data-model/event-payloads/threads/
type EventThread struct {
	ID         string // a number in all recorded SDKs; text is legal
	Crashed    jsonscan.Optional[bool]
	Stacktrace *Stacktrace
	Rest       []NamedValue
}

// EventThreads: state is one of Java (RUNNABLE, …), held_locks are from Android's ANR events.
var EventThreads = newTable("threads", func(t *EventThread) *[]NamedValue { return &t.Rest },
	identifier("id", func(t *EventThread) *string { return &t.ID }),
	flag("crashed", func(t *EventThread) *jsonscan.Optional[bool] { return &t.Crashed }),
	stacktrace(func(t *EventThread) **Stacktrace { return &t.Stacktrace }),
).carrying(KindText, "name", "state").
	carrying(KindInt, "priority").
	carrying(KindFlag, "current", "main", "daemon").
	carrying(KindObject, "held_locks", "raw_stacktrace")

// Stacktrace contains the frames in wire order, callers before callees, so the last frame is the
// current one. Stacks of profiles have the opposite order. The frames of a hang that MetricKit
// reports are a tree (IsTree).
// https://develop.sentry.dev/sdk/data-model/event-payloads/stacktrace/
type Stacktrace struct {
	Frames []EventFrame
	Rest   []NamedValue
}

// Stacktraces: registers are of native crashes, snapshot is of a Java thread that kept running.
var Stacktraces = newTable("stacktrace", func(s *Stacktrace) *[]NamedValue { return &s.Rest },
	list(KindFrames, "frames", Frames, func(s *Stacktrace) *[]EventFrame { return &s.Frames }, nil),
).carrying(KindObject, "registers").
	carrying(KindFlag, "snapshot").
	carrying(KindText, "instruction_addr_adjustment", "lang")

// stacktrace is the stack trace of an exception, a thread or a message.
func stacktrace[T any](at func(*T) **Stacktrace) row[T] {
	return pointer(KindStack, "stacktrace", Stacktraces, at).or("sentry.interfaces.Stacktrace")
}

// EventFrame is one frame of an error event; frames of profiles have fewer fields.
type EventFrame struct {
	Function        string
	Module          string
	Filename        string
	AbsPath         string
	Package         string
	Platform        string
	InstructionAddr jsonscan.Address
	AddrMode        string // "abs", or "rel:N": relative to image N of debug_meta.images
	Line            uint32 // 0 = none
	Column          uint32 // 0 = none
	InApp           jsonscan.Optional[bool]
	Native          jsonscan.Optional[bool] // java: a native method
	PreContext,
	PostContext []string // source lines around
	ContextLine string
	ParentIndex jsonscan.Optional[int64] // of the caller, -1 = none; see IsTree
	SampleCount jsonscan.Optional[int64] // of a frame of a tree, with its callees
	Rest        []NamedValue
}

// Frames: trust is that of an unwinder (cfi, fp, scan), function_id is from .NET, lock from
// Android's ANR events. vars are local variables, a list from PHP.
var Frames = newTable("frame", func(f *EventFrame) *[]NamedValue { return &f.Rest },
	text("function", func(f *EventFrame) *string { return &f.Function }),
	text("module", func(f *EventFrame) *string { return &f.Module }),
	text("filename", func(f *EventFrame) *string { return &f.Filename }),
	text("abs_path", func(f *EventFrame) *string { return &f.AbsPath }),
	position("lineno", func(f *EventFrame) *uint32 { return &f.Line }),
	position("colno", func(f *EventFrame) *uint32 { return &f.Column }),
	flag("in_app", func(f *EventFrame) *jsonscan.Optional[bool] { return &f.InApp }),
	flag("native", func(f *EventFrame) *jsonscan.Optional[bool] { return &f.Native }),
	text("package", func(f *EventFrame) *string { return &f.Package }),
	text("platform", func(f *EventFrame) *string { return &f.Platform }),
	address("instruction_addr", func(f *EventFrame) *jsonscan.Address { return &f.InstructionAddr }),
	text("addr_mode", func(f *EventFrame) *string { return &f.AddrMode }),
	integer("parent_index", func(f *EventFrame) *jsonscan.Optional[int64] { return &f.ParentIndex }),
	integer("sample_count", func(f *EventFrame) *jsonscan.Optional[int64] { return &f.SampleCount }),
	texts("pre_context", func(f *EventFrame) *[]string { return &f.PreContext }),
	text("context_line", func(f *EventFrame) *string { return &f.ContextLine }),
	texts("post_context", func(f *EventFrame) *[]string { return &f.PostContext }),
).carrying(KindText, "raw_function", "symbol", "file_revision", "trust", "lang").
	carrying(KindAddress, "function_id", "symbol_addr", "image_addr").
	carrying(KindFlag, "stack_start").
	carrying(KindMembers, "vars").
	carrying(KindObject, "lock", "data")

// IsTree reports whether the first and the last frame have a parent_index: the frames are the nodes
// of a call tree, depth first, and parent_index is the position of the caller in the list
// (sentry-cocoa, SentryMXCallStackTree+Parsing.swift, for hangs).
func (s *Stacktrace) IsTree() bool {
	n := len(s.Frames)
	return n > 0 && s.Frames[0].ParentIndex.Set && s.Frames[n-1].ParentIndex.Set
}

// Caller returns the position of the caller of a node, or -1. In a tree, callers come first.
func (s *Stacktrace) Caller(i int) int {
	if p := s.Frames[i].ParentIndex.Value; p >= 0 && p < int64(i) {
		return int(p)
	}
	return -1
}

// IsRelative reports whether an address mode makes addresses relative to an image, as .NET does
// ("rel:0"). Such an address means nothing without the image.
func IsRelative(addrMode string) bool { return strings.HasPrefix(addrMode, "rel") }

// StacktraceText returns a chain of exceptions as text: the thrown exception first, innermost frame
// first, then its causes. On the wire, both are in reverse order. Without frames, it returns "".
//
//	CheckoutError: order A-17 failed
//	    at checkout (shop/orders.py:42)
//	    at handle (shop/web.py:17)
//	Caused by: KeyError: 'SKU000017'
//	    at reserve (shop/stock.py:9)
func StacktraceText(chain []Exception, platform string) string {
	var text []byte
	frames := 0
	for i := len(chain) - 1; i >= 0; i-- {
		if len(text) > 0 {
			text = append(text, "Caused by: "...)
		}
		text = append(append(text, chain[i].Headline()...), '\n')
		if stack := chain[i].Stacktrace; stack != nil {
			frames += len(stack.Frames)
			text = appendFrames(text, stack, platform)
		}
	}
	if frames == 0 {
		return ""
	}
	return string(bytes.TrimSuffix(text, []byte{'\n'}))
}

// FramesText returns the frames of a stack as text, innermost first.
func FramesText(stack *Stacktrace, platform string) string {
	return string(bytes.TrimSuffix(appendFrames(nil, stack, platform), []byte{'\n'}))
}

// WithThreadStack returns the chain with the stack of the throwing thread if the thrown exception
// has no stack (Native, Cocoa and Android crashes). It does not modify the input.
func WithThreadStack(chain []Exception, threads []EventThread) []Exception {
	thrown := chain[len(chain)-1]
	if thrown.Stacktrace != nil {
		return chain
	}
	for _, thread := range threads {
		if thread.Threw(&thrown) && thread.Stacktrace != nil {
			thrown.Stacktrace = thread.Stacktrace
			return append(append([]Exception{}, chain[:len(chain)-1]...), thrown)
		}
	}
	return chain
}

// Threw reports whether an exception states that it is of a thread. If it states none, it is of the
// crashed one.
func (t *EventThread) Threw(e *Exception) bool {
	return t.ID == e.ThreadID && t.ID != "" || e.ThreadID == "" && t.Crashed.Value
}

// Headline returns "Type: value", or whichever of the two is present.
func (e *Exception) Headline() string {
	switch {
	case e.Type == "":
		return e.Value
	case e.Value == "":
		return e.Type
	}
	return e.Type + ": " + e.Value
}

// HasHeadline reports whether a text is the headline.
func (e *Exception) HasHeadline(text string) bool {
	rest, ok := strings.CutPrefix(text, e.Type)
	if ok && e.Type != "" && e.Value != "" {
		rest, ok = strings.CutPrefix(rest, ": ")
	}
	return ok && rest == e.Value
}

func appendFrames(dst []byte, stack *Stacktrace, platform string) []byte {
	if stack.IsTree() {
		return appendTree(dst, stack, platform)
	}
	for i := len(stack.Frames) - 1; i >= 0; i-- {
		dst = appendFrame(append(dst, "    at "...), &stack.Frames[i], platform)
	}
	return dst
}

func appendFrame(dst []byte, f *EventFrame, platform string) []byte {
	dst = append(dst, fullName(f, cmp.Or(f.Platform, platform))...)
	if position := framePosition(f); position != "" {
		dst = append(append(append(dst, " ("...), position...), ')')
	}
	return append(dst, '\n')
}

// appendTree appends a call tree as Apple's `sample` does: callers first, each callee indented,
// with its number of samples. No reader of stack traces mistakes the lines for a stack.
//
//	10 main (Shop)
//	  7 loadConfiguration (Shop)
//	  3 setupDatabase (Shop)
func appendTree(dst []byte, tree *Stacktrace, platform string) []byte {
	depths := make([]int, len(tree.Frames))
	for i := range tree.Frames {
		f := &tree.Frames[i]
		if caller := tree.Caller(i); caller >= 0 {
			depths[i] = depths[caller] + 1
		}
		dst = append(append(dst, "    "...), strings.Repeat("  ", min(depths[i], maxIndent))...)
		if f.SampleCount.Set {
			dst = append(appendInt(dst, f.SampleCount.Value), ' ')
		}
		dst = appendFrame(dst, f, platform)
	}
	return dst
}

// maxIndent bounds the indentation of a frame, so that the text grows with the number of frames.
const maxIndent = 32

// Name returns the function or, if there is none, the address.
func (f *EventFrame) Name() string {
	if f.Function != "" || !f.InstructionAddr.Set {
		return f.Function
	}
	address := "0x" + strconv.FormatUint(f.InstructionAddr.Value, 16)
	if IsRelative(f.AddrMode) {
		return f.AddrMode + "+" + address
	}
	return address
}

// fullName returns the name, for Java with its class, as in Java's own stack traces.
func fullName(f *EventFrame, platform string) string {
	if f.Function != "" && f.Module != "" && (platform == "java" || platform == "android") {
		return f.Module + "." + f.Function
	}
	return cmp.Or(f.Name(), f.Module, "<unknown>")
}

// framePosition returns the known part of file:line:column, or the library of a native frame.
func framePosition(f *EventFrame) string {
	position := cmp.Or(f.Filename, f.AbsPath, f.Package)
	if position == "" || f.Line == 0 {
		return position
	}
	position += ":" + strconv.FormatUint(uint64(f.Line), 10)
	if f.Column != 0 {
		position += ":" + strconv.FormatUint(uint64(f.Column), 10)
	}
	return position
}
