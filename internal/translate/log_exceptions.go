package translate

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// The structured form of exceptions, threads and breadcrumbs: lists of maps with Sentry's own keys, in Sentry's order (an
// exception's cause stands before it). Only the frames are turned round, so that everywhere in the output the innermost
// comes first.

// putExceptions sets the headline, which is the thrown exception, the last one of the chain, and the chain itself.
func putExceptions(attrs pcommon.Map, event *sentry.ErrorEvent) {
	chain := event.Exceptions
	if len(chain) == 0 {
		return
	}
	chain = withThreadStack(chain, event.Threads)
	thrown := &chain[len(chain)-1]
	putText(attrs, keyExceptionType, thrown.Type)
	putText(attrs, keyExceptionMessage, thrown.Value)
	if hasFrames(chain) {
		putText(attrs, keyExceptionStacktrace, stacktraceText(chain, event.Platform))
	}
	list := attrs.PutEmptySlice(keyExceptions)
	for i := range event.Exceptions {
		fillException(list.AppendEmpty().SetEmptyMap(), &event.Exceptions[i])
	}
}

// withThreadStack gives the thrown exception the stack of the thread that threw it, where the SDK left it to the thread
// (native, cocoa and android crashes). The input is left as it is.
func withThreadStack(chain []sentry.Exception, threads []sentry.EventThread) []sentry.Exception {
	thrown := chain[len(chain)-1]
	if thrown.Stacktrace != nil {
		return chain
	}
	for _, thread := range threads {
		threw := thread.ID == thrown.ThreadID && thread.ID != "" || thrown.ThreadID == "" && thread.Crashed.Value
		if threw && thread.Stacktrace != nil {
			thrown.Stacktrace = thread.Stacktrace
			return append(append([]sentry.Exception{}, chain[:len(chain)-1]...), thrown)
		}
	}
	return chain
}

func hasFrames(chain []sentry.Exception) bool {
	for i := range chain {
		if chain[i].Stacktrace != nil && len(chain[i].Stacktrace.Frames) > 0 {
			return true
		}
	}
	return false
}

func fillException(m pcommon.Map, e *sentry.Exception) {
	putText(m, "type", e.Type)
	putText(m, "value", e.Value)
	putText(m, "module", e.Module)
	putDecimal(m, "thread_id", e.ThreadID)
	if e.Mechanism != nil {
		fillMechanism(m.PutEmptyMap("mechanism"), e.Mechanism)
	}
	putStacktrace(m, e.Stacktrace)
}

func fillMechanism(m pcommon.Map, mechanism *sentry.Mechanism) {
	putText(m, "type", mechanism.Type)
	putText(m, "description", mechanism.Description)
	putText(m, "help_link", mechanism.HelpLink)
	putText(m, "source", mechanism.Source)
	putFlag(m, "handled", mechanism.Handled)
	putFlag(m, "synthetic", mechanism.Synthetic)
	putFlag(m, "is_exception_group", mechanism.Group)
	putInt(m, "exception_id", mechanism.ExceptionID)
	putInt(m, "parent_id", mechanism.ParentID)
	putRaw(m, "meta", mechanism.Meta)
	putRaw(m, "data", mechanism.Data)
}

func putStacktrace(m pcommon.Map, stack *sentry.Stacktrace) {
	if stack == nil {
		return
	}
	m = m.PutEmptyMap("stacktrace")
	frames := m.PutEmptySlice("frames")
	frames.EnsureCapacity(len(stack.Frames))
	for i := len(stack.Frames) - 1; i >= 0; i-- {
		fillFrame(frames.AppendEmpty().SetEmptyMap(), &stack.Frames[i])
	}
	putRaw(m, "registers", stack.Registers)
	putFlag(m, "snapshot", stack.Snapshot)
}

func fillFrame(m pcommon.Map, f *sentry.EventFrame) {
	putText(m, "function", f.Function)
	putText(m, "raw_function", f.RawFunction)
	putText(m, "module", f.Module)
	putText(m, "filename", f.Filename)
	putText(m, "abs_path", f.AbsPath)
	putNumber(m, "lineno", f.Line)
	putNumber(m, "colno", f.Column)
	putFlag(m, "in_app", f.InApp)
	putFlag(m, "native", f.Native)
	putText(m, "package", f.Package)
	putText(m, "platform", f.Platform)
	putAddress(m, "instruction_addr", f.InstructionAddr)
	putAddress(m, "symbol_addr", f.SymbolAddr)
	putTexts(m, "pre_context", f.PreContext)
	putText(m, "context_line", f.ContextLine)
	putTexts(m, "post_context", f.PostContext)
	putRaw(m, "vars", f.Vars)
}

func putThreads(attrs pcommon.Map, threads []sentry.EventThread) {
	if len(threads) == 0 {
		return
	}
	list := attrs.PutEmptySlice(keyThreads)
	for i := range threads {
		t, m := &threads[i], list.AppendEmpty().SetEmptyMap()
		putDecimal(m, "id", t.ID)
		putText(m, "name", t.Name)
		putText(m, "state", t.State)
		putInt(m, "priority", t.Priority)
		putFlag(m, "crashed", t.Crashed)
		putFlag(m, "current", t.Current)
		putFlag(m, "main", t.Main)
		putFlag(m, "daemon", t.Daemon)
		putRaw(m, "held_locks", t.HeldLocks)
		putStacktrace(m, t.Stacktrace)
	}
}

func putBreadcrumbs(attrs pcommon.Map, crumbs []sentry.Breadcrumb, src Source) {
	if len(crumbs) == 0 {
		return
	}
	list := attrs.PutEmptySlice(keyBreadcrumbs)
	for i := range crumbs {
		b, m := &crumbs[i], list.AppendEmpty().SetEmptyMap()
		if b.Timestamp.Set {
			m.PutInt("time_unix_nano", int64(src.unixNano(b.Timestamp)))
		}
		putText(m, "type", b.Type)
		putText(m, "category", b.Category)
		putText(m, "level", b.Level)
		putText(m, "message", b.Message)
		putText(m, "event_id", b.EventID)
		putRaw(m, "data", b.Data)
	}
}

func putFlag(m pcommon.Map, key string, flag sentry.Optional[bool]) {
	if flag.Set {
		m.PutBool(key, flag.Value)
	}
}

func putInt(m pcommon.Map, key string, number sentry.Optional[int64]) {
	if number.Set {
		m.PutInt(key, number.Value)
	}
}

// putNumber sets a line or column; 0 is none.
func putNumber(m pcommon.Map, key string, number uint32) {
	if number != 0 {
		m.PutInt(key, int64(number))
	}
}

func putTexts(m pcommon.Map, key string, texts []string) {
	if len(texts) == 0 {
		return
	}
	list := m.PutEmptySlice(key)
	for _, text := range texts {
		list.AppendEmpty().SetStr(text)
	}
}

// putDecimal sets an int where the text is the canonical decimal of an int64, else a string, as thread ids are everywhere.
func putDecimal(m pcommon.Map, key, text string) {
	if text == "" {
		return
	}
	if number, ok := canonicalInt(text); ok {
		m.PutInt(key, number)
		return
	}
	putText(m, key, text)
}
