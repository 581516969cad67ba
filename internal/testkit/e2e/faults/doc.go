// SPDX-License-Identifier: Apache-2.0

// Package faults kills the collector, fills its disk and damages its files, and accounts for every
// acknowledged item: `make faults` writes docs/faults.md.
package faults
