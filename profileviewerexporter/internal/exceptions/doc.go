// SPDX-License-Identifier: Apache-2.0

// Package exceptions reads the errors in log records and in events of spans, and groups them.
//
// The records of our receivers have the chain of exceptions, with source lines and local variables
// ([semconv.SentryExceptions]). Those of OpenTelemetry SDKs have a stack trace as text.
//
//	read.go     stored messages → errors
//	stack.go    the stacks of an error
//	group.go    equal errors
//	detail.go   the response about one error
package exceptions
