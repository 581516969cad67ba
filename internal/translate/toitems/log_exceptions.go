// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
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
func ExceptionsOf(value pcommon.Value) []event.Exception {
	var e logExporter
	e.exceptions(value, &e.item)
	return e.item.Exceptions
}

// ThreadsOf returns the threads of an event.
func ThreadsOf(value pcommon.Value) []event.EventThread {
	var e logExporter
	e.threads(value, &e.item)
	return e.item.Threads
}

// exceptions appends the exceptions of an event.
func (e *logExporter) exceptions(value pcommon.Value, out *event.ErrorEvent) {
	eachMap(value, func(m pcommon.Map) {
		out.Exceptions = append(out.Exceptions, event.Exception{})
		x := &out.Exceptions[len(out.Exceptions)-1]
		for key, value := range m.All() {
			switch key {
			case "type":
				x.Type = value.AsString()
			case "value":
				x.Value = value.AsString()
			case "module":
				x.Module = value.AsString()
			case "thread_id":
				x.ThreadID = value.AsString()
			case "mechanism":
				x.Mechanism = e.mechanism(value)
			case "stacktrace":
				x.Stacktrace = e.stacktrace(value)
			}
		}
	})
}

func (e *logExporter) mechanism(value pcommon.Value) *event.Mechanism {
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
			m.Meta = e.ofType(value, pcommon.ValueTypeMap)
		case "data":
			m.Data = e.ofType(value, pcommon.ValueTypeMap)
		}
	}
	return m
}

func (e *logExporter) stacktrace(value pcommon.Value) *event.Stacktrace {
	if value.Type() != pcommon.ValueTypeMap {
		return nil
	}
	s := &event.Stacktrace{}
	for key, value := range value.Map().All() {
		switch key {
		case "frames":
			s.Frames = e.stack(value)
		case "registers":
			s.Registers = e.ofType(value, pcommon.ValueTypeMap)
		case "snapshot":
			s.Snapshot = flagOf(value)
		}
	}
	return s
}

// stack returns frames that share the memory of e.frames.
func (e *logExporter) stack(value pcommon.Value) []event.EventFrame {
	if value.Type() != pcommon.ValueTypeSlice {
		return nil
	}
	start := len(e.frames)
	for i := value.Slice().Len() - 1; i >= 0; i-- {
		if frame := value.Slice().At(i); frame.Type() == pcommon.ValueTypeMap {
			e.frames = append(e.frames, event.EventFrame{})
			e.frame(frame.Map(), &e.frames[len(e.frames)-1])
		}
	}
	return slices.Clip(e.frames[start:])
}

func (e *logExporter) frame(m pcommon.Map, f *event.EventFrame) {
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
			f.PreContext = e.textsOf(value)
		case "context_line":
			f.ContextLine = value.AsString()
		case "post_context":
			f.PostContext = e.textsOf(value)
		case "vars":
			f.Vars = e.scratch.JSON(value)
		}
	}
}

// threads appends the threads of an event.
func (e *logExporter) threads(value pcommon.Value, out *event.ErrorEvent) {
	eachMap(value, func(m pcommon.Map) {
		out.Threads = append(out.Threads, event.EventThread{})
		t := &out.Threads[len(out.Threads)-1]
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
				t.HeldLocks = e.ofType(value, pcommon.ValueTypeMap)
			case "stacktrace":
				t.Stacktrace = e.stacktrace(value)
			}
		}
	})
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

// textsOf returns the texts of a list. The result shares the memory of e.texts.
func (e *logExporter) textsOf(value pcommon.Value) []string {
	if value.Type() != pcommon.ValueTypeSlice {
		return nil
	}
	start := len(e.texts)
	for _, element := range value.Slice().All() {
		e.texts = append(e.texts, element.AsString())
	}
	return slices.Clip(e.texts[start:])
}

// ofType returns the JSON of a value of the given type, or nil for other types.
func (e *logExporter) ofType(value pcommon.Value, kind pcommon.ValueType) []byte {
	if value.Type() != kind {
		return nil
	}
	return e.scratch.JSON(value)
}
