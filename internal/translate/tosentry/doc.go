// SPDX-License-Identifier: Apache-2.0

// Package tosentry translates OTLP profiles and traces of any origin to Sentry items. For data from
// Sentry, it is the inverse of package fromsentry: a function and its inverse are in files of the
// same name.
//
// All functions are pure; [ExportOptions] passes the configuration. Package translate describes the
// mapping.
package tosentry
