// SPDX-License-Identifier: Apache-2.0

// Package toitems translates log records and metrics to Sentry's items.
//
// # Records of any origin
//
// A record becomes an element of a log container. Sentry requires text as the body, a level, a time
// and a trace: other bodies become JSON, records without a severity get the level info, records
// without a time get the time of receipt, and records without a trace get one that all such records
// of the process share for an hour. Attributes state these changes.
//
// # Records from Sentry
//
// Package fromsentry converts every item that is not a profile, span or metric to a record, with
// the item type as an attribute. This package converts these records back to the same items: each
// file with the same name as a file in fromsentry is its inverse. Items whose content the receiver
// does not keep, such as attachments, are counted.
//
// # Metrics
//
// Sentry's counters are deltas, and its distributions contain single values. Cumulative totals are
// therefore rejected, and a histogram becomes separate metrics for sum, count and extremes; only
// its exemplars become values. Recordings from Sentry's SDKs are restored one by one from the
// exemplars of their data points.
package toitems
