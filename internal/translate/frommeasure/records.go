// SPDX-License-Identifier: Apache-2.0

package frommeasure

import (
	"math"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/measure"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

func logRecord(r plog.LogRecord, e *measure.Event) {
	r.SetSeverityText(e.Log.SeverityText)
	r.SetSeverityNumber(plog.SeverityNumber(e.Log.SeverityNumber.Value)) // of OpenTelemetry's own, as validated
	r.Body().SetStr(e.Log.Body)
}

// measureSeverities are those of "log" by their text; a "string" has only the text.
var measureSeverities = map[string]plog.SeverityNumber{
	"debug": plog.SeverityNumberDebug4, "info": plog.SeverityNumberInfo4, "warning": plog.SeverityNumberWarn4,
	"error": plog.SeverityNumberError4, "fatal": plog.SeverityNumberFatal4,
}

func stringRecord(r plog.LogRecord, e *measure.Event) {
	r.SetSeverityText(e.String.SeverityText)
	r.SetSeverityNumber(measureSeverities[strings.ToLower(e.String.SeverityText)])
	r.Body().SetStr(e.String.String)
}

// exitErrors are the reasons for which a process ends that somebody should look at, without the REASON_ that they begin with in
// Android's API and Measure's published document.
var exitErrors = map[string]bool{
	"CRASH": true, "CRASH_NATIVE": true, "ANR": true, "LOW_MEMORY": true, "INITIALIZATION_FAILURE": true, "EXCESSIVE_RESOURCE_USAGE": true,
}

// maxTrace is what is kept of the text dump of all threads; recorded ones have 60 KB.
const maxTrace = 256 << 10

func appExitRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName("measure.app_exit")
	if exitErrors[strings.TrimPrefix(e.AppExit.Reason, "REASON_")] {
		r.SetSeverityNumber(plog.SeverityNumberError)
	}
	attrs := r.Attributes()
	attr.PutText(attrs, "measure.app_exit.reason", e.AppExit.Reason)
	attr.PutText(attrs, "measure.app_exit.importance", e.AppExit.Importance)
	attr.PutText(attrs, "measure.app_exit.process_name", e.AppExit.ProcessName)
	attr.PutText(attrs, "measure.app_exit.timestamp", string(e.AppExit.Timestamp))
	if pid, err := strconv.ParseInt(string(e.AppExit.PID), 10, 64); err == nil {
		attrs.PutInt("process.pid", pid)
	}
	trace := e.AppExit.Trace
	if len(trace) > maxTrace {
		attrs.PutInt("measure.app_exit.trace_bytes", int64(len(trace)))
		trace = strings.ToValidUTF8(trace[:maxTrace], "")
	}
	attr.PutText(attrs, "measure.app_exit.trace", trace)
}

// clickRecord: the convention's event for widgets needs an id of the widget.
func clickRecord(r plog.LogRecord, g *measure.Gesture) {
	if g.TargetID != "" {
		gestureRecord(r, "app.widget.click", g)
		return
	}
	gestureRecord(r, "app.screen.click", g)
}

func gestureRecord(r plog.LogRecord, name string, g *measure.Gesture) {
	r.SetEventName(name)
	attrs := r.Attributes()
	attr.PutText(attrs, "app.widget.id", g.TargetID)
	attr.PutText(attrs, "app.widget.name", attr.FirstText(g.Label, g.SemanticLabel))
	if g.Label != "" {
		attr.PutText(attrs, "measure.gesture.semantic_label", g.SemanticLabel)
	}
	attrs.PutInt("app.screen.coordinate.x", int64(math.Round(g.X.Value)))
	attrs.PutInt("app.screen.coordinate.y", int64(math.Round(g.Y.Value)))
	attr.PutText(attrs, "measure.gesture.target", g.Target)
	putMeasureInt(attrs, "measure.gesture.width", g.Width)
	putMeasureInt(attrs, "measure.gesture.height", g.Height)
	if g.TouchDown.Set && g.TouchUp.Set {
		attrs.PutInt("measure.gesture.touch_duration_ms", g.TouchUp.Value-g.TouchDown.Value)
	}
	putMeasureFloat(attrs, "measure.gesture.x", g.X)
	putMeasureFloat(attrs, "measure.gesture.y", g.Y)
	putMeasureFloat(attrs, "measure.gesture.end_x", g.EndX)
	putMeasureFloat(attrs, "measure.gesture.end_y", g.EndY)
	attr.PutText(attrs, "measure.gesture.direction", g.Direction)
}

func lifecycleRecord(r plog.LogRecord, eventType string, l *measure.Lifecycle) {
	r.SetEventName("measure." + eventType)
	attrs := r.Attributes()
	attr.PutText(attrs, "measure.lifecycle.type", l.Type)
	putScreen(attrs, l.ClassName)
	attr.PutText(attrs, "measure.lifecycle.intent", l.Intent)
	flagOf(l.SavedInstanceState).put(attrs, "measure.lifecycle.saved_instance_state")
	attr.PutText(attrs, "measure.lifecycle.parent_activity", l.ParentActivity)
	attr.PutText(attrs, "measure.lifecycle.parent_fragment", l.ParentFragment)
	attr.PutText(attrs, "measure.lifecycle.tag", l.Tag)
}

func appLifecycleRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName("device.app.lifecycle")
	key, state := "android.app.state", e.LifecycleApp.Type
	if e.Attribute.Family() == measure.Apple {
		key = "ios.app.state"
	}
	if state == "terminated" {
		state = "terminate" // the convention's word
	}
	attr.PutText(r.Attributes(), key, state)
}

func launchRecord(r plog.LogRecord, eventType, kind string, l *measure.Launch) {
	r.SetEventName("measure.app_launch")
	attrs := r.Attributes()
	attrs.PutStr("measure.launch.type", kind)
	putTrue(attrs, "measure.launch.lukewarm", l.IsLukewarm)
	if ms, ok := l.Milliseconds(eventType); ok {
		attrs.PutDouble("measure.launch.duration", float64(ms)/msPerSecond)
	}
	attr.PutText(attrs, "measure.launch.activity", l.LaunchedActivity)
	flagOf(l.HasSavedState).put(attrs, "measure.launch.has_saved_state")
	attr.PutText(attrs, "measure.launch.intent_data", l.IntentData)
	putMeasureInt(attrs, "measure.launch.process_start_uptime", l.ProcessStart)
	putMeasureInt(attrs, "measure.launch.process_start_requested_uptime", l.ProcessStartRequested)
	putMeasureInt(attrs, "measure.launch.content_provider_attach_uptime", l.ContentProviderAttach)
	putMeasureInt(attrs, "measure.launch.app_visible_uptime", l.AppVisible)
	putMeasureInt(attrs, "measure.launch.on_next_draw_uptime", l.OnNextDraw)
}

func navigationRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName("measure.navigation")
	attr.PutText(r.Attributes(), "measure.navigation.from", e.Navigation.From)
	attr.PutText(r.Attributes(), "measure.navigation.to", e.Navigation.To)
	attr.PutText(r.Attributes(), "measure.navigation.source", e.Navigation.Source)
}

func screenViewRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName("measure.screen_view")
	attr.PutText(r.Attributes(), keyScreenName, e.ScreenView.Name)
}

// networkChangeRecord: what the network is now replaces what the attributes of the event say, which is as of the change too.
func networkChangeRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName("measure.network_change")
	n, attrs := e.NetworkChange, r.Attributes()
	attr.PutText(attrs, keyConnectionType, connectionTypes[n.Type])
	attr.PutText(attrs, "measure.network.previous_type", connectionTypes[n.PreviousType])
	attr.PutText(attrs, "measure.network.generation", n.Generation)
	attr.PutText(attrs, "measure.network.previous_generation", n.PreviousGeneration)
	putKnown(attrs, keyCarrierName, n.Provider)
}

// urgentTrims are the levels after which the system ends processes.
var urgentTrims = map[string]bool{"TRIM_MEMORY_RUNNING_CRITICAL": true, "TRIM_MEMORY_COMPLETE": true}

func trimMemoryRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName("measure.trim_memory")
	if urgentTrims[e.TrimMemory.Level] {
		r.SetSeverityNumber(plog.SeverityNumberWarn)
	}
	attr.PutText(r.Attributes(), "measure.trim_memory.level", e.TrimMemory.Level)
}

func lowMemoryRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName("measure.low_memory")
	r.SetSeverityNumber(plog.SeverityNumberWarn)
	m, attrs := e.LowMemory, r.Attributes()
	for _, size := range []struct {
		name string
		kib  measure.Int
	}{
		{"java_max_heap", m.JavaMaxHeap}, {"java_total_heap", m.JavaTotalHeap}, {"java_free_heap", m.JavaFreeHeap}, {"total_pss", m.TotalPSS},
		{"rss", m.RSS}, {"native_total_heap", m.NativeTotalHeap}, {"native_free_heap", m.NativeFreeHeap},
	} {
		if bytes, ok := bytesOf(size.kib); ok {
			attrs.PutInt("measure.low_memory."+size.name, bytes)
		}
	}
}

func customRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName("measure.custom")
	attr.PutText(r.Attributes(), "measure.custom.name", e.Custom.Name)
}

func bugReportRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName("measure.bug_report")
	if e.BugReport.Description != "" {
		r.Body().SetStr(e.BugReport.Description)
	}
}

func profileRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName("measure.profile")
	attr.PutText(r.Attributes(), "measure.profile.reason", e.Profile.Reason)
	attr.PutText(r.Attributes(), "measure.profile.format", e.Profile.Format)
}

// File is a file that came for an event or a build, or was announced.
type File struct {
	ID, Type, Name string
	ContentType    string
	Encoding       string // Content-Encoding that it is stored in
	SHA256         string // of what is stored
	Path           string // where; "" = it was dropped
	Size           int64
	EventID        measure.ID
	SessionID      measure.ID
	EventNano      uint64
}

// FileToLogs describes a file in a record. attributes are those of its event, nil when they are not known any more.
func FileToLogs(f File, attributes *measure.Attributes, src Source) plog.Logs {
	out := plog.NewLogs()
	if attributes == nil {
		attributes = &measure.Attributes{}
	}
	scope := newMeasureLogs(out, measureResourceOf(attributes), src)
	record := scope.LogRecords().AppendEmpty()
	record.SetTimestamp(pcommon.Timestamp(f.EventNano))
	record.SetObservedTimestamp(pcommon.Timestamp(src.ReceivedNano))
	record.SetSeverityNumber(plog.SeverityNumberInfo)
	record.SetEventName("measure.attachment")
	attrs := record.Attributes()
	attr.PutText(attrs, "measure.attachment.id", f.ID)
	attr.PutText(attrs, "measure.attachment.type", f.Type)
	attr.PutText(attrs, "measure.attachment.name", f.Name)
	attrs.PutInt("measure.attachment.size", f.Size)
	attr.PutText(attrs, "measure.attachment.content_type", f.ContentType)
	attr.PutText(attrs, "measure.attachment.content_encoding", f.Encoding)
	attr.PutText(attrs, "measure.attachment.sha256", f.SHA256)
	attr.PutText(attrs, "measure.attachment.path", f.Path)
	attr.PutText(attrs, "measure.event.id", f.EventID.String())
	attr.PutText(attrs, keySessionID, f.SessionID.String())
	return out
}

// BuildToLogs describes a build of an app.
func BuildToLogs(b *measure.Build, src Source) plog.Logs {
	out := plog.NewLogs()
	resource := out.ResourceLogs().AppendEmpty()
	attrs := resource.Resource().Attributes()
	attr.PutText(attrs, attr.KeyServiceName, src.ServiceName)
	attr.PutText(attrs, attr.KeyEnvironment, src.Environment)
	attr.PutText(attrs, attr.KeyServiceVersion, b.VersionName)
	attr.PutText(attrs, keyAppBuild, b.VersionCode)
	scope := resource.ScopeLogs().AppendEmpty()
	scope.Scope().SetName(measureScope)
	record := scope.LogRecords().AppendEmpty()
	record.SetObservedTimestamp(pcommon.Timestamp(src.ReceivedNano))
	record.SetSeverityNumber(plog.SeverityNumberInfo)
	record.SetEventName("measure.build")
	attr.PutText(record.Attributes(), "measure.build.type", b.Type)
	putMeasureInt(record.Attributes(), "measure.build.size", b.Size)
	attr.PutText(record.Attributes(), "measure.patch.id", b.PatchID.String())
	attr.PutText(record.Attributes(), "measure.patch.version", b.PatchVersion)
	if n := len(b.Mappings); n > 0 {
		record.Attributes().PutInt("measure.build.mappings", int64(n))
	}
	return out
}
