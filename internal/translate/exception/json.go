// SPDX-License-Identifier: Apache-2.0

package exception

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// Lists writes the lists of an event as JSON without structs in between: an event has hundreds of
// members, and reading them into structs would take half of the time. It is an event.ListWriter.
type Lists struct{ Attributes pcommon.Map }

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

// AppendExceptions appends the exceptions.
func (l *Lists) AppendExceptions(dst []byte) []byte {
	return appendMaps(dst, l.Attributes, semconv.SentryExceptions, inException)
}

// AppendThreads appends the threads.
func (l *Lists) AppendThreads(dst []byte) []byte {
	return appendMaps(dst, l.Attributes, semconv.SentryThreads, inThread)
}

// AppendStacktrace appends the stack of the message.
func (l *Lists) AppendStacktrace(dst []byte, key string) []byte {
	return appendStacktrace(dst, key, valueOf(l.Attributes, semconv.SentryStacktrace))
}

// Thrown returns type and value of the thrown exception, the last one in the list.
func (l *Lists) Thrown() (thrown event.Exception) {
	for m := range attr.Maps(valueOf(l.Attributes, semconv.SentryExceptions)) {
		thrown.Type, thrown.Value = attr.TextOf(m, "type"), attr.TextOf(m, "value")
	}
	return thrown
}

// appendMaps appends the maps of a list to the list at the end of dst.
func appendMaps(dst []byte, in pcommon.Map, key string, members kinds) []byte {
	for m := range attr.Maps(valueOf(in, key)) {
		dst = appendMap(dst, m, members)
	}
	return dst
}

// appendMap appends an element of the list at the end of dst.
func appendMap(dst []byte, m pcommon.Map, members kinds) []byte {
	if dst[len(dst)-1] != '[' {
		dst = append(dst, ',')
	}
	return appendMembers(append(dst, '{'), m, members)
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
	frames, tree := value.Slice(), isTree(value)
	for i := range frames.Len() {
		if !tree {
			i = frames.Len() - 1 - i
		}
		if frame := frames.At(i); frame.Type() == pcommon.ValueTypeMap {
			dst = appendMap(dst, frame.Map(), inFrame)
		}
	}
	return append(dst, ']')
}

// appendStacktrace appends a member with frames, which Sentry requires.
func appendStacktrace(dst []byte, name string, value pcommon.Value) []byte {
	if value.Type() != pcommon.ValueTypeMap {
		return dst
	}
	dst = append(jsonscan.AppendKey(dst, name), '{')
	if valueOf(value.Map(), memberFrames).Type() != pcommon.ValueTypeSlice {
		dst = append(dst, `"frames":[]`...)
	}
	return appendMembers(dst, value.Map(), inStacktrace)
}
