// SPDX-License-Identifier: Apache-2.0

// Package semconv contains every attribute key, metric name, event name and client metadata key
// that the components read or write. No other package spells one; tests enforce this, and that each
// constant is used.
//
// A constant is named after its key: SentryFrameInApp is "sentry.frame.in_app". Metric names start
// with Metric, event names with Event and client metadata keys with Metadata. Prefix and Suffix
// mark parts of keys.
//
// Each file has one subject. Each group states the origin of its keys: the first of these that defines it:
//
//   - OTel: the semantic conventions 1.44, https://github.com/open-telemetry/semantic-conventions
//   - Sentry: https://github.com/getsentry/sentry-conventions
//   - Project: keys that only this project defines, under "sentry.", "measure." and "split."
//
// Map attributes use the field names of Sentry and Measure for their members; the translating
// packages contain these names.
package semconv
