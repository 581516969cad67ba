package translate

import "strings"

// The one table of attribute keys: what both directions read and write. OpenTelemetry's conventions first (semantic
// conventions 1.44), then Sentry's (github.com/getsentry/sentry-conventions), then names of ours under "sentry.".

// On the resource.
const (
	keyServiceNamespace = "service.namespace"
	keyServiceName      = "service.name"
	keyServiceVersion   = "service.version"
	keyEnvironment      = "deployment.environment.name"
	keySDKName          = "telemetry.sdk.name"
	keySDKVersion       = "telemetry.sdk.version"
	keySDKLanguage      = "telemetry.sdk.language"
	keyHostArch         = "host.arch"
	keyOSType           = "os.type"
	keyOSName           = "os.name"
	keyOSVersion        = "os.version"
	keyOSBuild          = "os.build_id"
	keyManufacturer     = "device.manufacturer"
	keyDeviceModel      = "device.model.identifier"
	keyDeviceLocale     = "device.locale"
	keyDeviceSimulator  = "device.simulator"
	keyRuntimeName      = "process.runtime.name"
	keyRuntimeVersion   = "process.runtime.version"
	keyRelease          = "sentry.release" // as sent; service.version is its part behind the @
	keyDist             = "sentry.dist"
	keyPlatform         = "sentry.platform"
	keyProject          = "sentry.project_id"
	keyDeviceArch       = "sentry.device.architecture" // as sent, where host.arch has another word for it
)

// On the profile.
const (
	keyFormatVersion = "sentry.profile.version" // 1 or 2, the sample format
	keyProfilerID    = "sentry.profiler_id"
	keyChunkID       = "sentry.chunk_id"   // only where it is no UUID: it is the profile's id otherwise
	keyProfileID     = "sentry.profile_id" // likewise for V1
	keyMeasurements  = "sentry.measurements"
	keyImages        = "sentry.debug_meta.images" // those that are no mapping

	keyClockDrift          = "sentry.clock_drift_ms"        // receipt minus the client's time of sending; on spans and log records too
	keyClockDriftCorrected = "sentry.clock_drift_corrected" // true: the times are moved by that

	keyTraceID            = "sentry.trace_id"
	keyTransactionID      = "sentry.transaction.id"
	keySegmentName        = "sentry.segment.name" // the transaction's name
	keySegmentID          = "sentry.segment.id"
	keyActiveThread       = "sentry.active_thread.id"
	keyRelativeStart      = "sentry.transaction.relative_start" // unit ns
	keyRelativeEnd        = "sentry.transaction.relative_end"
	keyRelativeCPUStart   = "sentry.transaction.relative_cpu_start" // unit ms
	keyRelativeCPUEnd     = "sentry.transaction.relative_cpu_end"
	unitNanoseconds       = "ns"
	unitMilliseconds      = "ms"
	originalPayloadFormat = "sentry"
)

// On samples.
const (
	keyThreadID       = "thread.id"
	keyThreadName     = "thread.name"
	keyThreadPriority = "sentry.thread.priority"
	keyQueueAddress   = "sentry.queue.address"
	keyQueueLabel     = "sentry.queue.label"
)

// On locations.
const (
	keyFrameType       = "profile.frame.type"
	keyFrameModule     = "sentry.frame.module"
	keyFramePackage    = "sentry.frame.package"
	keyFramePlatform   = "sentry.frame.platform"
	keyFrameInApp      = "sentry.frame.in_app"
	keyFrameFilename   = "sentry.frame.filename"         // where the frame has abs_path as well: see functionFile
	keyFrameAbsPath    = "sentry.frame.abs_path"         // where the frame has no filename
	keyInstructionAddr = "sentry.frame.instruction_addr" // as sent, where Location.address is without its tag bits
)

// On mappings.
const (
	keyBuildIDGNU  = "process.executable.build_id.gnu"
	keyDebugID     = "sentry.debug_id"
	keyImageType   = "sentry.image.type"
	keyImageCodeID = "sentry.image.code_id"
	keyImageDebug  = "sentry.image.debug_file"
	keyImageUUID   = "sentry.image.uuid"
	keyImageArch   = "sentry.image.arch"
	keyImageVMAddr = "sentry.image.vmaddr"
)

// platform is what OpenTelemetry calls a Sentry platform.
type platform struct {
	language  string // telemetry.sdk.language
	frameType string // profile.frame.type
}

// platforms: Sentry's words for languages. Chromium is the only browser with the profiling API, so javascript is V8 too.
var platforms = map[string]platform{
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

// hermesFrameType is a custom value of profile.frame.type for react-native's engine, which the convention has no word for.
const hermesFrameType = "hermes"

// hostArchs are the words of host.arch for what SDKs send; others are passed on as they are.
var hostArchs = map[string]string{
	"aarch64": "arm64", "arm64e": "arm64", "arm64-v8a": "arm64",
	"arm": "arm32", "armv7": "arm32", "armv7l": "arm32", "armv7s": "arm32", "armeabi-v7a": "arm32",
	"x86_64": "amd64", "x64": "amd64", "x86_64h": "amd64",
	"i386": "x86", "i686": "x86", "ia32": "x86",
	"ppc64le": "ppc64",
}

func hostArch(architecture string) string {
	if word, known := hostArchs[strings.ToLower(architecture)]; known {
		return word
	}
	return architecture
}

// osTypes are the words of os.type by the lower-case name SDKs send.
var osTypes = map[string]string{
	"linux": "linux", "android": "linux", "ubuntu": "linux", "debian gnu/linux": "linux", "alpine linux": "linux", "chrome os": "linux",
	"darwin": "darwin", "macos": "darwin", "mac os x": "darwin", "ios": "darwin", "ipados": "darwin", "tvos": "darwin",
	"watchos": "darwin", "visionos": "darwin",
	"windows": "windows", "win32": "windows", "microsoft windows": "windows", "freebsd": "freebsd", "netbsd": "netbsd", "openbsd": "openbsd",
	"dragonfly": "dragonflybsd", "solaris": "solaris", "sunos": "solaris", "aix": "aix",
}

// On log records.
const (
	keyItemType            = "sentry.item.type" // what the record was; absent on those that were logs
	keyItemSize            = "sentry.item.size" // bytes of the payload
	keyItemContentType     = "sentry.item.content_type"
	keyItemFilename        = "file.name"
	keyAttachmentType      = "sentry.attachment.type"
	keyMessageTemplate     = "sentry.message.template"
	keyMessageParameter    = "sentry.message.parameter." // and its number or name
	keyMessageParameters   = "sentry.message.parameters" // more than have a place each, or no list
	keyExceptionType       = "exception.type"
	keyExceptionMessage    = "exception.message"
	keyExceptionStacktrace = "exception.stacktrace"
	keyExceptions          = "sentry.exceptions"
	keyThreads             = "sentry.threads"
	keyBreadcrumbs         = "sentry.breadcrumbs"
	keyFingerprint         = "sentry.fingerprint"
	keyModules             = "sentry.modules"
	keyLogger              = "sentry.logger"
	keyFeedbackEventID     = "sentry.feedback.associated_event_id"
	keyFeedbackName        = "sentry.feedback.name"
	keyFeedbackEmail       = "sentry.feedback.contact_email"
	keyCheckInID           = "sentry.check_in.id"
	keyCheckInStatus       = "sentry.check_in.status"
	keyCheckInDuration     = "sentry.check_in.duration" // seconds
	keyMonitorSlug         = "sentry.monitor.slug"
	keyMonitorConfig       = "sentry.monitor.config"
	keyEventID             = "sentry.event.id"
	keyExtra               = "sentry.extra"
	keyServerAddress       = "server.address" // Sentry's server_name
	keySampleRand          = "sentry.sample_rand"
)

// On spans.
const (
	keySpanProfileID   = "profile_id" // OpenTelemetry's informal name for what points from a span to a profile
	keyOp              = "sentry.op"
	keyOrigin          = "sentry.origin"
	keyKind            = "sentry.kind"
	keyDescription     = "sentry.description"    // where it is not the span's name
	keyStatusMessage   = "sentry.status.message" // of streamed spans
	keyServerName      = "sentry.server_name"    // where server.address is, or would be, another machine
	keySegmentSource   = "sentry.segment.name.source"
	keyIsSegment       = "sentry.is_segment"
	keyIsRemote        = "sentry.is_remote" // the parent is in another process
	keyExclusiveTime   = "sentry.exclusive_time"
	keyTagKeys         = "sentry.tags"        // the keys of the attributes that were tags
	keySDKEnvironment  = "sentry.environment" // as attributes of streamed spans, moved to the resource
	keyStreamedSDK     = "sentry.sdk.name"
	keyStreamedVersion = "sentry.sdk.version"
)

// On data points.
const (
	keySessionStatus     = "sentry.session.status"
	keyAbnormalMechanism = "sentry.session.abnormal_mechanism"
	keyDiscardReason     = "sentry.client_report.reason"
	keyDiscardCategory   = "sentry.client_report.category"
	keyDiscardOutcome    = "sentry.client_report.outcome"
	keyTimestampSequence = "sentry.timestamp.sequence"
	keyReplayID          = "sentry.replay_id"
	measurementPrefix    = "sentry.profile." // and the name of the series: a metric's name
)

// The statuses in which a session ends.
const (
	statusExited    = "exited"
	statusErrored   = "errored" // exited, with errors
	statusAbnormal  = "abnormal"
	statusCrashed   = "crashed"
	statusUnhandled = "unhandled"
)

// The metrics that are ours.
var (
	metricSessionUpdates  = metricText{"sentry.session.updates", "Updates of single sessions, by the status they state", "{update}"}
	metricSessionsStarted = metricText{"sentry.session.started", "Sessions that began", "{session}"}
	metricSessions        = metricText{"sentry.session.count", "Sessions that ended, by status", "{session}"}
	metricSessionErrors   = metricText{"sentry.session.errors", "Errors in single sessions that ended", "{error}"}
	metricSessionDuration = metricText{"sentry.session.duration", "How long single sessions lasted", "s"}
	metricCheckIns        = metricText{"sentry.check_in.count", "Check-ins of scheduled jobs, by monitor and status", "{check_in}"}
	metricCheckInDuration = metricText{"sentry.check_in.duration", "How long runs of scheduled jobs took", "s"}
	metricDiscarded       = metricText{"sentry.client_report.discarded", "What SDKs did not send; bytes where the category ends in _byte", "1"}
)
