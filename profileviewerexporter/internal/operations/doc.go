// SPDX-License-Identifier: Apache-2.0

// Package operations sums spans by operation: the display name and kind of a span, per service.
//
// All figures are updated when a span arrives and when it is evicted, so that no request visits the
// spans. Spans arrive in any order and in different messages: a node of a span without its parent
// refers to an empty node, which the parent fills.
//
//	table.go      spans and operations; adding and removing
//	tree.go       nodes of spans; time in calls
//	histogram.go  durations, for percentiles
//	slowest.go    spans by duration
//	figures.go    the figures of the operations of a service
//
// Time in calls: the duration of a call to a database, or to a service by HTTP or RPC, counts for
// all spans that it is below of, up to and including the first of:
//
//   - another call: it is already the time of that call
//   - the span of a request or message that a service received: it is the root of its part
//
// A call itself is in the time of calls, too. The rest of the duration is the code of the service.
// Concurrent calls may last longer than the span that makes them; it then has no own time.
package operations
