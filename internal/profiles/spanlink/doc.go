// SPDX-License-Identifier: Apache-2.0

// Package spanlink links the samples of profiles to spans. It answers one question: which span was
// running on this thread at this instant? It keeps spans in an index and has no knowledge of
// Sentry: the names of the attributes that it reads are configuration ([Keys]).
//
// # The rule
//
// A sample was taken in a session (a run of a profiler, or a process), on a thread, at an instant.
// Session and thread together are a track. The candidates are the spans of the same tenant on the
// same track that cover the instant: start ≤ instant < end. A sample is never linked to a span that
// is not a candidate. The caller passes the tenant of each message, which comes from its
// credentials. Attributes only subdivide it (see [Tenant]).
//
//	     t1    t2     t3    t4     t5   t6
//	     ·     ·      ·     ·      ·    ·
//	 A   ├──────────────────────────┤              a request
//	  B     ├─────────────────┤                    its handler
//	   C       ├─────────┤                         one of two concurrent queries
//	   D           ├────────┤                      the other query
//	 E                          ├──────────┤       another request on the same event loop
//
//	t1  A            the only candidate
//	t2  C            the innermost of a chain: C is a child of B, B of A
//	t3  B            C and D are siblings; it is unknown which of them ran; both are children of B
//	t4  B            C and D have ended
//	t5  ambiguous    A and E have no common ancestor
//	t6  E
//
// In words: consider the candidates that have no descendant among the candidates. If there is only
// one, it is the result. Otherwise, the result is the deepest candidate that is an ancestor of all
// of them. If there is no such candidate, the sample is ambiguous: depending on [Options], it gets
// no link or is linked to the span that started last.
//
// Ancestors are found by parent IDs, through all spans of the index, including spans of other
// threads. If the parent of a span is not in the index, its segment (Sentry's word for the root of
// a service's part of a trace) takes the parent's place. A span of zero length covers no instant,
// but keeps its position in the span tree; if it is a segment, its children also inherit its
// session and thread. A span that ends before it starts is treated as a span of zero length.
//
// # Tracks of spans
//
// SDKs state session and thread on every span, or only on the segment. A span inherits missing
// values from its segment and waits for it in the index. Spans without a thread are candidates only
// if all samples of a profile are from one thread.
//
// If a profile and the spans of its session state different IDs for the main thread, the spans of
// the thread named "main" are candidates (see [Keys]).
//
// Streamed spans that state no session, and whose segment states none, are indexed by their program
// (see [Keys]). They are candidates only if their session is certain; see program.go.
//
// # Result
//
// A sample with timestamps represents several observations. The rule applies to each observation
// separately, and the sample is split into one sample per link; values stay with their timestamps.
// Samples without timestamps stay unchanged, and so do samples with too many attributes, because
// each part would repeat them. An existing link is kept, unless the rule finds a descendant of the
// linked span.
//
// # Bounds
//
// The index holds a limited number of spans, in limited memory, for a limited time. Time counts
// from the arrival of a span, independently of client clocks. When the index is full, the tenant
// that uses the most memory loses its oldest spans. Spans that do not fit, spans that arrive too
// late, and samples without a link are counted by reason.
//
// Adding, removing and finding a span visits O(log n) entries of the index. The size of a message
// limits its number of visits, and memory is checked against that limit before it is allocated.
// The lock is held for a few thousand visited entries at a time, whatever the size of the index.
//
// # Files
//
// A file uses only files below it: the rule, then the index, then what both read.
//
//	link.go           links the samples of a message
//	query.go          finds the spans of its tracks
//	decide.go         chooses links; split.go splits samples
//	sample_tracks.go  the tracks on which the samples of a message were taken
//	timeline.go       applies the rule to the spans of a track; priority_queue.go is its heap
//	span_tree.go      ancestors and descendants
//	index.go          the lock of the index, and pauses
//	store.go          the content of the index: adds, moves and drops spans
//	waiting.go        spans that wait for their segment
//	sessions.go       sessions and tracks; program.go: spans that state no session
//	shares.go         shares of tenants: which span is evicted first
//	spans.go          finds spans by ID; records: the memory of its records, without pointers
//	interval_tree.go  finds the spans of a track by time; interval.go: the records
//	traces.go         reads the spans of a message
//	outcome.go        options and statistics
//	keys.go           the attributes that state tenant, session, thread and segment
package spanlink
