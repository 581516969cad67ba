// SPDX-License-Identifier: Apache-2.0

// Package omit decides which items of a request are not forwarded to Sentry: items in categories
// that Sentry limits, and items that the configured rates exclude. It counts them in the form that
// client reports use.
//
//	rates.go      the fraction of each item type to forward, decided by a hash
//	selection.go  the items of one envelope; related items stay together
//	losses.go     counts of omitted data
//
// The package does not block, log or read a clock.
package omit
