// SPDX-License-Identifier: Apache-2.0

// Package toitems translates log records and metrics to Sentry's items.
//
// # Records of any origin
//
// A record becomes an element of a log container. Sentry requires text as the body, a level, a time
// and a trace: other bodies become JSON, records without a severity have the level info, records
// without a time get the time of receipt, and records without a trace get one that their process
// shares for an hour. Attributes say so.
//
// # Records from Sentry
//
// Package fromsentry turns every item that is no profile, span or metric into a record. The type of
// the item is an attribute. This package turns these records into the same items again: each file
// with the name of one in fromsentry is its inverse. Items whose content the receiver does not keep,
// such as attachments, are counted.
//
// # Metrics
//
// Sentry's counters are deltas, and its distributions have single values. Totals since a start are
// therefore rejected, and a histogram becomes metrics of its sum, count and extremes; only its
// exemplars are values. Recordings of Sentry's SDKs come back one by one, from the exemplars of
// their data points.
package toitems
