// SPDX-License-Identifier: Apache-2.0

package semconv

// OTel, on samples, spans and log records.
const (
	ThreadID   = "thread.id"
	ThreadName = "thread.name"
)

// OTel, on samples.
const CPULogicalNumber = "cpu.logical_number"

// Project, on samples.
const (
	SentryThreadPriority = "sentry.thread.priority"
	SentryQueueAddress   = "sentry.queue.address"
	SentryQueueLabel     = "sentry.queue.label"
)

// Project, on samples: why Perfetto could not find the outer frames of a call stack
// (Profiling.StackUnwindError).
const AndroidUnwindError = "android.unwind_error"
