// SPDX-License-Identifier: Apache-2.0

// Package profileviewerexporter is a collector exporter (component type "profile_viewer") that keeps the latest profiles,
// traces and logs in memory and serves a page to look at them.
//
// Messages are kept as encoded OTLP, so that how much memory they take is known to the byte, with a summary of each beside it;
// what somebody looks at is decoded for as long as the request takes.
//
//	exporter.go       lifecycle; what the components of all signals share
//	store.go          what is kept, for how long
//	kept.go           summaries of profiles, traces and logs
//	keep_profiles.go, keep_traces.go, keep_logs.go   message → summary
//	server.go         routes, security headers
//	selection.go      which samples a request is about
//	api_*.go          what the page asks for
//	assets.go         the page: built from web/, committed in assets/
//	telemetry.go      what is counted
//
// How samples become trees, internal/profiles/flame knows; what they weigh, internal/profiles/timeline.
package profileviewerexporter
