package sentry

// Exception is one error of an event's chain.
// https://develop.sentry.dev/sdk/data-model/event-payloads/exception/
type Exception struct {
	Type       string // class or name of the error
	Value      string // its message
	Module     string // package of Type, where Type does not tell
	ThreadID   string
	Mechanism  *Mechanism
	Stacktrace *Stacktrace
}

// Mechanism says how the SDK came by the exception, and how the chain hangs together.
type Mechanism struct {
	Type        string // generic, onerror, chained, instrument, …
	Description string
	HelpLink    string
	Source      string         // what of the parent holds this exception: __cause__, cause, errors[0]
	Handled     Optional[bool] // false = the program did not catch it
	Synthetic   Optional[bool] // true = made by the SDK, with no error object behind it
	Group       Optional[bool] // true = one of several, such as AggregateError or ExceptionGroup
	ExceptionID Optional[int64]
	ParentID    Optional[int64]
	Meta        []byte // JSON object: signal, mach_exception, ns_error, errno
	Data        []byte // JSON object
}

// Stacktrace holds the frames in the order of the wire: callers before callees, so the last one is where it happened. The
// stacks of profiles are the other way round.
// https://develop.sentry.dev/sdk/data-model/event-payloads/stacktrace/
type Stacktrace struct {
	Frames    []EventFrame
	Registers []byte         // JSON object, native crashes
	Snapshot  Optional[bool] // java: of a thread that went on running
}

// EventFrame is one frame of an error event: those of profiles say less. Not decoded: what symbolication adds on the server
// (data, lock, symbol, trust) and the relocation of addresses (image_addr, addr_mode, function_id).
type EventFrame struct {
	Function    string
	RawFunction string // as in the binary, where Function is demangled
	Module      string
	Filename    string
	AbsPath     string
	Package     string
	Platform    string
	InstructionAddr,
	SymbolAddr Address
	Line   uint32 // 0 = none
	Column uint32 // 0 = none
	InApp  Optional[bool]
	Native Optional[bool] // java: a native method
	PreContext,
	PostContext []string // source lines around
	ContextLine string
	Vars        []byte // JSON: local variables
}

// exceptions reads the chain in the order of the wire: the innermost cause first, the thrown one last. PHP's and python's
// SDKs agree with Sentry's schema on this; nothing is reordered.
func (l *loose) exceptions() (chain []Exception) {
	l.values("exception", func() {
		if e, ok := l.exception(); ok {
			chain = append(chain, e)
		}
	})
	return chain
}

func (l *loose) exception() (e Exception, ok bool) {
	ok = l.object("exception", func(key string) {
		switch key {
		case "type":
			e.Type = l.text("exception.type")
		case "value":
			e.Value = l.exceptionValue()
		case "module":
			e.Module = l.text("exception.module")
		case "thread_id":
			e.ThreadID = l.id("exception.thread_id")
		case "mechanism":
			e.Mechanism = l.mechanism()
		case "stacktrace":
			e.Stacktrace = l.stacktrace()
		default:
			l.s.skip()
		}
	})
	return e, ok && (e.Type != "" || e.Value != "" || e.Stacktrace != nil)
}

// exceptionValue takes text, or any other JSON as its text: Sentry's schema allows that here ("JsonLenientString").
func (l *loose) exceptionValue() string {
	switch l.s.peek() {
	case '{', '[':
		return string(validUTF8(l.s.value()))
	}
	return l.text("exception.value")
}

func (l *loose) mechanism() *Mechanism {
	m := &Mechanism{}
	if !l.object("exception.mechanism", func(key string) {
		switch key {
		case "type":
			m.Type = l.text("mechanism.type")
		case "description":
			m.Description = l.text("mechanism.description")
		case "help_link":
			m.HelpLink = l.text("mechanism.help_link")
		case "source":
			m.Source = l.text("mechanism.source")
		case "handled":
			m.Handled = l.flag("mechanism.handled")
		case "synthetic":
			m.Synthetic = l.flag("mechanism.synthetic")
		case "is_exception_group":
			m.Group = l.flag("mechanism.is_exception_group")
		case "exception_id":
			m.ExceptionID = l.int("mechanism.exception_id")
		case "parent_id":
			m.ParentID = l.int("mechanism.parent_id")
		case "meta":
			m.Meta = l.rawObject("mechanism.meta")
		case "data":
			m.Data = l.rawObject("mechanism.data")
		default:
			l.s.skip()
		}
	}) {
		return nil
	}
	return m
}

func (l *loose) stacktrace() *Stacktrace {
	stack := &Stacktrace{}
	if !l.object("stacktrace", func(key string) {
		switch key {
		case "frames":
			l.list("stacktrace.frames", func() {
				if frame, ok := l.eventFrame(); ok {
					stack.Frames = append(stack.Frames, frame)
				}
			})
		case "registers":
			stack.Registers = l.rawObject("stacktrace.registers")
		case "snapshot":
			stack.Snapshot = l.flag("stacktrace.snapshot")
		default:
			l.s.skip()
		}
	}) {
		return nil
	}
	return stack
}

func (l *loose) eventFrame() (f EventFrame, ok bool) {
	ok = l.object("frame", func(key string) {
		switch key {
		case "function":
			f.Function = l.text("frame.function")
		case "raw_function":
			f.RawFunction = l.text("frame.raw_function")
		case "module":
			f.Module = l.text("frame.module")
		case "filename":
			f.Filename = l.text("frame.filename")
		case "abs_path":
			f.AbsPath = l.text("frame.abs_path")
		case "package":
			f.Package = l.text("frame.package")
		case "platform":
			f.Platform = l.text("frame.platform")
		case "instruction_addr":
			f.InstructionAddr = l.address("frame.instruction_addr")
		case "symbol_addr":
			f.SymbolAddr = l.address("frame.symbol_addr")
		case "lineno":
			f.Line = l.lineno("frame.lineno")
		case "colno":
			f.Column = l.lineno("frame.colno")
		case "in_app":
			f.InApp = l.flag("frame.in_app")
		case "native":
			f.Native = l.flag("frame.native")
		case "pre_context":
			f.PreContext = l.texts("frame.pre_context")
		case "post_context":
			f.PostContext = l.texts("frame.post_context")
		case "context_line":
			f.ContextLine = l.text("frame.context_line")
		case "vars":
			f.Vars = l.raw()
		default:
			l.s.skip()
		}
	})
	return f, ok
}

func (l *loose) address(field string) Address {
	address := l.s.address()
	if address.Bad {
		l.flaw(field)
	}
	return address
}
