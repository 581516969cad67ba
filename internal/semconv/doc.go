// SPDX-License-Identifier: Apache-2.0

// Package semconv spells every attribute key, metric name, event name and key of client metadata that the components read or
// write, once. Tests keep it complete: no other package spells a key, and no key is unused.
//
// A constant is named after its key: SentryFrameInApp is "sentry.frame.in_app". Metric names start with Metric, event names
// with Event and keys of client metadata with Metadata. A name that ends in Prefix or Suffix is a part of keys.
//
// Files group the keys by subject, and groups state the origin of their keys. A key comes from the first of these that has one:
//
//   - OpenTelemetry's semantic conventions, 1.44: https://github.com/open-telemetry/semantic-conventions
//   - Sentry's conventions: https://github.com/getsentry/sentry-conventions
//   - this project, under "sentry.", "measure." and "split."
//
// Members of attributes that are maps have the names that they have in Sentry's and Measure's formats. They stand in the
// packages that translate these.
package semconv
