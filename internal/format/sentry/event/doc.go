// SPDX-License-Identifier: Apache-2.0

// Package event decodes the items of Sentry that are no profiles: transactions, spans, errors, logs, metrics, sessions, check-ins, client
// reports and feedback. It writes transactions and span containers.
package event
