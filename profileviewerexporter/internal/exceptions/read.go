// SPDX-License-Identifier: Apache-2.0

package exceptions

import (
	"encoding/hex"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// Error is one error: a log record, or an event of a span.
type Error struct {
	Time uint64 // Unix nanoseconds
	store.Origin
	Trace pcommon.TraceID
	Span  pcommon.SpanID

	body       string
	chain      []thrown // at least one, the thrown one first
	attributes pcommon.Map
}

const (
	// maxRead is the maximum total size of the messages that are decoded for a response, about a
	// second's work. The first message may exceed it.
	maxRead = 32 << 20
	// maxErrors is the maximum number of errors in a response.
	maxErrors = 20_000
)

// Each visits the errors of messages, which must be sorted, the newest first. It decodes one
// message at a time, and returns the number of errors in the messages beyond its limits.
func Each(messages []*store.Message, visit func(*Error)) (unread int, err error) {
	bytes, visited := 0, 0
	for _, m := range messages {
		count := 0
		for _, f := range m.Fragments {
			count += f.Exceptions
		}
		if count == 0 {
			continue
		}
		if bytes += m.EncodedSize(); bytes > max(maxRead, m.EncodedSize()) || visited+count > maxErrors {
			unread += count
			continue
		}
		visited += count
		if m.Signal == store.Logs {
			err = m.EachRecordOf(func(record plog.LogRecord, origin store.Origin) {
				if store.IsError(record) {
					visit(ofRecord(record, origin))
				}
			})
		} else {
			reader := store.SpanReader{}
			err = reader.EachOf(m, func(span ptrace.Span, origin store.Origin) {
				for _, event := range span.Events().All() {
					if store.IsException(event.Attributes()) {
						visit(ofEvent(event, span, origin))
					}
				}
			})
		}
		if err != nil {
			return unread, err
		}
	}
	return unread, nil
}

func ofRecord(record plog.LogRecord, origin store.Origin) *Error {
	return &Error{
		Time: uint64(store.RecordTime(record)), Origin: origin, Trace: record.TraceID(), Span: record.SpanID(), body: record.Body().AsString(),
		chain: chainOf(record.Attributes()), attributes: record.Attributes(),
	}
}

func ofEvent(event ptrace.SpanEvent, span ptrace.Span, origin store.Origin) *Error {
	return &Error{
		Time: uint64(event.Timestamp()), Origin: origin, Trace: span.TraceID(), Span: span.SpanID(),
		chain: chainOf(event.Attributes()), attributes: event.Attributes(),
	}
}

// key identifies an error in its group. Errors at the same time in the same span have equal keys.
func (e *Error) key() string {
	return strconv.FormatUint(e.Time, 10) + "-" + hex.EncodeToString(e.Span[:])
}

// Thread returns the ID of the thread that reported the error, if it is known.
func (e *Error) Thread() string { return text(e.attributes, semconv.ThreadID) }

// message returns the message of the thrown exception or, if there is none, the body of the record.
func (e *Error) message() string {
	if thrown := e.chain[0]; thrown.message != "" || thrown.kind != "" {
		return thrown.message
	}
	return e.body
}
