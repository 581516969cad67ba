// SPDX-License-Identifier: Apache-2.0

// Package fromsentry translates decoded Sentry items to OTLP profiles, traces, logs and metrics. Its inverse for profiles and traces is
// package tosentry: a pair of inverses is two files of one name.
//
// All functions are pure: time of receipt and configuration come in as a [Source]. The mapping is described in package translate.
package fromsentry
