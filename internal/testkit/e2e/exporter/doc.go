// SPDX-License-Identifier: Apache-2.0

// Package exporter tests the sentry_envelope exporter in the built collector.
package exporter
