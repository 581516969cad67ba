// SPDX-License-Identifier: Apache-2.0

// Package omit decides which items of a request Sentry does not get: those of categories that it
// limits, and those that the rates of the configuration leave out. It counts them as client reports
// do.
//
//	rates.go      parts of item types, decided by a hash
//	selection.go  the items of one envelope: related ones stay together
//	losses.go     what is omitted
//
// Nothing here blocks, logs, or reads a clock.
package omit
