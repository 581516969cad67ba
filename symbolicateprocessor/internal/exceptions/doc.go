// SPDX-License-Identifier: Apache-2.0

// Package exceptions writes names, files and lines from symbol files into the exceptions of log
// records and span events.
//
// # Attributes
//
//	sentry.exceptions       frames from Sentry's SDKs: each gets a list "symbolicated", innermost first, in addition to the raw fields, which the
//	                        exporter sends to Sentry. The list is empty for code that R8 shares between methods. The same key in an exception
//	                        is the original class
//	sentry.threads          likewise
//	sentry.stacktrace       likewise: the stack of a message
//	code.stacktrace         of a message: rewritten with the names
//	exception.stacktrace    rewritten with the names. Without sentry.exceptions, it is parsed as the text of a JavaScript engine or of Java
//	exception.type          the original class
//
// The raw texts and type are kept in exception.stacktrace.original, code.stacktrace.original and
// exception.type.original.
// symbolication.status is ok if at least one frame was symbolicated. Other exceptions stay
// unchanged.
//
// # Positions in exceptions
//
// The line and column of a frame are the position of the code that was running, or of the call. A
// native frame has an address in one of the images of the event: the innermost frame that of an
// instruction, others a return address. An address that is relative to an image (addr_mode, as in
// .NET) is not looked up. Minified JavaScript type names are not changed.
//
// The frames of a call tree (parent_index, MetricKit) keep their positions; in the text, inlined
// functions are further nodes of the tree.
package exceptions
