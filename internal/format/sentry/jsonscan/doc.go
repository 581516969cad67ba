// SPDX-License-Identifier: Apache-2.0

// Package jsonscan reads and writes the JSON of Sentry payloads. It contains a scanner over bytes,
// a lenient reader of objects that uses the scanner, scalar types that SDKs write in several forms,
// and functions that append JSON.
package jsonscan
