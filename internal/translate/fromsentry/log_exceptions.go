// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// This file translates exceptions and threads to lists of maps with Sentry's own keys, in Sentry's
// order (a cause before its effect). Only frames are reversed, because the innermost frame comes
// first everywhere in the output.

// putExceptions sets the chain and its headline, the last exception of the chain, which is the one
// that was thrown.
func putExceptions(attrs pcommon.Map, e *event.ErrorEvent) {
	chain := e.Exceptions
	if len(chain) == 0 {
		return
	}
	chain = event.WithThreadStack(chain, e.Threads)
	thrown := &chain[len(chain)-1]
	attr.PutText(attrs, semconv.ExceptionType, thrown.Type)
	attr.PutText(attrs, semconv.ExceptionMessage, thrown.Value)
	if event.HasFrames(chain) {
		attr.PutText(attrs, semconv.ExceptionStacktrace, event.StacktraceText(chain, e.Platform))
	}
	list := attrs.PutEmptySlice(semconv.SentryExceptions)
	for i := range e.Exceptions {
		fillException(list.AppendEmpty().SetEmptyMap(), &e.Exceptions[i])
	}
}

func fillException(m pcommon.Map, e *event.Exception) {
	attr.PutText(m, "type", e.Type)
	attr.PutText(m, "value", e.Value)
	attr.PutText(m, "module", e.Module)
	attr.PutDecimal(m, "thread_id", e.ThreadID)
	if e.Mechanism != nil {
		fillMechanism(m.PutEmptyMap("mechanism"), e.Mechanism)
	}
	putStacktrace(m, e.Stacktrace)
}

func fillMechanism(m pcommon.Map, mechanism *event.Mechanism) {
	attr.PutText(m, "type", mechanism.Type)
	attr.PutText(m, "description", mechanism.Description)
	attr.PutText(m, "help_link", mechanism.HelpLink)
	attr.PutText(m, "source", mechanism.Source)
	putFlag(m, "handled", mechanism.Handled)
	putFlag(m, "synthetic", mechanism.Synthetic)
	putFlag(m, "is_exception_group", mechanism.Group)
	putInt(m, "exception_id", mechanism.ExceptionID)
	putInt(m, "parent_id", mechanism.ParentID)
	attr.PutRaw(m, "meta", mechanism.Meta)
	attr.PutRaw(m, "data", mechanism.Data)
}

func putStacktrace(m pcommon.Map, stack *event.Stacktrace) {
	if stack == nil {
		return
	}
	m = m.PutEmptyMap("stacktrace")
	frames := m.PutEmptySlice("frames")
	frames.EnsureCapacity(len(stack.Frames))
	for i := len(stack.Frames) - 1; i >= 0; i-- {
		fillFrame(frames.AppendEmpty().SetEmptyMap(), &stack.Frames[i])
	}
	attr.PutRaw(m, "registers", stack.Registers)
	putFlag(m, "snapshot", stack.Snapshot)
}

func fillFrame(m pcommon.Map, f *event.EventFrame) {
	attr.PutText(m, "function", f.Function)
	attr.PutText(m, "raw_function", f.RawFunction)
	attr.PutText(m, "module", f.Module)
	attr.PutText(m, "filename", f.Filename)
	attr.PutText(m, "abs_path", f.AbsPath)
	putNumber(m, "lineno", f.Line)
	putNumber(m, "colno", f.Column)
	putFlag(m, "in_app", f.InApp)
	putFlag(m, "native", f.Native)
	attr.PutText(m, "package", f.Package)
	attr.PutText(m, "platform", f.Platform)
	putAddress(m, "instruction_addr", f.InstructionAddr)
	putAddress(m, "symbol_addr", f.SymbolAddr)
	putTexts(m, "pre_context", f.PreContext)
	attr.PutText(m, "context_line", f.ContextLine)
	putTexts(m, "post_context", f.PostContext)
	attr.PutRaw(m, "vars", f.Vars)
}

func putThreads(attrs pcommon.Map, threads []event.EventThread) {
	if len(threads) == 0 {
		return
	}
	list := attrs.PutEmptySlice(semconv.SentryThreads)
	for i := range threads {
		t, m := &threads[i], list.AppendEmpty().SetEmptyMap()
		attr.PutDecimal(m, "id", t.ID)
		attr.PutText(m, "name", t.Name)
		attr.PutText(m, "state", t.State)
		putInt(m, "priority", t.Priority)
		putFlag(m, "crashed", t.Crashed)
		putFlag(m, "current", t.Current)
		putFlag(m, "main", t.Main)
		putFlag(m, "daemon", t.Daemon)
		attr.PutRaw(m, "held_locks", t.HeldLocks)
		putStacktrace(m, t.Stacktrace)
	}
}

func putFlag(m pcommon.Map, key string, flag jsonscan.Optional[bool]) {
	if flag.Set {
		m.PutBool(key, flag.Value)
	}
}

func putInt(m pcommon.Map, key string, number jsonscan.Optional[int64]) {
	if number.Set {
		m.PutInt(key, number.Value)
	}
}

// putNumber sets a line or a column. 0 means none.
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

func putAddress(m pcommon.Map, key string, address jsonscan.Address) {
	if address.Set {
		m.PutStr(key, addressText(address.Value))
	}
}
