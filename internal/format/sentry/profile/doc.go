// SPDX-License-Identifier: Apache-2.0

// Package profile decodes Sentry's sampled profiles, V1 and V2, into columns, validates them against Sentry's published rules, and writes
// V2 chunks.
package profile
