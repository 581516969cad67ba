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

// This file writes the lists of maps that fromsentry/log_exceptions.go creates: exceptions and
// threads. Their members have Sentry's names. There, the innermost frame comes first; in Sentry, it
// comes last.
//
// It writes JSON without structs in between: an event has hundreds of such members, and reading
// them into structs took half of the time.

// appendMember appends a member of one of the objects of Sentry's schema. It omits members that are
// not in the schema, or have another form.
type appendMember func(dst []byte, name string, value pcommon.Value) []byte

func inException(dst []byte, name string, value pcommon.Value) []byte {
	switch name {
	case "type", "value", "module", "thread_id":
		return appendText(dst, name, value)
	case "mechanism":
		return appendObject(dst, name, value, inMechanism)
	case "stacktrace":
		return appendStacktrace(dst, name, value)
	}
	return dst
}

func inMechanism(dst []byte, name string, value pcommon.Value) []byte {
	switch name {
	case "type", "description", "help_link", "source":
		return appendText(dst, name, value)
	case "handled", "synthetic", "is_exception_group":
		return appendFlag(dst, name, value)
	case "exception_id", "parent_id":
		return appendWhole(dst, name, value)
	case "meta", "data":
		return appendAnyObject(dst, name, value)
	}
	return dst
}

func inThread(dst []byte, name string, value pcommon.Value) []byte {
	switch name {
	case "id", "name", "state":
		return appendText(dst, name, value)
	case "priority":
		return appendWhole(dst, name, value)
	case "crashed", "current", "main", "daemon":
		return appendFlag(dst, name, value)
	case "held_locks":
		return appendAnyObject(dst, name, value)
	case "stacktrace":
		return appendStacktrace(dst, name, value)
	}
	return dst
}

func inStacktrace(dst []byte, name string, value pcommon.Value) []byte {
	switch name {
	case "frames":
		return appendFrames(dst, name, value)
	case "registers":
		return appendAnyObject(dst, name, value)
	case "snapshot":
		return appendFlag(dst, name, value)
	}
	return dst
}

func inFrame(dst []byte, name string, value pcommon.Value) []byte {
	switch name {
	case "function", "raw_function", "module", "filename", "abs_path", "package", "platform", "context_line":
		return appendText(dst, name, value)
	case "lineno", "colno":
		return appendPosition(dst, name, value)
	case "in_app", "native":
		return appendFlag(dst, name, value)
	case "pre_context", "post_context":
		return appendTexts(dst, name, value)
	case "vars":
		return attr.AppendJSON(jsonscan.AppendKey(dst, name), value)
	case "instruction_addr", "symbol_addr":
		return appendAddress(dst, name, value)
	}
	return dst
}

// none is a value that is not a list.
var none = pcommon.NewValueEmpty()

func (e *logExporter) appendExceptions(dst []byte) []byte {
	return appendMaps(dst, e.exceptions, inException)
}

func (e *logExporter) appendThreads(dst []byte) []byte {
	return appendMaps(dst, e.threads, inThread)
}

// appendMaps appends the maps of a list. Other values are an empty list.
func appendMaps(dst []byte, list pcommon.Value, member appendMember) []byte {
	dst = append(dst, '[')
	if list.Type() == pcommon.ValueTypeSlice {
		for i := range list.Slice().Len() {
			dst = appendMap(dst, list.Slice().At(i), member)
		}
	}
	return append(dst, ']')
}

// appendMap appends an element of the list at the end of dst, unless the element is no map.
func appendMap(dst []byte, value pcommon.Value, member appendMember) []byte {
	if value.Type() != pcommon.ValueTypeMap {
		return dst
	}
	if dst[len(dst)-1] != '[' {
		dst = append(dst, ',')
	}
	return appendMembers(append(dst, '{'), value.Map(), member)
}

// appendMembers appends the members of an object and its end.
func appendMembers(dst []byte, m pcommon.Map, member appendMember) []byte {
	for name, value := range m.All() {
		dst = member(dst, name, value)
	}
	return append(dst, '}')
}

// appendText appends any scalar as text.
func appendText(dst []byte, name string, value pcommon.Value) []byte {
	content := value.Str()
	if content == "" {
		content = value.AsString() // of another type
	}
	return jsonscan.AppendText(dst, name, content)
}

func appendFlag(dst []byte, name string, value pcommon.Value) []byte {
	if value.Type() != pcommon.ValueTypeBool {
		return dst
	}
	return strconv.AppendBool(jsonscan.AppendKey(dst, name), value.Bool())
}

func appendWhole(dst []byte, name string, value pcommon.Value) []byte {
	if value.Type() != pcommon.ValueTypeInt {
		return dst
	}
	return strconv.AppendInt(jsonscan.AppendKey(dst, name), value.Int(), 10)
}

// appendPosition appends a line or a column. 0 means none.
func appendPosition(dst []byte, name string, value pcommon.Value) []byte {
	number := uint32(value.Int())
	if number == 0 {
		return dst
	}
	return strconv.AppendUint(jsonscan.AppendKey(dst, name), uint64(number), 10)
}

// appendAddress appends an address, which is hex text.
func appendAddress(dst []byte, name string, value pcommon.Value) []byte {
	number, err := strconv.ParseUint(strings.TrimPrefix(value.AsString(), "0x"), 16, 64)
	if err != nil {
		return dst
	}
	return jsonscan.AppendAddress(dst, name, number)
}

func appendAnyObject(dst []byte, name string, value pcommon.Value) []byte {
	if value.Type() != pcommon.ValueTypeMap {
		return dst
	}
	return attr.AppendJSON(jsonscan.AppendKey(dst, name), value)
}

func appendObject(dst []byte, name string, value pcommon.Value, member appendMember) []byte {
	if value.Type() != pcommon.ValueTypeMap {
		return dst
	}
	return appendMembers(append(jsonscan.AppendKey(dst, name), '{'), value.Map(), member)
}

// appendFrames appends the frames in reverse order.
func appendFrames(dst []byte, name string, value pcommon.Value) []byte {
	if value.Type() != pcommon.ValueTypeSlice {
		return dst
	}
	dst = append(jsonscan.AppendKey(dst, name), '[')
	for i := value.Slice().Len() - 1; i >= 0; i-- {
		dst = appendMap(dst, value.Slice().At(i), inFrame)
	}
	return append(dst, ']')
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
	return appendMembers(dst, value.Map(), inStacktrace)
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
		if e := decode("exception", m, inException); len(e.Exceptions) == 1 {
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
		if e := decode("threads", m, inThread); len(e.Threads) == 1 {
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
func decode(field string, m pcommon.Map, member appendMember) *event.ErrorEvent {
	payload := append([]byte(`{"`+field+`":[`), '{')
	e, err := event.DecodeEvent(append(appendMembers(payload, m, member), `]}`...))
	if err != nil {
		return &event.ErrorEvent{}
	}
	return e
}
