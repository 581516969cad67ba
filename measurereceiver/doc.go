// SPDX-License-Identifier: Apache-2.0

// Package measurereceiver is a collector receiver (component type "measure") for what the SDKs of Measure (measure.sh) send: it
// answers them as Measure's backend would and hands what it understands to the pipelines as OTLP.
//
// The package is a shell. What a batch is, internal/format/measure knows; what becomes of it, internal/translate. Here is the way of
// a request between them:
//
//	handler.go    which request is this
//	apps.go       who sends it
//	events.go     PUT /events: batch → items → what to hand on → outcome
//	signals.go    the pipelines, and whether none of them has room
//	uploads.go    PUT /attachments and /symbols: files, by signed URLs
//	token.go      what makes those URLs ours
//	files.go      where files are kept
//	builds.go     PUT /builds, PUT /builds/ota
//	answer.go     status and body
//	telemetry.go  what is counted
//	receiver.go   lifecycle
//
// One listener serves all signals: the collector creates a receiver per signal, they share one by their *Config.
package measurereceiver
