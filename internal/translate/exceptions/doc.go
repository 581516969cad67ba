// SPDX-License-Identifier: Apache-2.0

// Package exceptions writes the names, files and lines of symbol files into exceptions of log records and span events.
//
// # What is read and written
//
//	sentry.exceptions       frames of Sentry's SDKs: each gets a list "symbolicated", innermost first, beside the raw fields that Sentry gets back.
//	                        It is empty for code that R8 shares between methods
//	sentry.threads          likewise
//	exception.stacktrace    written again with the names. Without sentry.exceptions, its lines are those of JavaScript engines and of Java
//	exception.type          the original class
//
// The original text and type are kept in exception.stacktrace.original and exception.type.original. symbolication.status is ok if a frame got a
// name. An exception without a name from a symbol file stays unchanged.
//
// # What a position means
//
// The line and the column of a frame are those of the code that was running, or of the call. Frames of native code, and minified names of types in
// JavaScript, are not changed.
package exceptions
