// SPDX-License-Identifier: Apache-2.0

// Package e2e holds tests only: the built collector as a process, configured by a file and driven over HTTP, its output
// received by an OTLP sink in the test. `make build` makes the binary, OTELCOL_SENTRY_BIN names another one.
//
// The race detector sees nothing of the collector, which is another process: run these tests without it, or with -short,
// which counts the largest messages instead of comparing them.
package e2e
