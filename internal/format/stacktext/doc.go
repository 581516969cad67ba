// SPDX-License-Identifier: Apache-2.0

// Package stacktext reads stack traces in text form: OpenTelemetry's attribute exception.stacktrace
// has "the natural representation" of a language, while Sentry displays frames and groups by them.
// It has no knowledge of Sentry or OTLP.
//
// # Traces
//
// A [Trace] starts with the thrown exception; its causes, suppressed exceptions and members of
// groups follow. Each has its own frames, outermost first, regardless of the order in the text.
// Names stay unchanged, except that arguments, addresses and hashes of symbols are removed.
// Compiler-generated numbers would split groups, so lambdas and async methods of .NET get the names
// that they have in the source.
//
//	Python                     outermost first   causes before the thrown exception
//	Java, Kotlin, Scala        innermost first   causes after it, without the frames that they share with it
//	V8, Firefox, Safari        innermost first   causes only if an inspector printed the error
//	.NET, Mono                 innermost first   causes within it
//	Go                         innermost first   no causes; ends where the panic or the recording of the error began
//	Ruby                       innermost first   causes after it; both reversed in Ruby 2.5 to 2.7
//	PHP                        innermost first   causes before it; a line names the caller's file and the callee's function
//	Rust, C++                  innermost first   no causes
//	Elixir, Erlang             innermost first   no causes
//
// # Limits
//
// Every parser reads a text once, line by line, without backtracking: time is linear in the size of
// the text. A trace keeps a bounded number of frames and exceptions and counts the others.
//
// A message may contain lines that look like frames. Only the last run of frames of an exception is
// read as frames, so such lines stay part of the message.
package stacktext
