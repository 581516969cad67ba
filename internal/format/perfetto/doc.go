// SPDX-License-Identifier: Apache-2.0

// Package perfetto reads the call stack samples of Perfetto traces, which Android 15 and later
// record for an application (ProfilingManager, PROFILING_TYPE_STACK_SAMPLING). It has no knowledge
// of Sentry or OTLP.
//
// # The trace
//
// A trace is a protobuf message with packets of many kinds. The package reads these:
//
//	interned data      texts, mappings, frames and call stacks, each with an id
//	perf sample        thread, time and the id of a call stack
//	clock snapshot     the readings of several clocks at one instant
//	process tree, track descriptor   names of threads
//
// IDs are unique within one table of a sequence of packets: a name and a path may have the same ID.
// A packet may clear the tables of its sequence, and a later entry replaces an earlier one with the
// same ID. Samples are therefore resolved when they are read.
//
// Field numbers are those of protos/perfetto/trace/perfetto_trace.proto. The 5 MB of generated code
// are not used, because only about forty fields are read.
//
// # Addresses
//
// rel_pc of a frame is an address in its ELF file, so start + rel_pc may be outside the mapping,
// which is a segment of the file. See [Trace.Address].
package perfetto
