// SPDX-License-Identifier: Apache-2.0

// Package timeline reads one OTLP profile as people look at it: threads, on each of them samples in the order of time, and for
// each sample how long it counts. It is what viewing, pprof and speedscope share, and it knows OTLP only.
//
// # What a sample weighs
//
// OTLP has three shapes of samples (see the comments of the Sample message), and this is what they become:
//
//	values only            the value; nothing is known about when
//	values and timestamps  each value at its time
//	timestamps only        each is one observation
//
// A count of observations says little to people; where the period tells the nanoseconds behind one observation, weights are
// nanoseconds. For wall clock profiles, the gap to the next sample of the thread is better than the period: samplers aim at an
// interval and miss it by a factor of ten (node under load: 1 to 90 ms). A sample lasts at most three times the median gap of its
// thread, since recordings have holes; the last of a thread lasts one period. The aggregate transform of the profile_transform
// processor has the same rule, so that numbers agree before and after it. CPU profiles have no samples while a thread waits, so
// there a gap is not time that was used, and the period it is.
//
// A sample without a stack, or in what V8 calls (idle), has stack 0: its thread did nothing.
//
// # What a frame is
//
// Samplers of interpreted languages note the line that was running, so that one function has many locations. A [Frame] is the
// function; its lines are at the [Location].
package timeline
