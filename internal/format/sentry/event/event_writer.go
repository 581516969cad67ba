// SPDX-License-Identifier: Apache-2.0

package event

import (
	"strconv"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// AppendEvent appends the payload of an "event" item to dst. It is the inverse of DecodeEvent.
func AppendEvent(dst []byte, e *ErrorEvent) []byte {
	return AppendEventLists(dst, e, e.appendExceptions, e.appendThreads)
}

// AppendEventLists is AppendEvent with functions that append the exceptions and the threads as JSON
// lists.
func AppendEventLists(dst []byte, e *ErrorEvent, exceptions, threads func(dst []byte) []byte) []byte {
	dst = append(dst, '{')
	dst = jsonscan.AppendText(dst, "event_id", e.EventID)
	dst = jsonscan.AppendText(dst, "type", e.Type)
	dst = appendTime(dst, "timestamp", e.Timestamp)
	dst = jsonscan.AppendText(dst, "platform", e.Platform)
	dst = jsonscan.AppendText(dst, "level", e.Level)
	dst = jsonscan.AppendText(dst, "logger", e.Logger)
	dst = jsonscan.AppendText(dst, "transaction", e.Transaction)
	if e.Source != "" {
		dst = append(jsonscan.AppendKey(dst, "transaction_info"), '{')
		dst = append(jsonscan.AppendTextAlways(dst, "source", e.Source), '}')
	}
	dst = jsonscan.AppendText(dst, "server_name", e.ServerName)
	dst = jsonscan.AppendText(dst, "release", e.Release)
	dst = jsonscan.AppendText(dst, "dist", e.Dist)
	dst = jsonscan.AppendText(dst, "environment", e.Environment)
	dst = appendSDK(dst, e.SDK)
	dst = e.Message.append(dst)
	dst = appendValues(dst, "exception", exceptions)
	dst = appendValues(dst, "threads", threads)
	dst = appendBreadcrumbs(dst, e.Breadcrumbs)
	dst = appendTexts(dst, "fingerprint", e.Fingerprint)
	dst = jsonscan.AppendRaw(dst, "modules", e.Modules)
	dst = appendTags(dst, "tags", e.Tags)
	dst = jsonscan.AppendRaw(dst, "extra", e.Extra)
	dst = appendNamed(dst, "user", e.User)
	dst = e.Request.append(dst)
	dst = e.appendContexts(dst)
	if len(e.Images) > 0 {
		dst = append(jsonscan.AppendKey(dst, "debug_meta"), '{')
		dst = append(jsonscan.AppendRaw(dst, "images", e.Images), '}')
	}
	return append(dst, '}')
}

func appendSDK(dst []byte, sdk sentry.ClientSDK) []byte {
	if sdk == (sentry.ClientSDK{}) {
		return dst
	}
	dst = append(jsonscan.AppendKey(dst, "sdk"), '{')
	dst = jsonscan.AppendText(dst, "name", sdk.Name)
	return append(jsonscan.AppendText(dst, "version", sdk.Version), '}')
}

func (m *Message) append(dst []byte) []byte {
	if m.Formatted == "" && m.Template == "" {
		return dst
	}
	dst = append(jsonscan.AppendKey(dst, "logentry"), '{')
	dst = jsonscan.AppendText(dst, "formatted", m.Formatted)
	dst = jsonscan.AppendText(dst, "message", m.Template)
	return append(jsonscan.AppendRaw(dst, "params", m.Params), '}')
}

func (e *ErrorEvent) appendContexts(dst []byte) []byte {
	before := len(dst)
	dst = append(jsonscan.AppendKey(dst, "contexts"), '{')
	empty := len(dst)
	dst = e.Trace.append(jsonscan.AppendKey(dst, "trace"))
	if dst[len(dst)-1] == ':' {
		dst = dst[:empty]
	}
	if len(dst) == empty && len(e.Contexts) == 0 {
		return dst[:before]
	}
	for i := range e.Contexts {
		dst = e.Contexts[i].append(dst)
	}
	return append(dst, '}')
}

// append appends the object, unless it is empty.
func (t *TraceContext) append(dst []byte) []byte {
	before := len(dst)
	dst = append(dst, '{')
	dst = jsonscan.AppendText(dst, "trace_id", t.TraceID)
	dst = jsonscan.AppendText(dst, "span_id", t.SpanID)
	dst = jsonscan.AppendText(dst, "parent_span_id", t.ParentSpanID)
	dst = jsonscan.AppendText(dst, "op", t.Op)
	dst = jsonscan.AppendText(dst, "origin", t.Origin)
	dst = jsonscan.AppendText(dst, "status", t.Status)
	if t.SampleRand.Set {
		dst = jsonscan.AppendFloat(jsonscan.AppendKey(dst, "sample_rand"), t.SampleRand.Value)
	}
	dst = appendNamed(dst, "data", t.Data)
	if len(dst) == before+1 {
		return dst[:before]
	}
	return append(dst, '}')
}

// appendValues appends a member with a list, unless it is empty.
func appendValues(dst []byte, key string, appendList func(dst []byte) []byte) []byte {
	before := len(dst)
	dst = append(jsonscan.AppendKey(dst, key), `{"values":`...)
	empty := len(dst) + len("[]")
	if dst = appendList(dst); len(dst) == empty {
		return dst[:before]
	}
	return append(dst, '}')
}

func (e *ErrorEvent) appendExceptions(dst []byte) []byte {
	dst = append(dst, '[')
	for i := range e.Exceptions {
		e := &e.Exceptions[i]
		dst = append(appendComma(dst), '{')
		dst = jsonscan.AppendText(dst, "type", e.Type)
		dst = jsonscan.AppendText(dst, "value", e.Value)
		dst = jsonscan.AppendText(dst, "module", e.Module)
		dst = jsonscan.AppendText(dst, "thread_id", e.ThreadID)
		dst = e.Mechanism.append(dst)
		dst = append(e.Stacktrace.append(dst), '}')
	}
	return append(dst, ']')
}

// appendComma separates the elements of the list at the end of dst.
func appendComma(dst []byte) []byte {
	if dst[len(dst)-1] == '[' {
		return dst
	}
	return append(dst, ',')
}

func (m *Mechanism) append(dst []byte) []byte {
	if m == nil {
		return dst
	}
	dst = append(jsonscan.AppendKey(dst, "mechanism"), '{')
	dst = jsonscan.AppendText(dst, "type", m.Type)
	dst = jsonscan.AppendText(dst, "description", m.Description)
	dst = jsonscan.AppendText(dst, "help_link", m.HelpLink)
	dst = jsonscan.AppendText(dst, "source", m.Source)
	dst = jsonscan.AppendFlag(dst, "handled", m.Handled)
	dst = jsonscan.AppendFlag(dst, "synthetic", m.Synthetic)
	dst = jsonscan.AppendFlag(dst, "is_exception_group", m.Group)
	dst = appendInt(dst, "exception_id", m.ExceptionID)
	dst = appendInt(dst, "parent_id", m.ParentID)
	dst = jsonscan.AppendRaw(dst, "meta", m.Meta)
	return append(jsonscan.AppendRaw(dst, "data", m.Data), '}')
}

func appendInt(dst []byte, key string, number jsonscan.Optional[int64]) []byte {
	if !number.Set {
		return dst
	}
	return strconv.AppendInt(jsonscan.AppendKey(dst, key), number.Value, 10)
}

func (s *Stacktrace) append(dst []byte) []byte {
	if s == nil {
		return dst
	}
	dst = append(jsonscan.AppendKey(dst, "stacktrace"), `{"frames":[`...)
	for i := range s.Frames {
		dst = s.Frames[i].append(appendComma(dst))
	}
	dst = append(dst, ']')
	dst = jsonscan.AppendRaw(dst, "registers", s.Registers)
	return append(jsonscan.AppendFlag(dst, "snapshot", s.Snapshot), '}')
}

func (f *EventFrame) append(dst []byte) []byte {
	dst = append(dst, '{')
	dst = jsonscan.AppendText(dst, "function", f.Function)
	dst = jsonscan.AppendText(dst, "raw_function", f.RawFunction)
	dst = jsonscan.AppendText(dst, "module", f.Module)
	dst = jsonscan.AppendText(dst, "filename", f.Filename)
	dst = jsonscan.AppendText(dst, "abs_path", f.AbsPath)
	dst = jsonscan.AppendText(dst, "package", f.Package)
	dst = jsonscan.AppendText(dst, "platform", f.Platform)
	if f.InstructionAddr.Set {
		dst = jsonscan.AppendAddress(dst, "instruction_addr", f.InstructionAddr.Value)
	}
	if f.SymbolAddr.Set {
		dst = jsonscan.AppendAddress(dst, "symbol_addr", f.SymbolAddr.Value)
	}
	dst = appendPosition(dst, "lineno", f.Line)
	dst = appendPosition(dst, "colno", f.Column)
	dst = jsonscan.AppendFlag(dst, "in_app", f.InApp)
	dst = jsonscan.AppendFlag(dst, "native", f.Native)
	dst = appendTexts(dst, "pre_context", f.PreContext)
	dst = jsonscan.AppendText(dst, "context_line", f.ContextLine)
	dst = appendTexts(dst, "post_context", f.PostContext)
	return append(jsonscan.AppendRaw(dst, "vars", f.Vars), '}')
}

// appendPosition appends a line or a column. 0 means none.
func appendPosition(dst []byte, key string, number uint32) []byte {
	if number == 0 {
		return dst
	}
	return strconv.AppendUint(jsonscan.AppendKey(dst, key), uint64(number), 10)
}

func (e *ErrorEvent) appendThreads(dst []byte) []byte {
	dst = append(dst, '[')
	for i := range e.Threads {
		t := &e.Threads[i]
		dst = append(appendComma(dst), '{')
		dst = jsonscan.AppendText(dst, "id", t.ID)
		dst = jsonscan.AppendText(dst, "name", t.Name)
		dst = jsonscan.AppendText(dst, "state", t.State)
		dst = appendInt(dst, "priority", t.Priority)
		dst = jsonscan.AppendFlag(dst, "crashed", t.Crashed)
		dst = jsonscan.AppendFlag(dst, "current", t.Current)
		dst = jsonscan.AppendFlag(dst, "main", t.Main)
		dst = jsonscan.AppendFlag(dst, "daemon", t.Daemon)
		dst = jsonscan.AppendRaw(dst, "held_locks", t.HeldLocks)
		dst = append(t.Stacktrace.append(dst), '}')
	}
	return append(dst, ']')
}
