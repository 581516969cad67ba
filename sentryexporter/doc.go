// SPDX-License-Identifier: Apache-2.0

// Package sentryexporter is a collector exporter (component type "sentry_envelope") that sends OTLP
// profiles, traces, logs and metrics to Sentry, in Sentry's own format.
//
// Each resource of a message belongs to one project of Sentry. Everything behind the router exists
// once per project, so that the outage or the limits of one project never delay another:
//
//	message ──▶ router ──┬──▶ project A ──▶ convert ──▶ queue per category ──▶ deliver ──▶ client
//	                     │      destination: rate limits, health, losses, flood
//	                     └──▶ project B ──▶ …
//
// The router is in front of the conversion, because limits on events, breadcrumbs and profiler
// sessions are those of a project. It is not a queue: a message is split and converted by its
// sender.
//
// internal/translate translates the data, and internal/format/sentry writes envelopes. A message
// passes through these files:
//
//	router.go      one message of the pipeline → a part per project
//	exporter.go    a part → one request per envelope, in the queue of its category
//	convert.go     OTLP → envelopes, before the queue
//	queue.go       the queues, one per category
//	request.go     an entry of a queue, in memory and on disk
//	delivery.go    posts the envelopes of a request, and decides about retries
//	client.go      posts one envelope once and classifies the response
//	losses.go      client reports about refused data
//	telemetry.go   metrics
//
// Queues, storage and retries are exporterhelper's. It passes a request that failed to push again,
// and keeps it in the storage until then. A request that waits for a retry occupies a consumer, so
// a queue has more consumers than concurrent posts, and a limited number of requests waits:
// otherwise, requests that Sentry never accepts would block the queue. internal/collector/health
// distinguishes these from an outage.
package sentryexporter
