// SPDX-License-Identifier: Apache-2.0

// Package translate is the only place where Sentry's formats and OpenTelemetry's meet. Pure functions: no clock, no logger,
// no network, and the input is left as it is.
//
// Each direction is a package: fromsentry, tosentry and frommeasure; attr holds what they share. The files named below are those of
// fromsentry, or of attr; under "The way back" those of tosentry.
//
// # Profiles
//
// A sampled Sentry profile is a list of observations: at this instant, this thread was in this stack. Two formats say so.
// V1 (item "profile") belongs to one transaction and counts time from an anchor; V2 (item "profile_chunk") is a piece of a
// profiler session and gives unix seconds. Stacks are lists of frames, leaf first, as in OTLP: nothing is turned round.
//
//	V1 profile, V2 chunk     →  one message: one resource, one scope, one profile
//	release, environment, …  →  resource attributes                                      resource.go
//	transaction, profiler id →  profile attributes                                       profiles.go
//	samples                  →  one Sample per (stack, thread, queue), with timestamps   samples.go
//	stacks, frames           →  Stack, Location, Line, Function                          frames.go
//	debug_meta.images        →  Mapping, else a profile attribute                        images.go
//	time                     →  nanoseconds, exact                                       clock.go, align.go
//	names                    →  the table of attribute keys                              attributes.go
//
// OTLP asks for one Sample per identity, with the observations as timestamps. There are no values: each observation counts
// one. The distance between observations is not constant (1 to 90 ms for a nominal 9.9 ms), so a viewer that wants time
// looks at the gaps. An idle thread has an empty stack, which is entry 0 of OTLP's stack table.
//
// # The other signals
//
//	transaction, span                    →  spans              traces.go
//	log, event, feedback, check_in, …    →  log records        logs.go, log_event.go
//	trace_metric, session, check_in,
//	client_report, measurements          →  metric points      metrics.go, sessions.go, measurements.go
//
// They have one resource with profiles (resource.go), so that a profile and its spans end up under the same service, and
// share how JSON values become attributes (values.go) and what stays behind unless asked for (privacy.go).
//
// The output is bounded by the input, with the multiple that bounds.go states.
//
// # The way back
//
// To Sentry, of data of any origin: what came from Sentry as it was sent, and what did not as Sentry's SDKs would have said it.
//
//	profiles            →  profile chunks (V2)     profiles.go, the inverse of fromsentry/profiles.go
//	what values weigh   →  observations            sample_weight.go, samples.go, sample_spread.go, sort_by_time.go
//	stacks, locations   →  stacks, frames          frames.go, frame_in_app.go
//	mappings            →  debug images            images.go
//	a long profile      →  chunks of a minute      chunk_parts.go
//	segments            →  transactions            traces.go, segment_tree.go, transaction.go, span.go
//	other spans         →  span containers         span_streamed.go
//	resources           →  release, platform, …    resource.go
//
// Nothing in it trusts the message: indices are read through dictionary.View, and what Sentry would refuse is
// mended or lost for a reason. The same message gives the same items with the same ids, however often it is tried.
//
// docs/mapping.md has a row for every field, with what is lost and why.
package translate
