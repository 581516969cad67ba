// SPDX-License-Identifier: Apache-2.0

// Package spanlink answers one question: which span was running on this thread at this instant. It gathers spans in an index
// and links the samples of profiles to them. It knows OTLP, and of any source only the names of attributes ([Keys]).
//
// # The rule
//
// A sample was taken in a session (a run of a profiler, or a process) on a thread at an instant. Candidates are the spans of
// the same tenant, session and thread that cover the instant: start ≤ instant < end. A sample is never linked to a span that
// is not a candidate.
//
//	     t1    t2     t3    t4     t5   t6
//	     ·     ·      ·     ·      ·    ·
//	 A   ├──────────────────────────┤              a request
//	  B     ├─────────────────┤                    its handler
//	   C       ├─────────┤                         one of two queries that run at the same time
//	   D           ├────────┤                      the other
//	 E                          ├──────────┤       another request on the same event loop
//
//	t1  A            the only one
//	t2  C            innermost of a chain: C is a child of B, B of A
//	t3  B            C and D branch; which of them had the thread is unknown, but both belong to B
//	t4  B            neither C nor D any more
//	t5  ambiguous    A and E have nothing in common
//	t6  E
//
// In words: take the candidates that have no other candidate below them. If there is one, it is the answer. If there are more,
// it is the deepest candidate above all of them. If there is none, the sample is ambiguous: not linked, or to the span that
// started last, as [Options] say.
//
// Above and below go by parent ids, through any spans of the index, of other threads too. A span whose parent is not there
// hangs below its segment (Sentry's word for the root of a service's part of a trace). A span of zero length covers no instant, but
// keeps its position between the spans above and below it, and states session and thread for its children if it is a segment. A
// span that ends before it starts is treated as one of zero length.
//
// # Which spans are on a thread
//
// SDKs state session and thread on every span, or on the segment only; what a span does not say, it takes from its segment,
// and waits for it in the index. If all samples of a profile are of one thread, spans that name no thread count as well:
// there was no other. Otherwise they do not.
//
// Streamed spans that state no session, and whose segment states none, are indexed by their program (see [Keys]). They are
// candidates if there can be no doubt about the session, see program.go.
//
// # What becomes of samples
//
// A Sample with timestamps stands for several observations. They are decided one by one, and the sample is split into one
// per link, values with their timestamps. A sample without timestamps says nothing about instants and stays as it is, and so
// does one with so many attributes that its parts cannot repeat them all. A link that is there already was made by somebody
// who knew better, and gives way only to a span below it in the same trace.
//
// # Bounds
//
// The index holds a limited number of spans, in limited memory, for a limited time, by arrival: clocks of clients decide nothing.
// When it is full, the tenant that uses the most memory loses its oldest spans. What does not fit any more, what comes too late,
// and every sample without a link is counted by reason. What one message may ask of it is limited, too.
//
//	keys.go      which attributes tell tenant, session, thread and segment
//	traces.go    spans of a message into the index
//	index.go     the index; session.go, lane.go, node.go its parts, waiting.go the spans that wait for their segment
//	tenant.go    who makes room in a full index; program.go spans that state no session
//	forest.go    who is above whom
//	timeline.go  the rule: spans of a thread → which span when; queue.go gives it what comes first
//	places.go    samples of a message: on which thread, and when
//	link.go      samples of a message get their links: decide.go which, split.go what that does to them
//	outcome.go   what linking depends on, and what is counted
package spanlink
