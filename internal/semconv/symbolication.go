// SPDX-License-Identifier: Apache-2.0

package semconv

// SymbolicationStatus (project) is on locations, and in frames of exceptions: what a symbol file said about the frame.
const SymbolicationStatus = "symbolication.status"

// Project, on locations with names from a symbol file: the frame as the profiler wrote it.
const (
	SentryFrameRawFunction = "sentry.frame.raw_function"
	SentryFrameRawModule   = "sentry.frame.raw_module"
	SentryFrameRawFile     = "sentry.frame.raw_file"
	SentryFrameRawLine     = "sentry.frame.raw_line"
	SentryFrameRawColumn   = "sentry.frame.raw_column"
)
