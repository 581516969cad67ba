// SPDX-License-Identifier: Apache-2.0

// Package sentryexporter is a collector exporter (component type "sentry_envelope") that sends OTLP
// profiles and traces to Sentry, in Sentry's own format and to a DSN.
//
// The package is a shell. What becomes of profiles and spans, internal/translate knows; what an
// envelope is, internal/format/sentry. Here is the way of a message between them:
//
//	exporter.go    one message of the pipeline → a request for each envelope, in the queue of its category
//	convert.go     OTLP → envelopes, before the queue
//	queue.go       the queues, and the places to wait in
//	request.go     what a queue holds, in memory and on disk
//	delivery.go    one envelope: post it until it is sent or dropped
//	client.go      one envelope: post it, and what the answer means
//	losses.go      client reports about what Sentry refused
//	telemetry.go   what is counted
//
// The queue and the HTTP client are the collector's own. Its retries are not: a request that they
// retry occupies a consumer, so that ten requests that always fail would stop the exporter.
package sentryexporter
