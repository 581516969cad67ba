// SPDX-License-Identifier: Apache-2.0

package semconv

// OTel.
const (
	ExceptionType       = "exception.type"
	ExceptionMessage    = "exception.message"
	ExceptionStacktrace = "exception.stacktrace"
	ExceptionEscaped    = "exception.escaped" // deprecated in 1.32
	CodeFunctionName    = "code.function.name"
	CodeStacktrace      = "code.stacktrace"
	ErrorType           = "error.type"
	FileName            = "file.name"
	LogRecordUID        = "log.record.uid"
)

// Sentry. The key of a parameter ends in its number or name.
const (
	SentryMessageTemplate         = "sentry.message.template"
	SentryMessageParameterPrefix  = "sentry.message.parameter."
	SentryMessageParametersPrefix = "sentry.message.parameters." // Go SDK 0.50
	SentryTimestampSequence       = "sentry.timestamp.sequence"
	SentrySeverityText            = "sentry.severity_text"          // as sent, if the text of the record differs
	SentrySeverityTextOriginal    = "sentry.severity_text.original" // the same on the way to Sentry, whose ingest sets the other
)

// Project: logs and metrics sent to Sentry.
const (
	SentryBodyJSON         = "sentry.body.json"          // true if the body was no text
	SentryTraceIDSynthetic = "sentry.trace_id.synthetic" // true if the data had no trace
)

// OTel, for formats other than OTLP.
const EventEventName = "event.name" // the prefix Event is for names of events

// Sentry's ingest: resource and scope of OTLP (relay-otel, otel_scope_into_attributes).
const (
	ResourcePrefix         = "resource."
	InstrumentationName    = "instrumentation.name"
	InstrumentationVersion = "instrumentation.version"
)

// Project: all items.
const (
	SentryItemType        = "sentry.item.type" // absent for logs
	SentryItemSize        = "sentry.item.size" // bytes of the payload
	SentryItemContentType = "sentry.item.content_type"
	SentryAttachmentType  = "sentry.attachment.type"
	SentryEventID         = "sentry.event.id"
)

// Project: errors and events.
const (
	SentryMessageParameters = "sentry.message.parameters" // if too many for separate attributes, or no list
	SentryExceptions        = "sentry.exceptions"
	SentryThreads           = "sentry.threads"
	SentryBreadcrumbs       = "sentry.breadcrumbs"
	SentryFingerprint       = "sentry.fingerprint"
	SentryModules           = "sentry.modules"
	SentryLogger            = "sentry.logger"
	SentryExtra             = "sentry.extra"
	SentryContextPrefix     = "sentry.context." // and the name of the context
	SentryContextUser       = "sentry.context.user"
	SentryContextTrace      = "sentry.context.trace"
	SentryStacktrace        = "sentry.stacktrace" // of a message
	SentryLevel             = "sentry.level"      // of a transaction
	SentryCulprit           = "sentry.culprit"
	SentryChecksum          = "sentry.checksum"
	SentrySite              = "sentry.site"
	SentryTimeSpent         = "sentry.time_spent" // ms
	SentryTemplate          = "sentry.template"   // of a page, in which rendering failed
	SentryMeta              = "sentry.meta"       // what the SDK removed or cut
	SentryErrors            = "sentry.errors"
	SentryDebugMetaSDKInfo  = "sentry.debug_meta.sdk_info"
	SentrySDKIntegrations   = "sentry.sdk.integrations"
	SentrySDKPackages       = "sentry.sdk.packages"
	SentrySDKFeatures       = "sentry.sdk.features"
	SentrySDKSettings       = "sentry.sdk.settings"
)

// Project: feedback and check-ins.
const (
	SentryFeedbackAssociatedEventID = "sentry.feedback.associated_event_id"
	SentryFeedbackName              = "sentry.feedback.name"
	SentryFeedbackContactEmail      = "sentry.feedback.contact_email"
	SentryFeedbackURL               = "sentry.feedback.url"
	SentryFeedbackSource            = "sentry.feedback.source"
	SentryCheckInID                 = "sentry.check_in.id"
	SentryCheckInStatus             = "sentry.check_in.status"
	SentryCheckInDuration           = "sentry.check_in.duration" // seconds
	SentryMonitorSlug               = "sentry.monitor.slug"
	SentryMonitorConfig             = "sentry.monitor.config"
)
