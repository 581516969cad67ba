// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// This file writes the lists of maps that fromsentry/log_exceptions.go creates: exceptions and
// threads. Their members have Sentry's names. There, the innermost frame comes first; in Sentry, it
// comes last. Trees have the same order in both.
//
// It writes JSON without structs in between: an event has hundreds of such members, and reading
// them into structs took half of the time.

// kinds are the members of an object of Sentry's schema, from its table. Members that are not in
// it, or have another form, are omitted.
type kinds = *jsonscan.Words[event.Kind]

var (
	inException  = event.Exceptions.Kinds()
	inMechanism  = event.Mechanisms.Kinds()
	inThread     = event.EventThreads.Kinds()
	inStacktrace = event.Stacktraces.Kinds()
	inFrame      = event.Frames.Kinds()
)

// none is a value that is not a list.
var none = pcommon.NewValueEmpty()

// AppendExceptions appends the exceptions, as an event.ListWriter.
func (e *logExporter) AppendExceptions(dst []byte) []byte {
	return appendMaps(dst, e.exceptions, inException)
}

// AppendThreads appends the threads, as an event.ListWriter.
func (e *logExporter) AppendThreads(dst []byte) []byte {
	return appendMaps(dst, e.threads, inThread)
}

// appendMaps appends the maps of a list to the list at the end of dst.
func appendMaps(dst []byte, list pcommon.Value, members kinds) []byte {
	if list.Type() == pcommon.ValueTypeSlice {
		for i := range list.Slice().Len() {
			dst = appendMap(dst, list.Slice().At(i), members)
		}
	}
	return dst
}

// appendMap appends an element of the list at the end of dst, unless the element is no map.
func appendMap(dst []byte, value pcommon.Value, members kinds) []byte {
	if value.Type() != pcommon.ValueTypeMap {
		return dst
	}
	if dst[len(dst)-1] != '[' {
		dst = append(dst, ',')
	}
	return appendMembers(append(dst, '{'), value.Map(), members)
}

// appendMembers appends the members of an object and its end.
func appendMembers(dst []byte, m pcommon.Map, members kinds) []byte {
	after := 0
	for name, value := range m.All() {
		switch kind, _ := members.Next(&after, name); kind {
		case event.KindFrames:
			dst = appendFrames(dst, name, value)
		case event.KindStack:
			dst = appendStacktrace(dst, name, value)
		case event.KindMechanism:
			if value.Type() == pcommon.ValueTypeMap {
				dst = appendMembers(append(jsonscan.AppendKey(dst, name), '{'), value.Map(), inMechanism)
			}
		default:
			before := len(dst)
			dst = jsonscan.AppendKey(dst, name)
			empty := len(dst)
			if dst = attr.AppendOfKind(dst, kind, value); len(dst) == empty {
				dst = dst[:before]
			}
		}
	}
	return append(dst, '}')
}

// appendFrames appends the frames in reverse order, unless they are a tree.
func appendFrames(dst []byte, name string, value pcommon.Value) []byte {
	if value.Type() != pcommon.ValueTypeSlice {
		return dst
	}
	dst = append(jsonscan.AppendKey(dst, name), '[')
	frames := value.Slice()
	n := frames.Len()
	tree := n > 0 && hasParent(frames.At(0)) && hasParent(frames.At(n-1)) // as event.Stacktrace.IsTree
	for i := range n {
		if !tree {
			i = n - 1 - i
		}
		dst = appendMap(dst, frames.At(i), inFrame)
	}
	return append(dst, ']')
}

func hasParent(frame pcommon.Value) bool {
	if frame.Type() != pcommon.ValueTypeMap {
		return false
	}
	parent, ok := frame.Map().Get("parent_index")
	return ok && parent.Type() == pcommon.ValueTypeInt
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

// ExceptionsOf returns the exceptions of an event. There is one for each map of the list.
func ExceptionsOf(list pcommon.Value) []event.Exception {
	return decoded(list, "exception", inException, func(e *event.ErrorEvent) []event.Exception { return e.Exceptions })
}

// ThreadsOf returns the threads of an event. There is one for each map of the list.
func ThreadsOf(list pcommon.Value) []event.EventThread {
	return decoded(list, "threads", inThread, func(e *event.ErrorEvent) []event.EventThread { return e.Threads })
}

// decoded decodes each map as an event with one element in a list.
func decoded[T any](list pcommon.Value, field string, members kinds, of func(*event.ErrorEvent) []T) (all []T) {
	if list.Type() != pcommon.ValueTypeSlice {
		return nil
	}
	for _, element := range list.Slice().All() {
		if element.Type() != pcommon.ValueTypeMap {
			continue
		}
		var x T
		payload := append([]byte(`{"`+field+`":[`), '{')
		if e, err := event.DecodeEvent(append(appendMembers(payload, element.Map(), members), `]}`...)); err == nil && len(of(e)) == 1 {
			x = of(e)[0]
		}
		all = append(all, x)
	}
	return all
}

// StackOf returns the stack trace that an attribute states, or nil.
func StackOf(value pcommon.Value) *event.Stacktrace {
	if value.Type() != pcommon.ValueTypeMap {
		return nil
	}
	e, err := event.DecodeEvent(append(appendStacktrace([]byte{'{'}, "stacktrace", value), '}'))
	if err != nil {
		return nil
	}
	return e.Stacktrace
}
