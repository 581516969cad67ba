// SPDX-License-Identifier: Apache-2.0

package semconv

// OTel, on samples, spans and log records.
const (
	ThreadID   = "thread.id"
	ThreadName = "thread.name"
)

// Project, on samples.
const (
	SentryThreadPriority = "sentry.thread.priority"
	SentryQueueAddress   = "sentry.queue.address"
	SentryQueueLabel     = "sentry.queue.label"
)
