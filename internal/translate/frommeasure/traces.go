// SPDX-License-Identifier: Apache-2.0

package frommeasure

import (
	"crypto/sha256"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/measure"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// ToTraces translates spans, and the events that are requests the app made, in order, under the resource each names.
func ToTraces(spans []measure.Span, events []measure.Event, src Source) ptrace.Traces {
	out := ptrace.NewTraces()
	places := newByResource(func(r measureResource) ptrace.SpanSlice {
		resource := out.ResourceSpans().AppendEmpty()
		r.fill(resource.Resource().Attributes(), src)
		scope := resource.ScopeSpans().AppendEmpty()
		scope.Scope().SetName(measureScope)
		return scope.Spans()
	})
	for i := range spans {
		fillMeasureSpan(places.of(&spans[i].Attributes).AppendEmpty(), &spans[i], src)
	}
	for i := range events {
		if e := &events[i]; SignalOf(e) == MeasureSpan {
			fillHTTPSpan(places.of(&e.Attribute).AppendEmpty(), e, src) // http.go
		}
	}
	return out
}

func fillMeasureSpan(span ptrace.Span, s *measure.Span, src Source) {
	attrs := span.Attributes()
	setMeasureIDs(span, s)
	span.SetName(s.Name)
	span.SetKind(ptrace.SpanKindInternal)
	span.SetStartTimestamp(pcommon.Timestamp(s.StartTime.UnixNano))
	span.SetEndTimestamp(pcommon.Timestamp(s.EndTime.UnixNano))
	span.Status().SetCode(ptrace.StatusCode(s.Status.Value)) // the numbers are the same, as validated
	putMoment(attrs, s.SessionID, &s.Attributes, src)
	putTimeToDisplay(attrs, s.Name)
	// The duration is by a clock that nobody sets; the times may have been taken before and after the other was.
	elapsed := int64(s.EndTime.UnixNano-s.StartTime.UnixNano) / 1e6
	if s.Duration.Set && (s.Duration.Value-elapsed > 1 || elapsed-s.Duration.Value > 1) {
		attrs.PutInt(semconv.MeasureSpanDurationMS, s.Duration.Value)
	}
	putUserAttributes(attrs, s.UserDefined, src)
	for i := range s.Checkpoints {
		event := span.Events().AppendEmpty()
		event.SetName(s.Checkpoints[i].Name)
		event.SetTimestamp(pcommon.Timestamp(s.Checkpoints[i].Timestamp.UnixNano))
	}
}

// setMeasureIDs takes ids that are OpenTelemetry's, as those of all SDKs. The backend takes any text: others become a hash of
// it, the same for every span that names it, and stand beside it.
func setMeasureIDs(span ptrace.Span, s *measure.Span) {
	trace, ok := measureTraceID(s.TraceID)
	if span.SetTraceID(trace); !ok {
		attr.PutText(span.Attributes(), semconv.MeasureTraceID, s.TraceID)
	}
	id, ok := measureSpanID(s.SpanID)
	if span.SetSpanID(id); !ok {
		attr.PutText(span.Attributes(), semconv.MeasureSpanID, s.SpanID)
	}
	if s.ParentID != "" {
		parent, ok := measureSpanID(s.ParentID)
		if span.SetParentSpanID(parent); !ok {
			attr.PutText(span.Attributes(), semconv.MeasureParentID, s.ParentID)
		}
	}
}

func measureTraceID(text string) (id pcommon.TraceID, stated bool) {
	if attr.DecodeHex(id[:], text) && !id.IsEmpty() {
		return id, true
	}
	hash := sha256.Sum256([]byte(text))
	copy(id[:], hash[:])
	return id, false
}

func measureSpanID(text string) (id pcommon.SpanID, stated bool) {
	if attr.DecodeHex(id[:], text) && !id.IsEmpty() {
		return id, true
	}
	hash := sha256.Sum256([]byte(text))
	copy(id[:], hash[:])
	return id, false
}

// displaySpans are those that SDKs make by themselves: how long a screen took to show. The last word of the name is its class.
var displaySpans = map[string]string{"Activity TTID ": "activity_ttid", "Fragment TTID ": "fragment_ttid", "VC TTID ": "vc_ttid"}

func putTimeToDisplay(attrs pcommon.Map, name string) {
	for prefix, kind := range displaySpans {
		if class, found := strings.CutPrefix(name, prefix); found {
			attrs.PutStr(semconv.MeasureSpanKind, kind)
			putScreen(attrs, class)
		}
	}
}
