// SPDX-License-Identifier: Apache-2.0

// Package toissues creates Sentry error events from the exceptions that OpenTelemetry records,
// because Sentry creates issues only from error events.
//
// # What becomes an event
//
// A span event with exception.type or exception.message becomes an event. With [Unhandled], the
// exception must have left its span: exception.escaped is true, or the status of the span is Error.
// Python's SDK records escaped = "False" even for exceptions that leave a span, so the status
// decides. A log record with these attributes also becomes an event, unless it is one of Sentry's
// items. Exceptions of applications with a Sentry SDK do not become events, because the SDK reports
// them itself.
//
// # One failure, one event
//
// Instrumentations record an exception on each span that it passes through. These records have the
// same trace, the same last component of the type ("mod.PaymentError" and "PaymentError") and the
// same innermost frame. Outer spans record more frames, and messages differ between signals. For
// records without frames, the message must be equal. The earliest record in a message becomes the
// event, which lists the spans of the others. Two failures of one trace at the same line therefore
// count as one.
//
// Errors of Go have no stack: each span records the stack of its own call, and log records have
// none. For a wrapped error, a log record states the type inside. Only their messages must be
// equal. A log record usually arrives before its span, so its event is provisional: the exporter
// sends it only if no span states the same failure soon.
//
// # The chain
//
// The text of a stack contains the causes of the exception: see package stacktext. Sentry expects
// the oldest cause first and the thrown exception last. Text that no parser recognizes becomes the
// extra data "stacktrace"; the event then has no frames.
package toissues
