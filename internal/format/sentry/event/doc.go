// SPDX-License-Identifier: Apache-2.0

// Package event decodes Sentry items other than profiles: transactions, spans, errors, logs,
// metrics, sessions, check-ins, client reports and feedback. It writes transactions and span
// containers.
//
// Each file has the models of an item or of its parts with their tables; container.go has the
// common part of span, log and metric containers. Decoding is lenient (jsonscan.Lenient): a field
// of the wrong type is dropped and counted as a flaw.
package event
