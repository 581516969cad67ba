// SPDX-License-Identifier: Apache-2.0

// Package perfetto reads the call stack samples of Perfetto traces, which Android 15 and later take for an application
// (ProfilingManager, PROFILING_TYPE_STACK_SAMPLING). It knows neither Sentry nor OTLP.
//
// # The trace
//
// A trace is a protobuf message with packets, of thousands of kinds, of which these are read:
//
//	interned data      texts, mappings, frames and call stacks, each with an id
//	perf sample        thread, time and the id of a call stack
//	clock snapshot     what several clocks show at one instant
//	process tree, track descriptor   names of threads
//
// Ids are those of a sequence of packets, and of one table: a name and a path may have the same. A packet may clear the tables of its
// sequence, and a later entry replaces an earlier one with its id. So samples are resolved as they are read.
//
// Field numbers are those of protos/perfetto/trace/perfetto_trace.proto. Its 5 MB of generated code are not used: the fields that are
// read are some forty.
//
// # Addresses
//
// rel_pc of a frame is an address in its ELF file, so that the mapping, which is a segment of the file, need not contain
// start + rel_pc. See [Trace.Address].
package perfetto
