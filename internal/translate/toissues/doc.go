// SPDX-License-Identifier: Apache-2.0

// Package toissues creates Sentry's error events from the exceptions that OpenTelemetry records: Sentry makes issues of events only.
//
// # What becomes an event
//
// A span event with exception.type or exception.message. With [Unhandled], the exception must have left its span: exception.escaped is
// true, or the status of the span is Error. Python's SDK records escaped = "False" for exceptions that leave a span, too, so that the
// status decides. Exceptions of Sentry's SDKs, which report events themselves, become no events.
//
// # One failure, one event
//
// Instrumentations record an exception on each span that it passes. The records agree in the trace, in the last component of the type
// ("mod.PaymentError" and "PaymentError"), and in the innermost frame; outer spans record more frames, and messages differ between
// signals. Records without frames agree in the message. Of the records of a message, the earliest becomes the event; it names the spans
// of the others. Two failures of one trace at the same line count as one.
//
// # The chain
//
// The text of a stack has the causes of the exception: see package stacktext. Sentry wants the oldest cause first and the thrown
// exception last. A text that no parser reads becomes the extra "stacktrace"; the event then has no frames.
package toissues
