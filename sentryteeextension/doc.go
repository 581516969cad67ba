// SPDX-License-Identifier: Apache-2.0

// Package sentryteeextension is a collector extension (component type "sentry_tee") that forwards
// the requests of Sentry SDKs to Sentry, byte for byte, while a receiver translates them.
//
// It is a middleware of the receiver's HTTP server: the receiver authenticates and responds, the
// tee keeps the bytes that it reads.
//
//	middleware.go   one request: the receiver's response, and the request to forward
//	routes.go       the endpoints of Sentry's ingest
//	headers.go      headers that are forwarded, in both directions
//	held_body.go    the bytes that the receiver reads
//	own_answer.go   the receiver's response, until it is sent
//	forwarder.go    forwards each request until Sentry responds or the request is dropped
//	entry.go        the state of a request
//	internal/schedule the order and the times of requests to Sentry
//	spool.go        requests in a storage
//	stream.go       requests that only Sentry understands, and its responses
//	crash_record.go the record of a crash report for the pipelines
//	internal/mapping the destination and the keys of each project's requests
//	outgoing.go     the request that Sentry receives
//	internal/omit   the items that Sentry does not receive
//	reports.go      counts of omitted data, for client reports
//	report_loop.go  client reports
//	upstream.go     one request to Sentry
//	reply.go        the meaning of its response
//	key_limits.go   Sentry's current rate limits
//	telemetry.go    metrics
//
// The queue is not exporterhelper's, which does not share its capacity fairly among projects, has
// no maximum age, and loses requests when the disk is full.
package sentryteeextension
