// Package sentryexporter is a collector exporter (component type "sentry_envelope") that sends OTLP profiles and traces to
// Sentry, in Sentry's own format and to a DSN.
//
// The package is a shell. What becomes of profiles and spans, internal/translate knows; what an envelope is, internal/sentry.
// Here is the way of a message between them:
//
//	exporter.go    one message of the pipeline → one request of the queue → the deliveries of its envelopes
//	convert.go     OTLP → envelopes, before the queue
//	request.go     what the queue holds, in memory and on disk
//	client.go      one envelope: post it, and what the answer means
//	limits.go      the rate limits that Sentry gives
//	losses.go      client reports about what Sentry refused
//	telemetry.go   what is counted
//
// Queue, retries and the HTTP client are the collector's own.
package sentryexporter
