// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// This file translates exceptions and threads to lists of maps with Sentry's own keys, in Sentry's
// order (a cause before its effect). Only frames are reversed, because the innermost frame comes
// first everywhere in the output, except for trees: their frames refer to each other by position,
// and none is the innermost.

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
	attr.PutMembers(m, event.Exceptions, e)
	if e.Mechanism != nil {
		attr.PutMembers(m.PutEmptyMap("mechanism"), event.Mechanisms, e.Mechanism)
	}
	putStacktrace(m, e.Stacktrace)
}

func putStacktrace(m pcommon.Map, stack *event.Stacktrace) {
	if stack != nil {
		fillStacktrace(m.PutEmptyMap("stacktrace"), stack)
	}
}

func fillStacktrace(m pcommon.Map, stack *event.Stacktrace) {
	frames := m.PutEmptySlice("frames")
	frames.EnsureCapacity(len(stack.Frames))
	tree := stack.IsTree()
	for i := range stack.Frames {
		if !tree {
			i = len(stack.Frames) - 1 - i
		}
		attr.PutMembers(frames.AppendEmpty().SetEmptyMap(), event.Frames, &stack.Frames[i])
	}
	attr.PutMembers(m, event.Stacktraces, stack)
}

func putThreads(attrs pcommon.Map, threads []event.EventThread) {
	if len(threads) == 0 {
		return
	}
	list := attrs.PutEmptySlice(semconv.SentryThreads)
	for i := range threads {
		m := list.AppendEmpty().SetEmptyMap()
		attr.PutMembers(m, event.EventThreads, &threads[i])
		putStacktrace(m, threads[i].Stacktrace)
	}
}

// putMessageStack sets the stack of a message: as text by OpenTelemetry's convention, and with all
// fields.
func putMessageStack(attrs pcommon.Map, e *event.ErrorEvent) {
	if e.Stacktrace == nil {
		return
	}
	attr.PutText(attrs, semconv.CodeStacktrace, event.FramesText(e.Stacktrace, e.Platform))
	fillStacktrace(attrs.PutEmptyMap(semconv.SentryStacktrace), e.Stacktrace)
}
