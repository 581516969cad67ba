// SPDX-License-Identifier: Apache-2.0

package frommeasure

import (
	"crypto/sha256"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

// ToTraces translates spans, and events that are requests of the app, in order, under their
// resource.
func ToTraces(spans []measure.Span, events []measure.Event, src Source) ptrace.Traces {
	out := ptrace.NewTraces()
	entries := newByResource(func(r resourceKey) ptrace.SpanSlice {
		resource := out.ResourceSpans().AppendEmpty()
		resource.SetSchemaUrl(semconv.SchemaURL)
		r.fill(resource.Resource().Attributes(), src)
		scope := resource.ScopeSpans().AppendEmpty()
		scope.SetSchemaUrl(semconv.SchemaURL)
		scope.Scope().SetName(scopeName)
		return scope.Spans()
	})
	for i := range spans {
		fillSpan(entries.of(&spans[i].Attributes).AppendEmpty(), &spans[i], src)
	}
	for i := range events {
		if e := &events[i]; SignalOf(e) == SignalTraces {
			fillHTTPSpan(entries.of(&e.Attribute).AppendEmpty(), e, src) // http.go
		}
	}
	return out
}

func fillSpan(span ptrace.Span, s *measure.Span, src Source) {
	attrs := span.Attributes()
	setIDs(span, s)
	span.SetName(s.Name)
	span.SetKind(ptrace.SpanKindInternal)
	span.SetStartTimestamp(pcommon.Timestamp(s.StartTime.UnixNano))
	span.SetEndTimestamp(pcommon.Timestamp(s.EndTime.UnixNano))
	span.Status().SetCode(ptrace.StatusCode(s.Status.Value)) // the same numbers; validated
	putMoment(attrs, s.SessionID, &s.Attributes, src)
	putTimeToDisplay(attrs, s.Name)
	// The duration is monotonic; the wall clock may have been set between the two times.
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

// setIDs sets IDs in OpenTelemetry's form, which all SDKs send. The backend accepts any text: other
// IDs become a hash, and the original is an attribute.
func setIDs(span ptrace.Span, s *measure.Span) {
	trace, ok := traceIDOf(s.TraceID)
	if span.SetTraceID(trace); !ok {
		attr.PutText(span.Attributes(), semconv.MeasureTraceID, s.TraceID)
	}
	id, ok := spanIDOf(s.SpanID)
	if span.SetSpanID(id); !ok {
		attr.PutText(span.Attributes(), semconv.MeasureSpanID, s.SpanID)
	}
	if s.ParentID != "" {
		parent, ok := spanIDOf(s.ParentID)
		if span.SetParentSpanID(parent); !ok {
			attr.PutText(span.Attributes(), semconv.MeasureParentID, s.ParentID)
		}
	}
}

func traceIDOf(text string) (id pcommon.TraceID, stated bool) {
	if attr.DecodeHex(id[:], text) && !id.IsEmpty() {
		return id, true
	}
	hash := sha256.Sum256([]byte(text))
	copy(id[:], hash[:])
	return id, false
}

func spanIDOf(text string) (id pcommon.SpanID, stated bool) {
	if attr.DecodeHex(id[:], text) && !id.IsEmpty() {
		return id, true
	}
	hash := sha256.Sum256([]byte(text))
	copy(id[:], hash[:])
	return id, false
}

// displaySpans are the spans that SDKs create for the time until a screen is shown. The last word
// of the name is its class.
var displaySpans = map[string]string{"Activity TTID ": "activity_ttid", "Fragment TTID ": "fragment_ttid", "VC TTID ": "vc_ttid"}

func putTimeToDisplay(attrs pcommon.Map, name string) {
	for prefix, kind := range displaySpans {
		if class, found := strings.CutPrefix(name, prefix); found {
			attrs.PutStr(semconv.MeasureSpanKind, kind)
			putScreen(attrs, class)
		}
	}
}
