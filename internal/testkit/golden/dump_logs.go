// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// DumpLogs writes log records as text for people.
func DumpLogs(logs plog.Logs, receipt Receipt) string {
	d := dumper{receipt: receipt}
	for _, resource := range logs.ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			d.head(resource.Resource(), scope.Scope(), resource.SchemaUrl(), scope.SchemaUrl())
			for _, record := range scope.LogRecords().All() {
				d.record(record)
			}
		}
	}
	return d.out.String()
}

func (d *dumper) record(r plog.LogRecord) {
	d.line(0, "record")
	d.time(1, "time", r.Timestamp())
	d.time(1, "observed", r.ObservedTimestamp())
	switch {
	case r.SeverityNumber() != plog.SeverityNumberUnspecified:
		d.line(1, "severity  %s %q", r.SeverityNumber(), r.SeverityText())
	case r.SeverityText() != "":
		d.line(1, "severity  %q", r.SeverityText())
	}
	if r.EventName() != "" {
		d.line(1, "event     %q", r.EventName())
	}
	d.ids(1, r.TraceID(), r.SpanID())
	if r.Flags() != 0 {
		d.line(1, "flags     %#x", uint32(r.Flags()))
	}
	if r.Body().Type() != pcommon.ValueTypeEmpty {
		d.value(1, "body", r.Body())
	}
	d.attributes(1, r.Attributes())
	d.dropped(1, r.DroppedAttributesCount())
}
