// SPDX-License-Identifier: Apache-2.0

// Package load sends profiles at a rising rate and at twice the capacity: `make load` writes
// docs/load.md.
package load
