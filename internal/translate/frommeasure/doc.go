// SPDX-License-Identifier: Apache-2.0

// Package frommeasure translates decoded batches of Measure's mobile SDKs to OTLP traces, logs and metrics.
//
// All functions are pure: time of receipt and configuration come in as a [Source].
package frommeasure
