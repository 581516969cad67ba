// SPDX-License-Identifier: Apache-2.0

// Package harness runs the built collector as a process, sends requests to it and receives its
// output. `make build` builds the collector; OTELCOL_SENTRY_BIN names another binary.
//
// The race detector does not reach the collector, which is another process: run the tests that use
// it without, or in small size, which counts the largest messages instead of comparing them.
package harness
