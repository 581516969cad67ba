// SPDX-License-Identifier: Apache-2.0

package semconv

// OpenTelemetry's conventions, on samples, spans and records.
const (
	ThreadID   = "thread.id"
	ThreadName = "thread.name"
)

// Ours, on samples.
const (
	SentryThreadPriority = "sentry.thread.priority"
	SentryQueueAddress   = "sentry.queue.address"
	SentryQueueLabel     = "sentry.queue.label"
)
