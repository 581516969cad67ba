// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// This file reads the lists of maps that fromsentry/log_exceptions.go writes. There, the innermost
// frame comes first; in Sentry, it comes last.

// eachMap visits the maps of a list.
func eachMap(value pcommon.Value, visit func(pcommon.Map)) {
	if value.Type() != pcommon.ValueTypeSlice {
		return
	}
	for _, element := range value.Slice().All() {
		if element.Type() == pcommon.ValueTypeMap {
			visit(element.Map())
		}
	}
}

// ExceptionsOf returns the exceptions of an event.
func ExceptionsOf(value pcommon.Value) (chain []event.Exception) {
	eachMap(value, func(m pcommon.Map) {
		var e event.Exception
		for key, value := range m.All() {
			switch key {
			case "type":
				e.Type = value.AsString()
			case "value":
				e.Value = value.AsString()
			case "module":
				e.Module = value.AsString()
			case "thread_id":
				e.ThreadID = value.AsString()
			case "mechanism":
				e.Mechanism = mechanismOf(value)
			case "stacktrace":
				e.Stacktrace = stacktraceOf(value)
			}
		}
		chain = append(chain, e)
	})
	return chain
}

func mechanismOf(value pcommon.Value) *event.Mechanism {
	if value.Type() != pcommon.ValueTypeMap {
		return nil
	}
	m := &event.Mechanism{}
	for key, value := range value.Map().All() {
		switch key {
		case "type":
			m.Type = value.AsString()
		case "description":
			m.Description = value.AsString()
		case "help_link":
			m.HelpLink = value.AsString()
		case "source":
			m.Source = value.AsString()
		case "handled":
			m.Handled = flagOf(value)
		case "synthetic":
			m.Synthetic = flagOf(value)
		case "is_exception_group":
			m.Group = flagOf(value)
		case "exception_id":
			m.ExceptionID = intOf(value)
		case "parent_id":
			m.ParentID = intOf(value)
		case "meta":
			m.Meta = ofType(value, pcommon.ValueTypeMap)
		case "data":
			m.Data = ofType(value, pcommon.ValueTypeMap)
		}
	}
	return m
}

func stacktraceOf(value pcommon.Value) *event.Stacktrace {
	if value.Type() != pcommon.ValueTypeMap {
		return nil
	}
	s := &event.Stacktrace{}
	for key, value := range value.Map().All() {
		switch key {
		case "frames":
			if value.Type() == pcommon.ValueTypeSlice {
				s.Frames = make([]event.EventFrame, 0, value.Slice().Len())
			}
			eachMap(value, func(m pcommon.Map) { s.Frames = append(s.Frames, frameOf(m)) })
			slices.Reverse(s.Frames)
		case "registers":
			s.Registers = ofType(value, pcommon.ValueTypeMap)
		case "snapshot":
			s.Snapshot = flagOf(value)
		}
	}
	return s
}

func frameOf(m pcommon.Map) (f event.EventFrame) {
	for key, value := range m.All() {
		switch key {
		case "function":
			f.Function = value.AsString()
		case "raw_function":
			f.RawFunction = value.AsString()
		case "module":
			f.Module = value.AsString()
		case "filename":
			f.Filename = value.AsString()
		case "abs_path":
			f.AbsPath = value.AsString()
		case "package":
			f.Package = value.AsString()
		case "platform":
			f.Platform = value.AsString()
		case "instruction_addr":
			f.InstructionAddr = addressOf(value)
		case "symbol_addr":
			f.SymbolAddr = addressOf(value)
		case "lineno":
			f.Line = uint32(intOf(value).Value)
		case "colno":
			f.Column = uint32(intOf(value).Value)
		case "in_app":
			f.InApp = flagOf(value)
		case "native":
			f.Native = flagOf(value)
		case "pre_context":
			f.PreContext = textsOf(value)
		case "context_line":
			f.ContextLine = value.AsString()
		case "post_context":
			f.PostContext = textsOf(value)
		case "vars":
			f.Vars = attr.JsonOf(value)
		}
	}
	return f
}

// ThreadsOf returns the threads of an event.
func ThreadsOf(value pcommon.Value) (threads []event.EventThread) {
	eachMap(value, func(m pcommon.Map) {
		var t event.EventThread
		for key, value := range m.All() {
			switch key {
			case "id":
				t.ID = value.AsString()
			case "name":
				t.Name = value.AsString()
			case "state":
				t.State = value.AsString()
			case "priority":
				t.Priority = intOf(value)
			case "crashed":
				t.Crashed = flagOf(value)
			case "current":
				t.Current = flagOf(value)
			case "main":
				t.Main = flagOf(value)
			case "daemon":
				t.Daemon = flagOf(value)
			case "held_locks":
				t.HeldLocks = ofType(value, pcommon.ValueTypeMap)
			case "stacktrace":
				t.Stacktrace = stacktraceOf(value)
			}
		}
		threads = append(threads, t)
	})
	return threads
}

func flagOf(value pcommon.Value) (flag jsonscan.Optional[bool]) {
	if value.Type() == pcommon.ValueTypeBool {
		return jsonscan.Some(value.Bool())
	}
	return flag
}

func intOf(value pcommon.Value) (number jsonscan.Optional[int64]) {
	if value.Type() == pcommon.ValueTypeInt {
		return jsonscan.Some(value.Int())
	}
	return number
}

// addressOf parses a hex address.
func addressOf(value pcommon.Value) (address jsonscan.Address) {
	number, err := strconv.ParseUint(strings.TrimPrefix(value.AsString(), "0x"), 16, 64)
	return jsonscan.Address{Value: number, Set: err == nil}
}

func textsOf(value pcommon.Value) (texts []string) {
	if value.Type() != pcommon.ValueTypeSlice {
		return nil
	}
	for _, element := range value.Slice().All() {
		texts = append(texts, element.AsString())
	}
	return texts
}

// ofType returns the JSON of a value of the given type, or nil for other types.
func ofType(value pcommon.Value, kind pcommon.ValueType) []byte {
	if value.Type() != kind {
		return nil
	}
	return attr.JsonOf(value)
}
