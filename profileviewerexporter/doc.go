// SPDX-License-Identifier: Apache-2.0

// Package profileviewerexporter is a collector exporter (component type "profile_viewer") that
// stores the latest profiles, traces, logs and metrics in memory and serves a page that displays
// them.
//
//	exporter.go     lifecycle; messages of the pipelines
//	server.go       routes
//	guard.go        protection against other sites and scripts in the data
//	respond.go      building and writing responses
//	selection.go    the samples that a request selects; operation.go: those of an operation
//	causes.go       functions, waits and calls that take the time of a selection
//	api_*.go        the responses to the page, and the stream of changes (stream.go)
//	assets.go       the page: built from web/, committed in assets/
//	telemetry.go    metrics
//
// internal/store holds the messages, internal/history copies them for the next run,
// internal/operations sums spans, internal/spanname names them, internal/answer has the texts of
// responses, internal/mcptools serves MCP clients, internal/flame builds graphs. The shared package
// timeline computes weights.
package profileviewerexporter
