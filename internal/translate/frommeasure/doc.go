// SPDX-License-Identifier: Apache-2.0

// Package frommeasure translates decoded batches of Measure's mobile SDKs to OTLP traces, logs and
// metrics.
//
// All functions are pure: the time of receipt and the configuration are passed in a [Source].
package frommeasure
