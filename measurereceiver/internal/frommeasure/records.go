// SPDX-License-Identifier: Apache-2.0

package frommeasure

import (
	"math"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

func logRecord(r plog.LogRecord, e *measure.Event) {
	setSeverityText(r, e.Log.SeverityText)
	r.SetSeverityNumber(plog.SeverityNumber(e.Log.SeverityNumber.Value)) // OpenTelemetry's number; validated
	r.Body().SetStr(e.Log.Body)
}

// severities are the numbers of "log" events, by text; a "string" event has only the text.
var severities = map[string]plog.SeverityNumber{
	"debug": plog.SeverityNumberDebug4, "info": plog.SeverityNumberInfo4, "warning": plog.SeverityNumberWarn4,
	"error": plog.SeverityNumberError4, "fatal": plog.SeverityNumberFatal4,
}

// setSeverityText sets the usual text of a severity, and keeps the original if it differs.
func setSeverityText(r plog.LogRecord, severity string) {
	_, text := attr.Severity(severity)
	r.SetSeverityText(text)
	if text != severity {
		r.Attributes().PutStr(semconv.MeasureSeverityText, severity)
	}
}

func stringRecord(r plog.LogRecord, e *measure.Event) {
	setSeverityText(r, e.String.SeverityText)
	r.SetSeverityNumber(severities[strings.ToLower(e.String.SeverityText)])
	r.Body().SetStr(e.String.String)
}

// exitErrors are the exit reasons that are errors, without the prefix REASON_ of Android's API and
// Measure's documentation.
var exitErrors = map[string]bool{
	"CRASH": true, "CRASH_NATIVE": true, "ANR": true, "LOW_MEMORY": true, "INITIALIZATION_FAILURE": true, "EXCESSIVE_RESOURCE_USAGE": true,
}

// maxTrace limits the text dump of all threads; recorded dumps have 60 KB.
const maxTrace = 256 << 10

func appExitRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName(semconv.EventMeasureAppExit)
	if exitErrors[strings.TrimPrefix(e.AppExit.Reason, "REASON_")] {
		r.SetSeverityNumber(plog.SeverityNumberError)
	}
	attrs := r.Attributes()
	attr.PutText(attrs, semconv.MeasureAppExitReason, e.AppExit.Reason)
	attr.PutText(attrs, semconv.MeasureAppExitImportance, e.AppExit.Importance)
	attr.PutText(attrs, semconv.MeasureAppExitProcessName, e.AppExit.ProcessName)
	attr.PutText(attrs, semconv.MeasureAppExitTimestamp, string(e.AppExit.Timestamp))
	if pid, err := strconv.ParseInt(string(e.AppExit.PID), 10, 64); err == nil {
		attrs.PutInt(semconv.ProcessPID, pid)
	}
	trace := e.AppExit.Trace
	if len(trace) > maxTrace {
		attrs.PutInt(semconv.MeasureAppExitTraceBytes, int64(len(trace)))
		trace = strings.ToValidUTF8(trace[:maxTrace], "")
	}
	attr.PutText(attrs, semconv.MeasureAppExitTrace, trace)
}

// clickRecord uses the convention's event for widgets only if the widget has an ID, which it
// requires.
func clickRecord(r plog.LogRecord, g *measure.Gesture) {
	if g.TargetID != "" {
		gestureRecord(r, semconv.EventAppWidgetClick, g)
		return
	}
	gestureRecord(r, semconv.EventAppScreenClick, g)
}

func gestureRecord(r plog.LogRecord, name string, g *measure.Gesture) {
	r.SetEventName(name)
	attrs := r.Attributes()
	attr.PutText(attrs, semconv.AppWidgetID, g.TargetID)
	attr.PutText(attrs, semconv.AppWidgetName, attr.FirstText(g.Label, g.SemanticLabel))
	if g.Label != "" {
		attr.PutText(attrs, semconv.MeasureGestureSemanticLabel, g.SemanticLabel)
	}
	attrs.PutInt(semconv.AppScreenCoordinateX, int64(math.Round(g.X.Value)))
	attrs.PutInt(semconv.AppScreenCoordinateY, int64(math.Round(g.Y.Value)))
	attr.PutText(attrs, semconv.MeasureGestureTarget, g.Target)
	putInt(attrs, semconv.MeasureGestureWidth, g.Width)
	putInt(attrs, semconv.MeasureGestureHeight, g.Height)
	if g.TouchDown.Set && g.TouchUp.Set {
		attrs.PutInt(semconv.MeasureGestureTouchDurationMS, g.TouchUp.Value-g.TouchDown.Value)
	}
	putFloat(attrs, semconv.MeasureGestureX, g.X)
	putFloat(attrs, semconv.MeasureGestureY, g.Y)
	putFloat(attrs, semconv.MeasureGestureEndX, g.EndX)
	putFloat(attrs, semconv.MeasureGestureEndY, g.EndY)
	attr.PutText(attrs, semconv.MeasureGestureDirection, g.Direction)
}

func lifecycleRecord(r plog.LogRecord, eventType string, l *measure.Lifecycle) {
	r.SetEventName(semconv.MeasurePrefix + eventType)
	attrs := r.Attributes()
	attr.PutText(attrs, semconv.MeasureLifecycleType, l.Type)
	putScreen(attrs, l.ClassName)
	attr.PutText(attrs, semconv.MeasureLifecycleIntent, l.Intent)
	flagOf(l.SavedInstanceState).put(attrs, semconv.MeasureLifecycleSavedInstanceState)
	attr.PutText(attrs, semconv.MeasureLifecycleParentActivity, l.ParentActivity)
	attr.PutText(attrs, semconv.MeasureLifecycleParentFragment, l.ParentFragment)
	attr.PutText(attrs, semconv.MeasureLifecycleTag, l.Tag)
}

func appLifecycleRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName(semconv.EventDeviceAppLifecycle)
	key, state := semconv.AndroidAppState, e.LifecycleApp.Type
	if e.Attribute.Family() == measure.Apple {
		key = semconv.IOSAppState
	}
	if state == "terminated" {
		state = "terminate" // the convention's value
	}
	attr.PutText(r.Attributes(), key, state)
}

func launchRecord(r plog.LogRecord, eventType, kind string, l *measure.Launch) {
	r.SetEventName(semconv.EventMeasureAppLaunch)
	attrs := r.Attributes()
	attrs.PutStr(semconv.MeasureLaunchType, kind)
	putTrue(attrs, semconv.MeasureLaunchLukewarm, l.IsLukewarm)
	if ms, ok := l.Milliseconds(eventType); ok {
		attrs.PutDouble(semconv.MeasureLaunchDuration, float64(ms)/msPerSecond)
	}
	attr.PutText(attrs, semconv.MeasureLaunchActivity, l.LaunchedActivity)
	flagOf(l.HasSavedState).put(attrs, semconv.MeasureLaunchHasSavedState)
	attr.PutText(attrs, semconv.MeasureLaunchIntentData, l.IntentData)
	putInt(attrs, semconv.MeasureLaunchProcessStartUptime, l.ProcessStart)
	putInt(attrs, semconv.MeasureLaunchProcessStartRequestedUptime, l.ProcessStartRequested)
	putInt(attrs, semconv.MeasureLaunchContentProviderAttachUptime, l.ContentProviderAttach)
	putInt(attrs, semconv.MeasureLaunchAppVisibleUptime, l.AppVisible)
	putInt(attrs, semconv.MeasureLaunchOnNextDrawUptime, l.OnNextDraw)
}

func navigationRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName(semconv.EventMeasureNavigation)
	attr.PutText(r.Attributes(), semconv.MeasureNavigationFrom, e.Navigation.From)
	attr.PutText(r.Attributes(), semconv.MeasureNavigationTo, e.Navigation.To)
	attr.PutText(r.Attributes(), semconv.MeasureNavigationSource, e.Navigation.Source)
}

func screenViewRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName(semconv.EventMeasureScreenView)
	attr.PutText(r.Attributes(), semconv.AppScreenName, e.ScreenView.Name)
}

// networkChangeRecord overrides the network of the event's attributes, which also is the network
// after the change.
func networkChangeRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName(semconv.EventMeasureNetworkChange)
	n, attrs := e.NetworkChange, r.Attributes()
	attr.PutText(attrs, semconv.NetworkConnectionType, connectionTypes[n.Type])
	attr.PutText(attrs, semconv.MeasureNetworkPreviousType, connectionTypes[n.PreviousType])
	attr.PutText(attrs, semconv.MeasureNetworkGeneration, n.Generation)
	attr.PutText(attrs, semconv.MeasureNetworkPreviousGeneration, n.PreviousGeneration)
	putKnown(attrs, semconv.NetworkCarrierName, n.Provider)
}

// urgentTrims are the levels after which the system ends processes.
var urgentTrims = map[string]bool{"TRIM_MEMORY_RUNNING_CRITICAL": true, "TRIM_MEMORY_COMPLETE": true}

func trimMemoryRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName(semconv.EventMeasureTrimMemory)
	if urgentTrims[e.TrimMemory.Level] {
		r.SetSeverityNumber(plog.SeverityNumberWarn)
	}
	attr.PutText(r.Attributes(), semconv.MeasureTrimMemoryLevel, e.TrimMemory.Level)
}

func lowMemoryRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName(semconv.EventMeasureLowMemory)
	r.SetSeverityNumber(plog.SeverityNumberWarn)
	m, attrs := e.LowMemory, r.Attributes()
	for _, size := range []struct {
		key string
		kib measure.Int
	}{
		{semconv.MeasureLowMemoryJavaMaxHeap, m.JavaMaxHeap},
		{semconv.MeasureLowMemoryJavaTotalHeap, m.JavaTotalHeap},
		{semconv.MeasureLowMemoryJavaFreeHeap, m.JavaFreeHeap},
		{semconv.MeasureLowMemoryTotalPSS, m.TotalPSS},
		{semconv.MeasureLowMemoryRSS, m.RSS},
		{semconv.MeasureLowMemoryNativeTotalHeap, m.NativeTotalHeap},
		{semconv.MeasureLowMemoryNativeFreeHeap, m.NativeFreeHeap},
	} {
		if bytes, ok := bytesOf(size.kib); ok {
			attrs.PutInt(size.key, bytes)
		}
	}
}

func customRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName(semconv.EventMeasureCustom)
	attr.PutText(r.Attributes(), semconv.MeasureCustomName, e.Custom.Name)
}

func bugReportRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName(semconv.EventMeasureBugReport)
	if e.BugReport.Description != "" {
		r.Body().SetStr(e.BugReport.Description)
	}
}

func profileRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName(semconv.EventMeasureProfile)
	attr.PutText(r.Attributes(), semconv.MeasureProfileReason, e.Profile.Reason)
	attr.PutText(r.Attributes(), semconv.MeasureProfileFormat, e.Profile.Format)
}

// File is a file of an event or a build, uploaded or announced.
type File struct {
	ID, Type, Name string
	ContentType    string
	Encoding       string // Content-Encoding of the stored file
	SHA256         string // of the stored file
	Path           string // of the stored file; "" = dropped
	Size           int64
	EventID        measure.ID
	SessionID      measure.ID
	EventNano      uint64
}

// FileToLogs translates a file to a record. attributes are those of its event, nil if they are
// unknown.
func FileToLogs(f File, attributes *measure.Attributes, src Source) plog.Logs {
	out := plog.NewLogs()
	if attributes == nil {
		attributes = &measure.Attributes{}
	}
	scope := newLogs(out, resourceOf(attributes), src)
	record := scope.LogRecords().AppendEmpty()
	record.SetTimestamp(pcommon.Timestamp(f.EventNano))
	record.SetObservedTimestamp(pcommon.Timestamp(src.ReceivedNano))
	record.SetSeverityNumber(plog.SeverityNumberInfo)
	record.SetEventName(semconv.EventMeasureAttachment)
	attrs := record.Attributes()
	attr.PutText(attrs, semconv.MeasureAttachmentID, f.ID)
	attr.PutText(attrs, semconv.MeasureAttachmentType, f.Type)
	attr.PutText(attrs, semconv.MeasureAttachmentName, f.Name)
	attrs.PutInt(semconv.MeasureAttachmentSize, f.Size)
	attr.PutText(attrs, semconv.MeasureAttachmentContentType, f.ContentType)
	attr.PutText(attrs, semconv.MeasureAttachmentContentEncoding, f.Encoding)
	attr.PutText(attrs, semconv.MeasureAttachmentSHA256, f.SHA256)
	attr.PutText(attrs, semconv.MeasureAttachmentPath, f.Path)
	attr.PutText(attrs, semconv.MeasureEventID, f.EventID.String())
	attr.PutText(attrs, semconv.SessionID, f.SessionID.String())
	return out
}

// BuildToLogs translates a build of an app to a record.
func BuildToLogs(b *measure.Build, src Source) plog.Logs {
	out := plog.NewLogs()
	resource := out.ResourceLogs().AppendEmpty()
	resource.SetSchemaUrl(semconv.SchemaURL)
	attrs := resource.Resource().Attributes()
	attr.PutText(attrs, semconv.ServiceName, src.ServiceName)
	attr.PutText(attrs, semconv.DeploymentEnvironmentName, src.Environment)
	attr.PutText(attrs, semconv.ServiceVersion, b.VersionName)
	attr.PutText(attrs, semconv.AppBuildID, b.VersionCode)
	scope := resource.ScopeLogs().AppendEmpty()
	scope.SetSchemaUrl(semconv.SchemaURL)
	scope.Scope().SetName(scopeName)
	record := scope.LogRecords().AppendEmpty()
	record.SetObservedTimestamp(pcommon.Timestamp(src.ReceivedNano))
	record.SetSeverityNumber(plog.SeverityNumberInfo)
	record.SetEventName(semconv.EventMeasureBuild)
	attr.PutText(record.Attributes(), semconv.MeasureBuildType, b.Type)
	putInt(record.Attributes(), semconv.MeasureBuildSize, b.Size)
	attr.PutText(record.Attributes(), semconv.MeasurePatchID, b.PatchID.String())
	attr.PutText(record.Attributes(), semconv.MeasurePatchVersion, b.PatchVersion)
	if n := len(b.Mappings); n > 0 {
		record.Attributes().PutInt(semconv.MeasureBuildMappings, int64(n))
	}
	return out
}
