// SPDX-License-Identifier: Apache-2.0

// Package arttrace reads method traces of the Android runtime (ART): the files that Debug.startMethodTracing writes, with or
// without sampling, and their streaming variant. It knows neither Sentry nor OTLP.
//
// # The file
//
//	*version            text: a version and key=value lines
//	*threads            id TAB name
//	*methods            0x id TAB class TAB method TAB signature TAB file [TAB line]
//	*end
//	SLOW …              binary: 32 bytes of header, then records
//
// The streaming variant is binary from byte 0, with methods and threads between the records and the text at the end. Layouts:
// art/runtime/trace.cc of the Android Open Source Project.
//
// # What it says, and what it does not
//
// A record says that a thread entered or left a method. With sampling, ART compares the stack of a thread with the stack of the
// tick before, and writes the difference: all at one time, and nothing where nothing changed. So time without records is time in
// the same stack.
//
// The start time in the header counts from boot, not from 1970: it tells no instant. Times of records count from the start of the
// trace.
//
// # Observations
//
// [Trace.Observe] makes of the records the observations of a sampling profiler: a grid of instants, one period apart, at which
// every thread is observed in the stack of that instant. Observations × period is thus the time a thread was traced, to one period.
package arttrace
