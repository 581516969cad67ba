// SPDX-License-Identifier: Apache-2.0

// Package fromandroid translates traces of Android apps to OTLP profiles: method traces of the
// Android runtime (ART), and the call stack samples of Perfetto. It has no knowledge of Sentry or
// Measure, because the SDKs of both send such traces.
//
// One trace becomes one profile in the form of all sampled profiles. ART records when methods are
// entered and left; package arttrace converts these records to observations of each thread at
// regular intervals. Perfetto's samples keep their times.
//
// Lost: the CPU times of an ART trace with both clocks, and all data of a Perfetto trace other than
// call stack samples.
package fromandroid
