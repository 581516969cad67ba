// SPDX-License-Identifier: Apache-2.0

// Package fromandroid translates traces of Android apps to OTLP profiles: method traces of the Android runtime (ART), and the call
// stack samples of Perfetto. Sentry's and Measure's SDKs both send such traces, so the package knows neither.
//
// One trace becomes one profile in the shape of all sampled profiles. ART records when methods are entered and left; its threads
// are observed at the points of a grid (package arttrace). Perfetto's samples keep their times.
//
// Lost: the CPU times of an ART trace with both clocks, and what a Perfetto trace has besides call stack samples.
package fromandroid
