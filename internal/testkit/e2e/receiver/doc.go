// SPDX-License-Identifier: Apache-2.0

// Package receiver tests the sentry receiver in the built collector: endpoints, tunnel,
// backpressure, metrics.
package receiver
