// SPDX-License-Identifier: Apache-2.0

// Package docs compares the documentation, the examples and the Grafana dashboard with the built
// collector.
package docs
