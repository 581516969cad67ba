// SPDX-License-Identifier: Apache-2.0

package semconv

// OTel: event names.
const (
	EventSessionStart       = "session.start"
	EventAppCrash           = "app.crash"
	EventAppScreenClick     = "app.screen.click"
	EventAppWidgetClick     = "app.widget.click"
	EventDeviceAppLifecycle = "device.app.lifecycle"
)

// OTel, on events.
const (
	AppCrashID           = "app.crash.id"
	AppScreenID          = "app.screen.id"
	AppScreenName        = "app.screen.name"
	AppScreenCoordinateX = "app.screen.coordinate.x"
	AppScreenCoordinateY = "app.screen.coordinate.y"
	AppWidgetID          = "app.widget.id"
	AppWidgetName        = "app.widget.name"
	AndroidAppState      = "android.app.state"
	IOSAppState          = "ios.app.state"
)

// Project: event names, from the types in Measure's format except app_launch, attachment and build.
const (
	EventMeasureANR              = "measure.anr"
	EventMeasureAppExit          = "measure.app_exit"
	EventMeasureAppLaunch        = "measure.app_launch"
	EventMeasureAttachment       = "measure.attachment"
	EventMeasureBugReport        = "measure.bug_report"
	EventMeasureBuild            = "measure.build"
	EventMeasureCustom           = "measure.custom"
	EventMeasureGestureLongClick = "measure.gesture_long_click"
	EventMeasureGestureScroll    = "measure.gesture_scroll"
	EventMeasureLowMemory        = "measure.low_memory"
	EventMeasureNavigation       = "measure.navigation"
	EventMeasureNetworkChange    = "measure.network_change"
	EventMeasureProfile          = "measure.profile"
	EventMeasureScreenView       = "measure.screen_view"
	EventMeasureTrimMemory       = "measure.trim_memory"
)

// Project: exceptions and app exits.
const (
	MeasureExceptionSeverity       = "measure.exception.severity"
	MeasureExceptionFramework      = "measure.exception.framework"
	MeasureExceptionForeground     = "measure.exception.foreground"
	MeasureExceptionIsCustom       = "measure.exception.is_custom"
	MeasureExceptionNumCode        = "measure.exception.num_code"
	MeasureExceptionCode           = "measure.exception.code"
	MeasureExceptionMeta           = "measure.exception.meta"
	MeasureExceptionSignal         = "measure.exception.signal"
	MeasureExceptionThreadSequence = "measure.exception.thread_sequence"
	MeasureExceptionPartsDropped   = "measure.exception.parts_dropped"
	MeasureExceptionUnits          = "measure.exception.units"
	MeasureExceptionThreads        = "measure.exception.threads"
	MeasureExceptionBinaryImages   = "measure.exception.binary_images"
	MeasureAppExitReason           = "measure.app_exit.reason"
	MeasureAppExitImportance       = "measure.app_exit.importance"
	MeasureAppExitProcessName      = "measure.app_exit.process_name"
	MeasureAppExitTimestamp        = "measure.app_exit.timestamp"
	MeasureAppExitTrace            = "measure.app_exit.trace"
	MeasureAppExitTraceBytes       = "measure.app_exit.trace_bytes"
)

// Project: logs.
const MeasureSeverityText = "measure.severity_text" // as sent, if the text of the record differs

// Project: user interface.
const (
	MeasureGestureTarget                     = "measure.gesture.target"
	MeasureGestureSemanticLabel              = "measure.gesture.semantic_label"
	MeasureGestureWidth                      = "measure.gesture.width"
	MeasureGestureHeight                     = "measure.gesture.height"
	MeasureGestureTouchDurationMS            = "measure.gesture.touch_duration_ms"
	MeasureGestureX                          = "measure.gesture.x"
	MeasureGestureY                          = "measure.gesture.y"
	MeasureGestureEndX                       = "measure.gesture.end_x"
	MeasureGestureEndY                       = "measure.gesture.end_y"
	MeasureGestureDirection                  = "measure.gesture.direction"
	MeasureLifecycleType                     = "measure.lifecycle.type"
	MeasureLifecycleIntent                   = "measure.lifecycle.intent"
	MeasureLifecycleSavedInstanceState       = "measure.lifecycle.saved_instance_state"
	MeasureLifecycleParentActivity           = "measure.lifecycle.parent_activity"
	MeasureLifecycleParentFragment           = "measure.lifecycle.parent_fragment"
	MeasureLifecycleTag                      = "measure.lifecycle.tag"
	MeasureLaunchType                        = "measure.launch.type"
	MeasureLaunchLukewarm                    = "measure.launch.lukewarm"
	MeasureLaunchDuration                    = "measure.launch.duration"
	MeasureLaunchActivity                    = "measure.launch.activity"
	MeasureLaunchHasSavedState               = "measure.launch.has_saved_state"
	MeasureLaunchIntentData                  = "measure.launch.intent_data"
	MeasureLaunchProcessStartUptime          = "measure.launch.process_start_uptime"
	MeasureLaunchProcessStartRequestedUptime = "measure.launch.process_start_requested_uptime"
	MeasureLaunchContentProviderAttachUptime = "measure.launch.content_provider_attach_uptime"
	MeasureLaunchAppVisibleUptime            = "measure.launch.app_visible_uptime"
	MeasureLaunchOnNextDrawUptime            = "measure.launch.on_next_draw_uptime"
	MeasureNavigationFrom                    = "measure.navigation.from"
	MeasureNavigationTo                      = "measure.navigation.to"
	MeasureNavigationSource                  = "measure.navigation.source"
)

// Project: other events.
const (
	MeasureNetworkPreviousType       = "measure.network.previous_type"
	MeasureNetworkPreviousGeneration = "measure.network.previous_generation"
	MeasureTrimMemoryLevel           = "measure.trim_memory.level"
	MeasureLowMemoryJavaMaxHeap      = "measure.low_memory.java_max_heap"
	MeasureLowMemoryJavaTotalHeap    = "measure.low_memory.java_total_heap"
	MeasureLowMemoryJavaFreeHeap     = "measure.low_memory.java_free_heap"
	MeasureLowMemoryTotalPSS         = "measure.low_memory.total_pss"
	MeasureLowMemoryRSS              = "measure.low_memory.rss"
	MeasureLowMemoryNativeTotalHeap  = "measure.low_memory.native_total_heap"
	MeasureLowMemoryNativeFreeHeap   = "measure.low_memory.native_free_heap"
	MeasureCustomName                = "measure.custom.name"
	MeasureProfileReason             = "measure.profile.reason"
	MeasureProfileFormat             = "measure.profile.format"
)

// Project: files.
const (
	MeasureEventID                   = "measure.event.id"
	MeasureAttachmentID              = "measure.attachment.id"
	MeasureAttachmentType            = "measure.attachment.type"
	MeasureAttachmentName            = "measure.attachment.name"
	MeasureAttachmentSize            = "measure.attachment.size"
	MeasureAttachmentContentType     = "measure.attachment.content_type"
	MeasureAttachmentContentEncoding = "measure.attachment.content_encoding"
	MeasureAttachmentSHA256          = "measure.attachment.sha256"
	MeasureAttachmentPath            = "measure.attachment.path"
	MeasureBuildType                 = "measure.build.type"
	MeasureBuildSize                 = "measure.build.size"
	MeasureBuildMappings             = "measure.build.mappings"
)
