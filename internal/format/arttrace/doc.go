// SPDX-License-Identifier: Apache-2.0

// Package arttrace reads method traces of the Android runtime (ART): the files that
// Debug.startMethodTracing writes, with or without sampling, and their streaming variant. It has no
// knowledge of Sentry or OTLP.
//
// # The file
//
//	*version            text: a version and key=value lines
//	*threads            id TAB name
//	*methods            0x id TAB class TAB method TAB signature TAB file [TAB line]
//	*end
//	SLOW …              binary: 32 bytes of header, then records
//
// The streaming variant is binary from byte 0, with methods and threads between the records and the
// text at the end. Layouts: art/runtime/trace.cc of the Android Open Source Project.
//
// # Records
//
// A record says that a thread entered or left a method. With sampling, ART compares the stack of a
// thread with its stack at the previous tick, and writes the difference with a single time. If the
// stack is unchanged, ART writes nothing: until the next record, the thread stays in the same
// stack.
//
// The start time in the header counts from boot, not from 1970, so absolute times are unknown.
// Times of records count from the start of the trace.
//
// # Observations
//
// [Trace.Observe] converts the records to the observations of a sampling profiler: every thread is
// observed at instants that are one period apart, in its stack at that instant. The number of
// observations × period is therefore the traced time of a thread, accurate to one period.
package arttrace
