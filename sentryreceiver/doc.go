// SPDX-License-Identifier: Apache-2.0

// Package sentryreceiver is a collector receiver (component type "sentry") for what Sentry SDKs send: it answers them as
// Sentry would and hands what it understands to the pipelines as OTLP.
//
// The package is a shell. What an envelope or a profile is, internal/format/sentry knows; what becomes of it, internal/translate.
// Here is the way of a request between them:
//
//	handler.go     which request is this, who sent it
//	cors.go        pages of other origins
//	store.go, cron.go, security.go   the endpoints that take no envelopes
//	projects.go    who may send
//	client.go      who sends, for what comes behind
//	ingest.go      envelope → items → what to hand on → answer
//	signals.go     the table: which item type goes to which signal
//	profiles.go    one profile item: decode, validate, translate
//	link.go        V1 profiles and the spans of their transaction
//	traces.go, logs.go, metrics.go   likewise for the other signals
//	deliver.go     to the pipelines, and what becomes of it
//	backpressure.go   what is turned away because a pipeline has just refused something
//	answer.go      status, body and headers
//	drift.go       clients whose clock is off
//	dedup.go       IDs of data that was accepted before
//	telemetry.go   what is counted
//	ledger.go      items, by who sent them
//	receiver.go    lifecycle
//
// One listener serves all signals: the collector creates a receiver per signal, they share one by their *Config.
package sentryreceiver
