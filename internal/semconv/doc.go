// SPDX-License-Identifier: Apache-2.0

// Package semconv contains every attribute key, metric name, event name and client metadata key
// that the components read or write. No other package spells out a key. Tests enforce this and
// check that every constant is used.
//
// A constant is named after its key: SentryFrameInApp is "sentry.frame.in_app". Metric names start
// with Metric, event names with Event and client metadata keys with Metadata. Prefix and Suffix
// mark parts of keys.
//
// Each file has one subject. Each group of constants states the origin of its keys: the first of
// these sources that defines them.
//
//   - OTel: the semantic conventions 1.45, https://github.com/open-telemetry/semantic-conventions
//   - Sentry: https://github.com/getsentry/sentry-conventions
//   - Project: keys that only this project defines, under "sentry.", "measure." and "split."
//
// The members of map attributes have Sentry's and Measure's field names, which are in the packages
// that translate them.
package semconv

// SchemaURL is the schema URL of resources and scopes that the project writes.
const SchemaURL = "https://opentelemetry.io/schemas/1.45.0"

// Filtered is Sentry's replacement for removed data.
const Filtered = "[Filtered]"
