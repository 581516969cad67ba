// SPDX-License-Identifier: Apache-2.0

// Package tosentry translates OTLP profiles and traces of any origin to Sentry items. It is the inverse of package fromsentry for data
// that came from Sentry: a pair of inverses is two files of one name.
//
// All functions are pure; configuration comes in as [ExportOptions]. The mapping is described in package translate.
package tosentry
