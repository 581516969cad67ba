// SPDX-License-Identifier: Apache-2.0

package event

import "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"

// Exception is one error in the chain of an event.
// https://develop.sentry.dev/sdk/data-model/event-payloads/exception/
type Exception struct {
	Type       string // class or name of the error
	Value      string // its message
	Module     string // package of Type, if Type does not contain it
	ThreadID   string
	Mechanism  *Mechanism
	Stacktrace *Stacktrace
}

// Mechanism states how the SDK captured the exception, and its position in the chain.
type Mechanism struct {
	Type        string // generic, onerror, chained, instrument, …
	Description string
	HelpLink    string
	Source      string                  // member of the parent that holds this exception: __cause__, cause, errors[0]
	Handled     jsonscan.Optional[bool] // false = the program did not catch it
	Synthetic   jsonscan.Optional[bool] // true = created by the SDK, without an error object
	Group       jsonscan.Optional[bool] // true = one of several, such as AggregateError or ExceptionGroup
	ExceptionID jsonscan.Optional[int64]
	ParentID    jsonscan.Optional[int64]
	Meta        []byte // JSON object: signal, mach_exception, ns_error, errno
	Data        []byte // JSON object
}

// Stacktrace contains the frames in wire order, callers before callees, so the last frame is the
// current one. Stacks of profiles have the opposite order.
// https://develop.sentry.dev/sdk/data-model/event-payloads/stacktrace/
type Stacktrace struct {
	Frames    []EventFrame
	Registers []byte                  // JSON object, native crashes
	Snapshot  jsonscan.Optional[bool] // java: of a thread that kept running
}

// EventFrame is one frame of an error event; frames of profiles have fewer fields. Not decoded:
// fields that symbolication adds on the server (data, lock, symbol, trust) and the relocation of
// addresses (image_addr, addr_mode, function_id).
type EventFrame struct {
	Function    string
	RawFunction string // mangled name, if Function is demangled
	Module      string
	Filename    string
	AbsPath     string
	Package     string
	Platform    string
	InstructionAddr,
	SymbolAddr jsonscan.Address
	Line   uint32 // 0 = none
	Column uint32 // 0 = none
	InApp  jsonscan.Optional[bool]
	Native jsonscan.Optional[bool] // java: a native method
	PreContext,
	PostContext []string // source lines around
	ContextLine string
	Vars        []byte // JSON: local variables
}

// exceptions reads the chain in wire order: the innermost cause first, the thrown exception last.
// PHP's and Python's SDKs agree with Sentry's schema on this order.
func (l *reader) exceptions() (chain []Exception) {
	l.Values("exception", func() {
		if e, ok := l.exception(); ok {
			chain = append(chain, e)
		}
	})
	return chain
}

func (l *reader) exception() (e Exception, ok bool) {
	ok = l.Object("exception", func(key string) {
		switch key {
		case "type":
			e.Type = l.Text("exception.type")
		case "value":
			e.Value = l.exceptionValue()
		case "module":
			e.Module = l.Text("exception.module")
		case "thread_id":
			e.ThreadID = l.ID("exception.thread_id")
		case "mechanism":
			e.Mechanism = l.mechanism()
		case "stacktrace":
			e.Stacktrace = l.stacktrace()
		default:
			l.S.Skip()
		}
	})
	return e, ok && (e.Type != "" || e.Value != "" || e.Stacktrace != nil)
}

// exceptionValue reads text, or any other JSON as text, because Sentry's schema allows both
// ("JsonLenientString").
func (l *reader) exceptionValue() string {
	switch l.S.Peek() {
	case '{', '[':
		return string(jsonscan.ValidUTF8(l.S.Value()))
	}
	return l.Text("exception.value")
}

func (l *reader) mechanism() *Mechanism {
	m := &Mechanism{}
	if !l.Object("exception.mechanism", func(key string) {
		switch key {
		case "type":
			m.Type = l.Text("mechanism.type")
		case "description":
			m.Description = l.Text("mechanism.description")
		case "help_link":
			m.HelpLink = l.Text("mechanism.help_link")
		case "source":
			m.Source = l.Text("mechanism.source")
		case "handled":
			m.Handled = l.Flag("mechanism.handled")
		case "synthetic":
			m.Synthetic = l.Flag("mechanism.synthetic")
		case "is_exception_group":
			m.Group = l.Flag("mechanism.is_exception_group")
		case "exception_id":
			m.ExceptionID = l.Int("mechanism.exception_id")
		case "parent_id":
			m.ParentID = l.Int("mechanism.parent_id")
		case "meta":
			m.Meta = l.RawObject("mechanism.meta")
		case "data":
			m.Data = l.RawObject("mechanism.data")
		default:
			l.S.Skip()
		}
	}) {
		return nil
	}
	return m
}

func (l *reader) stacktrace() *Stacktrace {
	stack := &Stacktrace{}
	if !l.Object("stacktrace", func(key string) {
		switch key {
		case "frames":
			l.List("stacktrace.frames", func() {
				if frame, ok := l.eventFrame(); ok {
					stack.Frames = append(stack.Frames, frame)
				}
			})
		case "registers":
			stack.Registers = l.RawObject("stacktrace.registers")
		case "snapshot":
			stack.Snapshot = l.Flag("stacktrace.snapshot")
		default:
			l.S.Skip()
		}
	}) {
		return nil
	}
	return stack
}

func (l *reader) eventFrame() (f EventFrame, ok bool) {
	ok = l.Object("frame", func(key string) {
		switch key {
		case "function":
			f.Function = l.Text("frame.function")
		case "raw_function":
			f.RawFunction = l.Text("frame.raw_function")
		case "module":
			f.Module = l.Text("frame.module")
		case "filename":
			f.Filename = l.Text("frame.filename")
		case "abs_path":
			f.AbsPath = l.Text("frame.abs_path")
		case "package":
			f.Package = l.Text("frame.package")
		case "platform":
			f.Platform = l.Text("frame.platform")
		case "instruction_addr":
			f.InstructionAddr = l.address("frame.instruction_addr")
		case "symbol_addr":
			f.SymbolAddr = l.address("frame.symbol_addr")
		case "lineno":
			f.Line = l.Lineno("frame.lineno")
		case "colno":
			f.Column = l.Lineno("frame.colno")
		case "in_app":
			f.InApp = l.Flag("frame.in_app")
		case "native":
			f.Native = l.Flag("frame.native")
		case "pre_context":
			f.PreContext = l.Texts("frame.pre_context")
		case "post_context":
			f.PostContext = l.Texts("frame.post_context")
		case "context_line":
			f.ContextLine = l.Text("frame.context_line")
		case "vars":
			f.Vars = l.Raw()
		default:
			l.S.Skip()
		}
	})
	return f, ok
}

func (l *reader) address(field string) jsonscan.Address {
	address := l.S.Address()
	if address.Bad {
		l.AddFlaw(field)
	}
	return address
}
