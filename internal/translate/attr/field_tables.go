// SPDX-License-Identifier: Apache-2.0

package attr

import "github.com/otelcol-sentry/otelcol-sentry/internal/semconv"

// The attribute tables of events and of transactions.
var (
	EventFields = newFields(
		Field{Key: semconv.SentryLogger, Field: "logger"},
		Field{Key: semconv.SentryFingerprint, Field: "fingerprint"},
		Field{Key: semconv.SentryModules, Field: "modules"},
		Field{Key: semconv.SentryExtra, Field: "extra"},
		Field{Key: semconv.SentryCulprit, Field: "culprit"},
		Field{Key: semconv.SentryChecksum, Field: "checksum"},
		Field{Key: semconv.SentrySite, Field: "site"},
		Field{Key: semconv.SentryTimeSpent, Field: "time_spent"},
		Field{Key: semconv.SentryTemplate, Field: "template"},
		Field{Key: semconv.SentryMeta, Field: "_meta"},
		Field{Key: semconv.SentryErrors, Field: "errors"},
	)
	TransactionInfoFields = newFields(
		Field{Key: semconv.SentrySegmentNameSource, Field: "source"},
		Field{Key: semconv.SentrySegmentNameOriginal, Field: "original"},
		Field{Key: semconv.SentrySegmentNameChanges, Field: "changes"},
		Field{Key: semconv.SentrySegmentNamePropagations, Field: "propagations"},
	)
	DebugMetaFields = newFields(
		Field{Key: semconv.SentryDebugMetaImages, Field: "images"},
		Field{Key: semconv.SentryDebugMetaSDKInfo, Field: "sdk_info"},
	)
	SDKFields = newFields(
		Field{Key: semconv.SentrySDKIntegrations, Field: "integrations"},
		Field{Key: semconv.SentrySDKPackages, Field: "packages"},
		Field{Key: semconv.SentrySDKFeatures, Field: "features"},
		Field{Key: semconv.SentrySDKSettings, Field: "settings"},
	)
	RequestFields = newFields(
		Field{Key: semconv.URLFull, Field: "url"},
		Field{Key: semconv.HTTPRequestMethod, Field: "method"},
		Field{Key: semconv.URLFragment, Field: "fragment"},
		Field{Key: semconv.SentryRequestData, Field: "data"},
		Field{Key: semconv.SentryRequestCookies, Field: "cookies", Personal: true},
		Field{Key: semconv.SentryRequestEnv, Field: "env", Personal: true},
		Field{Key: semconv.SentryRequestProtocol, Field: "protocol"},
		Field{Key: semconv.SentryRequestAPITarget, Field: "api_target"},
		Field{Key: semconv.HTTPRequestBodySize, Field: "body_size"},
		Field{Key: semconv.SentryRequestInferredContentType, Field: "inferred_content_type"},
	)
)

// The attribute tables of log records of items.
var (
	TraceContextFields = newFields(
		Field{Key: semconv.SentryOp, Field: "op"},
		Field{Key: semconv.SentryOrigin, Field: "origin"},
		Field{Key: semconv.SentryStatus, Field: "status"},
		Field{Key: semconv.SentryParentSpanID, Field: "parent_span_id"},
		Field{Key: semconv.SentrySampleRand, Field: "sample_rand"},
	)
	RecordFields = newFields( // of an event that is a log record
		Field{Key: semconv.SentryEventID, Field: "event_id"},
		Field{Key: semconv.SentrySegmentName, Field: "transaction"},
		Field{Key: semconv.ServerAddress, Field: "server_name"},
	)
	CheckInFields = newFields(
		Field{Key: semconv.SentryCheckInID, Field: "check_in_id"},
		Field{Key: semconv.SentryMonitorSlug, Field: "monitor_slug"},
		Field{Key: semconv.SentryCheckInStatus, Field: "status"},
		Field{Key: semconv.SentryCheckInDuration, Field: "duration"},
		Field{Key: semconv.ServerAddress, Field: "server_name"},
		Field{Key: semconv.SentryMonitorConfig, Field: "monitor_config"},
	)
	UserReportFields = newFields(
		Field{Key: semconv.SentryFeedbackAssociatedEventID, Field: "event_id"},
		Field{Key: semconv.SentryFeedbackName, Field: "name"},
		Field{Key: semconv.SentryFeedbackContactEmail, Field: "email", Personal: true},
	)
)

// StreamedSpanFields is the attribute table of spans in containers.
var StreamedSpanFields = newFields(
	Field{Key: semconv.SentryKind, Field: "kind"},
	Field{Key: semconv.SentryIsSegment, Field: "is_segment"},
	Field{Key: semconv.SentryIsRemote, Field: "is_remote"},
)

// SpanFields is the attribute table of spans of transactions and standalone spans.
var SpanFields = newFields(
	Field{Key: semconv.SentryOp, Field: "op"},
	Field{Key: semconv.SentryOrigin, Field: "origin"},
	Field{Key: semconv.SentryKind, Field: "kind"},
	Field{Key: semconv.SentryPlatform, Field: "platform"},
	Field{Key: semconv.SentrySegmentID, Field: "segment_id"},
	Field{Key: semconv.SentryIsSegment, Field: "is_segment"},
	Field{Key: semconv.SentryIsRemote, Field: "is_remote"},
	Field{Key: semconv.SentryExclusiveTime, Field: "exclusive_time"},
)

// UserFields is the attribute table of users. Other fields are sentry.user.<name>.
var UserFields = newFields(
	Field{Key: semconv.UserID, Field: "id"},
	Field{Key: semconv.UserName, Field: "username"},
	Field{Key: semconv.UserFullName, Field: "name"},
	Field{Key: semconv.UserEmail, Field: "email", Personal: true},
	Field{Key: semconv.ClientAddress, Field: "ip_address", Personal: true},
)

// The attribute tables of members of contexts, by <context>/<member>: as in profiles, members that
// describe the machine are on the resource, the others on the record. Members without an attribute
// of their own stay together as sentry.context.<context>.
var (
	MachineFields = newFields(
		Field{Key: semconv.SentryDeviceArchitecture, Field: "device/arch"}, // and host.arch, with the values of the convention
		Field{Key: semconv.DeviceManufacturer, Field: "device/manufacturer"},
		Field{Key: semconv.DeviceModelIdentifier, Field: "device/model_id"},
		Field{Key: semconv.DeviceSimulator, Field: "device/simulator"},
		Field{Key: semconv.OSBuildID, Field: "os/build"},
		Field{Key: semconv.OSName, Field: "os/name"},
		Field{Key: semconv.OSVersion, Field: "os/version"},
		Field{Key: semconv.ProcessRuntimeName, Field: "runtime/name"},
		Field{Key: semconv.ProcessRuntimeVersion, Field: "runtime/version"},
	)
	ContextFields = newFields(
		Field{Key: semconv.ProfileID, Field: "profile/profile_id"},
		Field{Key: semconv.SentryProfilerID, Field: "profile/profiler_id"},
		Field{Key: semconv.HTTPResponseStatusCode, Field: "response/status_code"},
		Field{Key: semconv.SentryFeedbackContactEmail, Field: "feedback/contact_email", Personal: true},
		Field{Key: semconv.SentryFeedbackName, Field: "feedback/name"},
		Field{Key: semconv.SentryFeedbackAssociatedEventID, Field: "feedback/associated_event_id"},
		Field{Key: semconv.SentryFeedbackURL, Field: "feedback/url"},
		Field{Key: semconv.SentryFeedbackSource, Field: "feedback/source"},
		Field{Key: semconv.SentryReplayID, Field: "feedback/replay_id"}, // and, in other events:
		Field{Key: semconv.SentryReplayID, Field: "replay/replay_id"},
	)
)
