// SPDX-License-Identifier: Apache-2.0

// Package scrubbing runs the built collector over requests with planted secrets, and searches
// everything that leaves it.
package scrubbing
