// SPDX-License-Identifier: Apache-2.0

// Package fromsentry translates decoded Sentry items to OTLP profiles, traces, logs and metrics.
// Package tosentry is the inverse for profiles and traces; a function and its inverse are in files
// of the same name.
//
// All functions are pure: the time of receipt and the configuration are passed in a [Source].
// Package translate describes the mapping.
package fromsentry
