// SPDX-License-Identifier: Apache-2.0

// Package stacktext reads stack traces as text: the attribute exception.stacktrace of OpenTelemetry
// has "the natural representation" of a language, while Sentry shows and groups by frames. It knows
// neither Sentry nor OTLP.
//
// # Traces
//
// A [Trace] has the thrown exception first and its causes, suppressed exceptions and members of
// groups behind it. Each has its own frames, outermost first, whatever the order of the text. Names
// stay as the text has them, apart from decoration: arguments, addresses, hashes of symbols.
// Numbers that the compiler generates would split groups: names of lambdas and of async methods in
// .NET become those of the source.
//
//	Python                     outermost first   causes stand before the thrown exception
//	Java, Kotlin, Scala        innermost first   causes behind it, without the frames that they share with it
//	V8, Firefox, Safari        innermost first   causes only if an inspector printed the error
//	.NET, Mono                 innermost first   causes stand within it
//	Go                         innermost first   no causes; ends where the panic or the recording of the error began
//	Ruby                       innermost first   causes behind it; both reversed in Ruby 2.5 to 2.7
//	PHP                        innermost first   causes stand before it; a line names the caller's file and the callee's function
//	Rust, C++                  innermost first   no causes
//	Elixir, Erlang             innermost first   no causes
//
// # Limits
//
// Every parser reads a text once, line by line, without backtracking: time is linear in the size of
// the text. A trace keeps a bounded number of frames and exceptions and counts the others.
//
// A message may have lines that look like frames. The last run of frames of an exception counts, so
// that such lines stay part of the message.
package stacktext
