// SPDX-License-Identifier: Apache-2.0

// Package timeline converts an OTLP profile to its display form: threads, the samples of each
// thread in time order, and the weight of each sample. The viewer, pprof and speedscope share it.
// It has no knowledge of Sentry.
//
// # Weights
//
// OTLP has three shapes of samples (see the comments of the Sample message). Their weights are:
//
//	values only            the value; its time is unknown
//	values and timestamps  each value at its time
//	timestamps only        each is one observation
//
// If the period is in nanoseconds, weights are in nanoseconds, because users need durations, not
// numbers of observations.
//
// In wall-clock profiles, a sample lasts until the next sample of its thread. This is more accurate
// than the period, because real intervals differ from it by up to a factor of ten (Node under load:
// 1 to 90 ms). Recordings have gaps, so a sample lasts at most three times the median gap of its
// thread. The last sample of a thread lasts one period. The aggregate transform of the
// profile_transform processor uses the same rule, so that numbers agree before and after it.
//
// CPU profiles have no samples while a thread waits. A gap is then not CPU time, so each sample
// lasts one period.
//
// A sample without a stack, or in V8's (idle), has stack 0, which means that its thread was idle.
//
// # Frames
//
// Profilers of interpreted languages record the current line, so one function has many locations. A
// [Frame] is the function; the [Location] has its lines.
package timeline
