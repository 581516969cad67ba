// SPDX-License-Identifier: Apache-2.0

package frommeasure

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

// Signal is the OTLP signal of an event.
type Signal int

const (
	SignalLogs Signal = iota
	SignalTraces
	SignalMetrics
)

// SignalOf returns the signal of an event. A low_memory event is a log record and also has data
// points.
func SignalOf(e *measure.Event) Signal {
	switch e.Type {
	case measure.TypeHTTP:
		return SignalTraces
	case measure.TypeCPUUsage, measure.TypeMemoryUsage, measure.TypeMemoryUsageAbsolute:
		return SignalMetrics
	}
	return SignalLogs
}

// ToLogs translates events that are neither spans nor metrics: one record per event, in order,
// under its resource.
func ToLogs(events []measure.Event, src Source) plog.Logs {
	out := plog.NewLogs()
	entries := newByResource(func(r resourceKey) plog.ScopeLogs {
		return newLogs(out, r, src)
	})
	for i := range events {
		if e := &events[i]; SignalOf(e) == SignalLogs {
			fillRecord(entries.of(&e.Attribute).LogRecords().AppendEmpty(), e, src)
		}
	}
	return out
}

func newLogs(out plog.Logs, r resourceKey, src Source) plog.ScopeLogs {
	resource := out.ResourceLogs().AppendEmpty()
	resource.SetSchemaUrl(semconv.SchemaURL)
	r.fill(resource.Resource().Attributes(), src)
	scope := resource.ScopeLogs().AppendEmpty()
	scope.SetSchemaUrl(semconv.SchemaURL)
	scope.Scope().SetName(scopeName)
	return scope
}

func fillRecord(record plog.LogRecord, e *measure.Event, src Source) {
	record.SetTimestamp(pcommon.Timestamp(e.Timestamp.UnixNano))
	record.SetObservedTimestamp(pcommon.Timestamp(src.ReceivedNano))
	record.SetSeverityNumber(plog.SeverityNumberInfo)
	attrs := record.Attributes()
	attrs.PutStr(semconv.LogRecordUID, e.ID.String())
	putMoment(attrs, e.SessionID, &e.Attribute, src)
	putTrue(attrs, semconv.MeasureUserTriggered, e.UserTriggered)
	if translate, known := recordFillers[e.Type]; known {
		translate(record, e)
	} else {
		record.SetEventName(semconv.MeasurePrefix + e.Type)
		putUnknownPayload(attrs, e)
	}
	putAttachments(attrs, e.Attachments)
	putUserAttributes(attrs, e.UserDefined, src)
	putUserAttributes(attrs, e.LegacyUserDefined, src)
}

// recordFillers fill the records of known types; other types are spans, metrics or unknown.
var recordFillers = map[string]func(plog.LogRecord, *measure.Event){
	measure.TypeSessionStart: func(r plog.LogRecord, _ *measure.Event) { r.SetEventName(semconv.EventSessionStart) },
	measure.TypeException:    exceptionRecord, // exceptions.go
	measure.TypeANR:          anrRecord,
	measure.TypeAppExit:      appExitRecord,
	measure.TypeLog:          logRecord,
	measure.TypeString:       stringRecord,
	measure.TypeGestureClick: func(r plog.LogRecord, e *measure.Event) { clickRecord(r, e.GestureClick) },
	measure.TypeGestureLongClick: func(r plog.LogRecord, e *measure.Event) {
		gestureRecord(r, semconv.EventMeasureGestureLongClick, e.GestureLongClick)
	},
	measure.TypeGestureScroll: func(r plog.LogRecord, e *measure.Event) {
		gestureRecord(r, semconv.EventMeasureGestureScroll, e.GestureScroll)
	},

	measure.TypeLifecycleActivity:       func(r plog.LogRecord, e *measure.Event) { lifecycleRecord(r, e.Type, e.LifecycleActivity) },
	measure.TypeLifecycleFragment:       func(r plog.LogRecord, e *measure.Event) { lifecycleRecord(r, e.Type, e.LifecycleFragment) },
	measure.TypeLifecycleViewController: func(r plog.LogRecord, e *measure.Event) { lifecycleRecord(r, e.Type, e.LifecycleViewController) },
	measure.TypeLifecycleSwiftUI:        func(r plog.LogRecord, e *measure.Event) { lifecycleRecord(r, e.Type, e.LifecycleSwiftUI) },
	measure.TypeLifecycleApp:            appLifecycleRecord,

	measure.TypeColdLaunch: func(r plog.LogRecord, e *measure.Event) { launchRecord(r, e.Type, "cold", e.ColdLaunch) },
	measure.TypeWarmLaunch: func(r plog.LogRecord, e *measure.Event) { launchRecord(r, e.Type, "warm", e.WarmLaunch) },
	measure.TypeHotLaunch:  func(r plog.LogRecord, e *measure.Event) { launchRecord(r, e.Type, "hot", e.HotLaunch) },

	measure.TypeNavigation:    navigationRecord,
	measure.TypeScreenView:    screenViewRecord,
	measure.TypeNetworkChange: networkChangeRecord,
	measure.TypeTrimMemory:    trimMemoryRecord,
	measure.TypeLowMemory:     lowMemoryRecord,
	measure.TypeCustom:        customRecord,
	measure.TypeBugReport:     bugReportRecord,
	measure.TypeProfile:       profileRecord,
}

// maxUnknown limits the attributes from the payload of an unknown type.
const maxUnknown = 128

func putUnknownPayload(attrs pcommon.Map, e *measure.Event) {
	n := 0
	attr.EachMember(e.Unknown, func(key string, value []byte) {
		if n++; n <= maxUnknown {
			attr.PutRaw(attrs, semconv.MeasurePrefix+e.Type+"."+key, value)
		}
	})
	if n > maxUnknown {
		attrs.PutInt(semconv.MeasureFieldsDropped, int64(n-maxUnknown))
	}
}
