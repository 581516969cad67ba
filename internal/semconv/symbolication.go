// SPDX-License-Identifier: Apache-2.0

package semconv

// SymbolicationStatus (project) is on locations, and on log records and span events with an
// exception: the result of the lookup in symbol files.
const SymbolicationStatus = "symbolication.status"

// Project, on locations with names from a symbol file: the frame as the profiler reported it.
const (
	SentryFrameRawFunction = "sentry.frame.raw_function"
	SentryFrameRawModule   = "sentry.frame.raw_module"
	SentryFrameRawFile     = "sentry.frame.raw_file"
	SentryFrameRawLine     = "sentry.frame.raw_line"
	SentryFrameRawColumn   = "sentry.frame.raw_column"
)

// Honeycomb's, on log records and span events with names from a symbol file: the exception as the
// SDK reported it. AppDebugProguardUUID is on resources, too: the UUID of the R8 mapping.
// CodeStacktraceOriginal (project) is the stack of a message.
const (
	ExceptionStacktraceOriginal = "exception.stacktrace.original"
	CodeStacktraceOriginal      = "code.stacktrace.original"
	ExceptionTypeOriginal       = "exception.type.original"
	AppDebugProguardUUID        = "app.debug.proguard_uuid"
)
