// SPDX-License-Identifier: Apache-2.0

// Package sentryreceiver receives data from Sentry SDKs (component type "sentry"). It responds as
// Sentry does, and sends usable data to the pipelines as OTLP.
//
// The package has no format knowledge: internal/format/sentry knows envelopes and profiles,
// internal/translate maps them to OTLP, and internal/sentryitems translates the items of
// an envelope by these two. A request passes through these files:
//
//	endpoints.go   the table of endpoints
//	handler.go     authentication, body
//	projects.go    projects that may send
//	store.go, cron.go, security.go, otlp.go   endpoints without envelopes
//	unknown.go      endpoints that do not exist
//	ingest.go      the items of an envelope: admit, translate, deliver
//	budget.go      memory of their output
//	backpressure.go   rejection before the work, while pipelines are busy
//	deliver.go     messages to the pipelines
//	dedup.go       IDs of accepted data, to drop duplicates
//	client.go      client metadata for later components
//	response.go, rejection.go   status, body and headers
//	cors.go        pages of other origins
//	spotlight.go   a second listener, for SDKs without a DSN
//	telemetry.go   metrics
//	receiver.go    lifecycle
//
// The collector creates one receiver per signal. Receivers with the same *Config share one
// listener.
package sentryreceiver
