// SPDX-License-Identifier: Apache-2.0

package semconv

// OTel: metric names.
const (
	MetricProcessCPUUtilization = "process.cpu.utilization"
	MetricProcessCPUTime        = "process.cpu.time"
	MetricProcessUptime         = "process.uptime"
	MetricProcessMemoryUsage    = "process.memory.usage"
	MetricSystemMemoryLimit     = "system.memory.limit"
	MetricJVMMemoryUsed         = "jvm.memory.used"
	MetricJVMMemoryCommitted    = "jvm.memory.committed"
	MetricJVMMemoryLimit        = "jvm.memory.limit"
)

// OTel, on data points.
const (
	CPUMode       = "cpu.mode"
	JVMMemoryType = "jvm.memory.type"
)

// Project: metric names.
const (
	MetricSentrySessionUpdates           = "sentry.session.updates"
	MetricSentrySessionStarted           = "sentry.session.started"
	MetricSentrySessionCount             = "sentry.session.count"
	MetricSentrySessionErrors            = "sentry.session.errors"
	MetricSentrySessionDuration          = "sentry.session.duration"
	MetricSentryCheckInCount             = "sentry.check_in.count"
	MetricSentryCheckInDuration          = "sentry.check_in.duration"
	MetricSentryClientReportDiscarded    = "sentry.client_report.discarded"
	MetricSentryProfilePrefix            = "sentry.profile." // and the name of the measurement
	MetricMeasureProcessMemoryPSS        = "measure.process.memory.pss"
	MetricMeasureProcessMemoryNativeSize = "measure.process.memory.native.size"
	MetricMeasureProcessMemoryNativeFree = "measure.process.memory.native.free"
)

// Project, on data points.
const (
	SentrySessionStatus            = "sentry.session.status"
	SentrySessionAbnormalMechanism = "sentry.session.abnormal_mechanism"
	SentryClientReportReason       = "sentry.client_report.reason"
	SentryClientReportCategory     = "sentry.client_report.category"
	SentryClientReportOutcome      = "sentry.client_report.outcome"
	SentryMetricUnit               = "sentry.metric.unit" // a custom one, which ingest does not store as the unit
)

// Project, on exemplars: an update of a session that has several.
const (
	SentrySessionInit              = "sentry.session.init"
	SentrySessionErrorCount        = "sentry.session.error_count"
	SentrySessionStartTimeUnixNano = "sentry.session.start_time_unix_nano"
)

// OTel, on exemplars: IDs of requests and messages.
const (
	HTTPRequestID                  = "http.request.id"
	FaaSInvocationID               = "faas.invocation.id"
	AWSRequestID                   = "aws.request_id"
	MessagingMessageID             = "messaging.message.id"
	MessagingMessageConversationID = "messaging.message.conversation_id"
)

// Prometheus, for buckets and quantiles as separate metrics.
const (
	Le       = "le"
	Quantile = "quantile"
)
