// SPDX-License-Identifier: Apache-2.0

package golden

import "go.opentelemetry.io/collector/pdata/ptrace"

// DumpTraces writes spans as text for people.
func DumpTraces(traces ptrace.Traces, receipt Receipt) string {
	d := dumper{receipt: receipt}
	for _, resource := range traces.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			d.head(resource.Resource(), scope.Scope(), resource.SchemaUrl(), scope.SchemaUrl())
			for _, span := range scope.Spans().All() {
				d.span(span)
			}
		}
	}
	return d.out.String()
}

func (d *dumper) span(s ptrace.Span) {
	d.line(0, "span %q", s.Name())
	d.ids(1, s.TraceID(), s.SpanID())
	if !s.ParentSpanID().IsEmpty() {
		d.line(1, "parent    %s", s.ParentSpanID())
	}
	d.line(1, "flags     %#x", s.Flags())
	if state := s.TraceState().AsRaw(); state != "" {
		d.line(1, "state     %s", state)
	}
	if s.Kind() != ptrace.SpanKindUnspecified {
		d.line(1, "kind      %s", s.Kind())
	}
	switch status := s.Status(); {
	case status.Message() != "":
		d.line(1, "status    %s %q", status.Code(), status.Message())
	case status.Code() != ptrace.StatusCodeUnset:
		d.line(1, "status    %s", status.Code())
	}
	d.time(1, "start", s.StartTimestamp())
	d.time(1, "end", s.EndTimestamp())
	d.attributes(1, s.Attributes())
	d.dropped(1, s.DroppedAttributesCount())
	for _, event := range s.Events().All() {
		d.line(1, "event %q", event.Name())
		d.time(2, "time", event.Timestamp())
		d.attributes(2, event.Attributes())
	}
	for _, link := range s.Links().All() {
		d.line(1, "link")
		d.ids(2, link.TraceID(), link.SpanID())
		d.line(2, "flags     %#x", link.Flags())
		d.attributes(2, link.Attributes())
	}
}
