// SPDX-License-Identifier: Apache-2.0

// Package tee runs the built collector between SDKs and a stand-in for Sentry.
package tee
