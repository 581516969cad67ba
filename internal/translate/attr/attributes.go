// SPDX-License-Identifier: Apache-2.0

package attr

import "strings"

// The one table of attribute keys: what both directions read and write. OpenTelemetry's conventions first (semantic
// conventions 1.44), then Sentry's (github.com/getsentry/sentry-conventions), then names of ours under "sentry.".

// On the resource.
const (
	keyServiceNamespace = "service.namespace"
	KeyServiceName      = "service.name"
	KeyServiceVersion   = "service.version"
	KeyEnvironment      = "deployment.environment.name"
	KeySDKName          = "telemetry.sdk.name"
	KeySDKVersion       = "telemetry.sdk.version"
	KeySDKLanguage      = "telemetry.sdk.language"
	KeyHostArch         = "host.arch"
	KeyOSType           = "os.type"
	KeyOSName           = "os.name"
	KeyOSVersion        = "os.version"
	KeyOSBuild          = "os.build_id"
	KeyManufacturer     = "device.manufacturer"
	KeyDeviceModel      = "device.model.identifier"
	KeyDeviceLocale     = "device.locale"
	KeyDeviceSimulator  = "device.simulator"
	KeyRuntimeName      = "process.runtime.name"
	KeyRuntimeVersion   = "process.runtime.version"
	KeyRelease          = "sentry.release" // as sent; service.version is its part behind the @
	KeyDist             = "sentry.dist"
	KeyPlatform         = "sentry.platform"
	KeyProject          = "sentry.project_id"
	KeyDeviceArch       = "sentry.device.architecture" // as sent, where host.arch has another word for it
)

// On the profile.
const (
	KeyFormatVersion = "sentry.profile.version" // 1 or 2, the sample format
	KeyProfilerID    = "sentry.profiler_id"
	KeyChunkID       = "sentry.chunk_id"   // only where it is no UUID: it is the profile's id otherwise
	KeyProfileID     = "sentry.profile_id" // likewise for V1
	KeyMeasurements  = "sentry.measurements"
	KeyImages        = "sentry.debug_meta.images" // those that are no mapping

	KeyClockDrift          = "sentry.clock_drift_ms"        // receipt minus the client's time of sending; on spans and log records too
	KeyClockDriftCorrected = "sentry.clock_drift_corrected" // true: the times are moved by that

	KeyTraceID            = "sentry.trace_id"
	KeyTransactionID      = "sentry.transaction.id"
	KeySegmentName        = "sentry.segment.name" // the transaction's name
	KeySegmentID          = "sentry.segment.id"
	KeyActiveThread       = "sentry.active_thread.id"
	KeyRelativeStart      = "sentry.transaction.relative_start" // unit ns
	KeyRelativeEnd        = "sentry.transaction.relative_end"
	KeyRelativeCPUStart   = "sentry.transaction.relative_cpu_start" // unit ms
	KeyRelativeCPUEnd     = "sentry.transaction.relative_cpu_end"
	UnitNanoseconds       = "ns"
	UnitMilliseconds      = "ms"
	OriginalPayloadFormat = "sentry"
)

// On samples.
const (
	KeyThreadID       = "thread.id"
	KeyThreadName     = "thread.name"
	KeyThreadPriority = "sentry.thread.priority"
	KeyQueueAddress   = "sentry.queue.address"
	KeyQueueLabel     = "sentry.queue.label"
)

// On locations.
const (
	KeyFrameType       = "profile.frame.type"
	KeyFrameModule     = "sentry.frame.module"
	KeyFramePackage    = "sentry.frame.package"
	KeyFramePlatform   = "sentry.frame.platform"
	KeyFrameInApp      = "sentry.frame.in_app"
	KeyFrameFilename   = "sentry.frame.filename"         // where the frame has abs_path as well: see functionFile
	KeyFrameAbsPath    = "sentry.frame.abs_path"         // where the frame has no filename
	KeyInstructionAddr = "sentry.frame.instruction_addr" // as sent, where Location.address is without its tag bits
)

// On mappings.
const (
	KeyBuildIDGNU  = "process.executable.build_id.gnu"
	KeyDebugID     = "sentry.debug_id"
	KeyImageType   = "sentry.image.type"
	KeyImageCodeID = "sentry.image.code_id"
	KeyImageDebug  = "sentry.image.debug_file"
	KeyImageUUID   = "sentry.image.uuid"
	KeyImageArch   = "sentry.image.arch"
	KeyImageVMAddr = "sentry.image.vmaddr"
)

// Platform is what OpenTelemetry calls a Sentry platform.
type platform struct {
	Language  string // telemetry.sdk.language
	FrameType string // profile.frame.type
}

// Platforms: Sentry's words for languages. Chromium is the only browser with the profiling API, so javascript is V8 too.
var Platforms = map[string]platform{
	"android":    {"java", "jvm"},
	"c":          {"cpp", "native"},
	"cocoa":      {"swift", "native"},
	"csharp":     {"dotnet", "dotnet"},
	"elixir":     {"erlang", "beam"},
	"go":         {"go", "go"},
	"java":       {"java", "jvm"},
	"javascript": {"webjs", "v8js"},
	"native":     {"cpp", "native"},
	"node":       {"nodejs", "v8js"},
	"perl":       {"", "perl"},
	"php":        {"php", "php"},
	"python":     {"python", "cpython"},
	"ruby":       {"ruby", "ruby"},
	"rust":       {"rust", "rust"},
}

// HermesFrameType is a custom value of profile.frame.type for react-native's engine, which the convention has no word for.
const HermesFrameType = "hermes"

// hostArchs are the words of host.arch for what SDKs send; others are passed on as they are.
var hostArchs = map[string]string{
	"aarch64": "arm64", "arm64e": "arm64", "arm64-v8a": "arm64",
	"arm": "arm32", "armv7": "arm32", "armv7l": "arm32", "armv7s": "arm32", "armeabi-v7a": "arm32",
	"x86_64": "amd64", "x64": "amd64", "x86_64h": "amd64",
	"i386": "x86", "i686": "x86", "ia32": "x86",
	"ppc64le": "ppc64",
}

func HostArch(architecture string) string {
	if word, known := hostArchs[strings.ToLower(architecture)]; known {
		return word
	}
	return architecture
}

// OsTypes are the words of os.type by the lower-case name SDKs send.
var OsTypes = map[string]string{
	"linux": "linux", "android": "linux", "ubuntu": "linux", "debian gnu/linux": "linux", "alpine linux": "linux", "chrome os": "linux",
	"darwin": "darwin", "macos": "darwin", "mac os x": "darwin", "ios": "darwin", "ipados": "darwin", "tvos": "darwin",
	"watchos": "darwin", "visionos": "darwin",
	"windows": "windows", "win32": "windows", "microsoft windows": "windows", "freebsd": "freebsd", "netbsd": "netbsd", "openbsd": "openbsd",
	"dragonfly": "dragonflybsd", "solaris": "solaris", "sunos": "solaris", "aix": "aix",
}

// On log records.
const (
	KeyItemType            = "sentry.item.type" // what the record was; absent on those that were logs
	KeyItemSize            = "sentry.item.size" // bytes of the payload
	KeyItemContentType     = "sentry.item.content_type"
	KeyItemFilename        = "file.name"
	KeyAttachmentType      = "sentry.attachment.type"
	KeyMessageTemplate     = "sentry.message.template"
	KeyMessageParameter    = "sentry.message.parameter." // and its number or name
	KeyMessageParameters   = "sentry.message.parameters" // more than have a place each, or no list
	KeyExceptionType       = "exception.type"
	KeyExceptionMessage    = "exception.message"
	KeyExceptionStacktrace = "exception.stacktrace"
	KeyExceptions          = "sentry.exceptions"
	KeyThreads             = "sentry.threads"
	KeyBreadcrumbs         = "sentry.breadcrumbs"
	KeyFingerprint         = "sentry.fingerprint"
	KeyModules             = "sentry.modules"
	KeyLogger              = "sentry.logger"
	KeyFeedbackEventID     = "sentry.feedback.associated_event_id"
	KeyFeedbackName        = "sentry.feedback.name"
	KeyFeedbackEmail       = "sentry.feedback.contact_email"
	KeyCheckInID           = "sentry.check_in.id"
	KeyCheckInStatus       = "sentry.check_in.status"
	KeyCheckInDuration     = "sentry.check_in.duration" // seconds
	KeyMonitorSlug         = "sentry.monitor.slug"
	KeyMonitorConfig       = "sentry.monitor.config"
	KeyEventID             = "sentry.event.id"
	KeyExtra               = "sentry.extra"
	KeyServerAddress       = "server.address" // Sentry's server_name
	KeySampleRand          = "sentry.sample_rand"
)

// On spans.
const (
	KeySpanProfileID   = "profile_id" // OpenTelemetry's informal name for what points from a span to a profile
	KeyOp              = "sentry.op"
	KeyOrigin          = "sentry.origin"
	KeyKind            = "sentry.kind"
	KeyDescription     = "sentry.description"    // where it is not the span's name
	KeyStatusMessage   = "sentry.status.message" // of streamed spans
	KeyServerName      = "sentry.server_name"    // where server.address is, or would be, another machine
	KeySegmentSource   = "sentry.segment.name.source"
	KeyIsSegment       = "sentry.is_segment"
	KeyIsRemote        = "sentry.is_remote" // the parent is in another process
	KeyExclusiveTime   = "sentry.exclusive_time"
	KeyTagKeys         = "sentry.tags"        // the keys of the attributes that were tags
	KeySDKEnvironment  = "sentry.environment" // as attributes of streamed spans, moved to the resource
	KeyStreamedSDK     = "sentry.sdk.name"
	KeyStreamedVersion = "sentry.sdk.version"
)

// On data points.
const (
	KeySessionStatus     = "sentry.session.status"
	KeyAbnormalMechanism = "sentry.session.abnormal_mechanism"
	KeyDiscardReason     = "sentry.client_report.reason"
	KeyDiscardCategory   = "sentry.client_report.category"
	KeyDiscardOutcome    = "sentry.client_report.outcome"
	KeyTimestampSequence = "sentry.timestamp.sequence"
	KeyReplayID          = "sentry.replay_id"
	MeasurementPrefix    = "sentry.profile." // and the name of the series: a metric's name
)

// The statuses in which a session ends.
const (
	StatusExited    = "exited"
	StatusErrored   = "errored" // exited, with errors
	StatusAbnormal  = "abnormal"
	StatusCrashed   = "crashed"
	StatusUnhandled = "unhandled"
)

// The metrics that are ours.
var (
	MetricSessionUpdates  = MetricText{"sentry.session.updates", "Updates of single sessions, by the status they state", "{update}"}
	MetricSessionsStarted = MetricText{"sentry.session.started", "Sessions that began", "{session}"}
	MetricSessions        = MetricText{"sentry.session.count", "Sessions that ended, by status", "{session}"}
	MetricSessionErrors   = MetricText{"sentry.session.errors", "Errors in single sessions that ended", "{error}"}
	MetricSessionDuration = MetricText{"sentry.session.duration", "How long single sessions lasted", "s"}
	MetricCheckIns        = MetricText{"sentry.check_in.count", "Check-ins of scheduled jobs, by monitor and status", "{check_in}"}
	MetricCheckInDuration = MetricText{"sentry.check_in.duration", "How long runs of scheduled jobs took", "s"}
	MetricDiscarded       = MetricText{"sentry.client_report.discarded", "What SDKs did not send; bytes where the category ends in _byte", "1"}
)
