// SPDX-License-Identifier: Apache-2.0

// Package corpus sends all recorded requests of Sentry's and Measure's SDKs and compares them with
// the output.
package corpus
