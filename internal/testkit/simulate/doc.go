// SPDX-License-Identifier: Apache-2.0

// Package simulate runs the linking tier in virtual time, in one process: partitions of a queue,
// collectors with a limited span index, skewed sessions, delays and crashes. `make simulate` runs a
// billion spans.
//
// Each session is a process with one busy thread: its spans follow each other without a gap, and it
// sends a chunk per minute with one observation in each span. A span arrives after a random delay.
// A chunk arrives after its own delay, and is linked link::wait later by the collector that
// received it. An observation is linked if its span is in the index of that collector by then.
//
// Three tiers implement that rule: counters, which have 8 bytes per span and simulate a billion
// spans in minutes; the index of package spanlink for each collector; and built collectors, where a
// second takes 60 ms. Tests feed them with the same events and compare every chunk. TestSegments
// compares ways to route spans whose session only their segment states; it has a model of its own,
// without collectors.
//
//	workload.go   sessions, spans and chunks
//	tier.go       time, partitions, crashes, and the result
//	counters.go   the fast model of a collector
//	index.go      a collector with the index of the product
//	built_test.go a collector that runs as a process
package simulate
