// SPDX-License-Identifier: Apache-2.0

// Package sentrycli sends events with Sentry's command line tool.
package sentrycli
