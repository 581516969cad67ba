// SPDX-License-Identifier: Apache-2.0

// Package frommeasure translates decoded batches of Measure's mobile SDKs to OTLP traces, logs and
// metrics.
//
//	session, user, device, network  →  attributes   attributes.go
//	spans, HTTP events              →  spans        traces.go, http.go
//	exceptions, ANRs                →  log records  exceptions.go, stacktrace.go
//	other events                    →  log records  logs.go, records.go
//
// docs/measure.md has a row for every field, including dropped fields.
//
// All functions are pure: the time of receipt and the configuration are passed in a [Source].
package frommeasure
