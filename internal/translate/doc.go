// SPDX-License-Identifier: Apache-2.0

// Package translate maps between Sentry's formats and OpenTelemetry's; no other package knows both.
// All functions are pure: no clock, no logger, no network, no changes to the input. The translation
// of Measure's formats is in measurereceiver/internal/frommeasure.
//
// Each direction has a package: fromsentry and tosentry. Package attr contains their shared code;
// package exception reads and writes exceptions. The files named below are in fromsentry or attr;
// those under "OTLP to Sentry" are in tosentry, toitems (logs and metrics) and toissues (events for
// exceptions).
//
// # Profiles
//
// A Sentry profile is a list of observations: at one instant, one thread had one stack. There are
// two formats. V1 (item "profile") belongs to one transaction and measures time from an anchor. V2
// (item "profile_chunk") is a part of a profiler session and uses Unix seconds. Stacks are lists of
// frames, leaf first, as in OTLP.
//
//	V1 profile, V2 chunk     →  one message: one resource, one scope, one profile
//	release, environment, …  →  resource attributes                                      resource.go
//	transaction, profiler id →  profile attributes                                       profiles.go
//	samples                  →  one Sample per (stack, thread, queue), with timestamps   samples.go
//	stacks, frames           →  Stack, Location, Line, Function                          frames.go
//	debug_meta.images        →  Mapping, else a profile attribute                        images.go
//	time                     →  nanoseconds, exact                                       source.go
//	names                    →  attribute keys                                           internal/semconv
//
// OTLP requires one Sample per identity, with its observations as timestamps. Samples have no
// values: each observation counts as one. The interval between observations varies (1 to 90 ms for
// a nominal 9.9 ms), so a viewer derives time from the gaps. An idle thread has an empty stack,
// which is entry 0 of OTLP's stack table.
//
// # The other signals
//
//	transaction, span                    →  spans              traces.go
//	log, event, feedback, check_in, …    →  log records        logs.go, log_event.go
//	trace_metric, session, check_in,
//	client_report, measurements          →  metric points      metrics.go, metric_groups.go,
//	                                                           sessions.go, measurements.go
//	span status                          →  status             traces.go
//	breadcrumbs                          →  an attribute       log_event.go
//	measurements of a transaction        →  an attribute       measurements.go
//
// They share three files with profiles: resource.go, so that a profile and its spans have the same
// service; values.go, which converts JSON values to attributes; and privacy.go, which removes
// personal data.
//
// The output is bounded by the input; bounds.go states the factor.
//
// # OTLP to Sentry
//
// Data from Sentry is restored as sent. Data from other sources becomes what Sentry's SDKs would
// have sent.
//
//	profiles            →  profile chunks (V2)     profiles.go, the inverse of fromsentry/profiles.go
//	values              →  observations            samples.go
//	stacks, locations   →  stacks, frames          frames.go
//	mappings            →  debug images            frames.go
//	a long profile      →  chunks of a minute      internal/format/sentry/chunking
//	segments            →  transactions            traces.go, transaction.go, span.go
//	span status         →  status                  span.go
//	breadcrumbs         →  breadcrumbs             transaction.go
//	span events         →  breadcrumbs             transaction.go, toissues/breadcrumbs.go
//	other spans         →  span containers         span_streamed.go
//	resources           →  release, platform, …    resource.go
//	log records         →  log containers          toitems/logs.go
//	records of items    →  the same items          toitems/log_event.go, logs.go
//	data points         →  trace_metric            toitems/metrics.go
//	receiver's metrics  →  sessions, client_report toitems/own_metrics.go
//
// The message is untrusted: indices are read through dictionary.View, and data that Sentry would
// reject is repaired or dropped with a reason. The same message always yields the same items with
// the same IDs, so retries are idempotent.
//
// docs/mapping.md has a row for every field, including dropped fields.
package translate
