// SPDX-License-Identifier: Apache-2.0

// Package sentryitems translates the items of one Sentry envelope: each item becomes messages for
// pipelines and losses to count. It does no I/O, so the receiver and tools have the same results.
//
//	types.go         the table of item types
//	profiles.go, android.go, traces.go, logs.go, metrics.go, otlp.go   the translations
//	translation.go   what the items of an envelope share
//	link.go          V1 profiles to the spans of their transaction; link_key.go: in which collector
//	drift.go         wrong clocks of clients
//	identity.go      IDs, to recognize duplicates
package sentryitems
