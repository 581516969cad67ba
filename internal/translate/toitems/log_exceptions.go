// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// This file writes the lists of maps that fromsentry/log_exceptions.go creates: exceptions and threads. Their members have Sentry's names.
// There, the innermost frame comes first; in Sentry, it comes last.
//
// It writes JSON without structs in between: an event has hundreds of such members, and reading them into structs took half of the time.

// form is the form of a member in Sentry's schema. Members of another form are omitted.
type form int

const (
	isUnknown  form = iota // not in the schema
	isText                 // any scalar, as text
	isFlag                 // boolean
	isWhole                // integer
	isPosition             // line or column; 0 = none
	isAddress              // hex text
	isTexts                // list of texts
	isObject               // any object
	isAnything
	isMechanism
	isStacktrace
	isFrames
)

func formInException(name string) form {
	switch name {
	case "type", "value", "module", "thread_id":
		return isText
	case "mechanism":
		return isMechanism
	case "stacktrace":
		return isStacktrace
	}
	return isUnknown
}

func formInMechanism(name string) form {
	switch name {
	case "type", "description", "help_link", "source":
		return isText
	case "handled", "synthetic", "is_exception_group":
		return isFlag
	case "exception_id", "parent_id":
		return isWhole
	case "meta", "data":
		return isObject
	}
	return isUnknown
}

func formInThread(name string) form {
	switch name {
	case "id", "name", "state":
		return isText
	case "priority":
		return isWhole
	case "crashed", "current", "main", "daemon":
		return isFlag
	case "held_locks":
		return isObject
	case "stacktrace":
		return isStacktrace
	}
	return isUnknown
}

func formInStacktrace(name string) form {
	switch name {
	case "frames":
		return isFrames
	case "registers":
		return isObject
	case "snapshot":
		return isFlag
	}
	return isUnknown
}

func formInFrame(name string) form {
	switch name {
	case "function", "raw_function", "module", "filename", "abs_path", "package", "platform", "context_line":
		return isText
	case "lineno", "colno":
		return isPosition
	case "in_app", "native":
		return isFlag
	case "pre_context", "post_context":
		return isTexts
	case "vars":
		return isAnything
	case "instruction_addr", "symbol_addr":
		return isAddress
	}
	return isUnknown
}

// list returns the maps of a list as JSON, or nil if there are none. The result shares the memory of e.lists.
func (e *logExporter) list(value pcommon.Value, formOf func(name string) form) []byte {
	if value.Type() != pcommon.ValueTypeSlice {
		return nil
	}
	start := len(e.lists)
	e.lists = appendMaps(e.lists, value.Slice(), formOf)
	if len(e.lists) == start+len("[]") {
		return nil
	}
	return e.lists[start:len(e.lists):len(e.lists)]
}

func appendMaps(dst []byte, list pcommon.Slice, formOf func(name string) form) []byte {
	dst = append(dst, '[')
	for i := range list.Len() {
		dst = appendMap(dst, list.At(i), formOf)
	}
	return append(dst, ']')
}

// appendFrames appends the frames in reverse order.
func appendFrames(dst []byte, list pcommon.Slice) []byte {
	dst = append(dst, '[')
	for i := list.Len() - 1; i >= 0; i-- {
		dst = appendMap(dst, list.At(i), formInFrame)
	}
	return append(dst, ']')
}

// appendMap appends an element of the list at the end of dst, unless the element is no map.
func appendMap(dst []byte, value pcommon.Value, formOf func(name string) form) []byte {
	if value.Type() != pcommon.ValueTypeMap {
		return dst
	}
	if dst[len(dst)-1] != '[' {
		dst = append(dst, ',')
	}
	return appendMembers(append(dst, '{'), value.Map(), formOf)
}

// appendMembers appends the members of an object and its end.
func appendMembers(dst []byte, m pcommon.Map, formOf func(name string) form) []byte {
	for name, value := range m.All() {
		dst = appendMember(dst, name, value, formOf(name))
	}
	return append(dst, '}')
}

func appendMember(dst []byte, name string, value pcommon.Value, is form) []byte {
	switch is {
	case isText:
		content := value.Str()
		if content == "" {
			content = value.AsString() // of another type
		}
		return jsonscan.AppendText(dst, name, content)
	case isFlag:
		if value.Type() == pcommon.ValueTypeBool {
			return strconv.AppendBool(jsonscan.AppendKey(dst, name), value.Bool())
		}
	case isWhole:
		if value.Type() == pcommon.ValueTypeInt {
			return strconv.AppendInt(jsonscan.AppendKey(dst, name), value.Int(), 10)
		}
	case isPosition:
		if number := uint32(value.Int()); number != 0 {
			return strconv.AppendUint(jsonscan.AppendKey(dst, name), uint64(number), 10)
		}
	case isAddress:
		if number, err := strconv.ParseUint(strings.TrimPrefix(value.AsString(), "0x"), 16, 64); err == nil {
			return jsonscan.AppendAddress(dst, name, number)
		}
	case isTexts:
		return appendTexts(dst, name, value)
	case isObject:
		if value.Type() == pcommon.ValueTypeMap {
			return attr.AppendJSON(jsonscan.AppendKey(dst, name), value)
		}
	case isAnything:
		return attr.AppendJSON(jsonscan.AppendKey(dst, name), value)
	case isMechanism:
		if value.Type() == pcommon.ValueTypeMap {
			return appendMembers(append(jsonscan.AppendKey(dst, name), '{'), value.Map(), formInMechanism)
		}
	case isStacktrace:
		return appendStacktrace(dst, name, value)
	case isFrames:
		if value.Type() == pcommon.ValueTypeSlice {
			return appendFrames(jsonscan.AppendKey(dst, name), value.Slice())
		}
	}
	return dst
}

// appendStacktrace appends a member with frames, which Sentry requires.
func appendStacktrace(dst []byte, name string, value pcommon.Value) []byte {
	if value.Type() != pcommon.ValueTypeMap {
		return dst
	}
	dst = append(jsonscan.AppendKey(dst, name), '{')
	if list, ok := value.Map().Get("frames"); !ok || list.Type() != pcommon.ValueTypeSlice {
		dst = append(dst, `"frames":[]`...)
	}
	return appendMembers(dst, value.Map(), formInStacktrace)
}

func appendTexts(dst []byte, name string, value pcommon.Value) []byte {
	if value.Type() != pcommon.ValueTypeSlice || value.Slice().Len() == 0 {
		return dst
	}
	dst = append(jsonscan.AppendKey(dst, name), '[')
	for i, element := range value.Slice().All() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonscan.AppendJSONText(dst, element.AsString())
	}
	return append(dst, ']')
}

// ExceptionsOf returns the exceptions of an event. There is one for each map of the list.
func ExceptionsOf(list pcommon.Value) (all []event.Exception) {
	eachMap(list, func(m pcommon.Map) {
		var x event.Exception
		if e := decode("exception", m, formInException); len(e.Exceptions) == 1 {
			x = e.Exceptions[0]
		}
		all = append(all, x)
	})
	return all
}

// ThreadsOf returns the threads of an event. There is one for each map of the list.
func ThreadsOf(list pcommon.Value) (all []event.EventThread) {
	eachMap(list, func(m pcommon.Map) {
		var x event.EventThread
		if e := decode("threads", m, formInThread); len(e.Threads) == 1 {
			x = e.Threads[0]
		}
		all = append(all, x)
	})
	return all
}

// eachMap visits the maps of a list.
func eachMap(list pcommon.Value, visit func(pcommon.Map)) {
	if list.Type() != pcommon.ValueTypeSlice {
		return
	}
	for _, element := range list.Slice().All() {
		if element.Type() == pcommon.ValueTypeMap {
			visit(element.Map())
		}
	}
}

// decode decodes an event with one element in a list.
func decode(field string, m pcommon.Map, formOf func(name string) form) *event.ErrorEvent {
	payload := append([]byte(`{"`+field+`":[`), '{')
	e, err := event.DecodeEvent(append(appendMembers(payload, m, formOf), `]}`...))
	if err != nil {
		return &event.ErrorEvent{}
	}
	return e
}
