// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"encoding/hex"
	"net/http"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/spanname"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// maxEventsShown is the maximum number of events of a span in a response.
const maxEventsShown = 250

// spanDetailAnswer describes a span beyond its row in the trace.
type spanDetailAnswer struct {
	answer.Omissions
	Name       string             `json:"name"`
	Reported   string             `json:"reported,omitempty"` // the name that the SDK reported, if it differs
	Kind       string             `json:"kind"`
	Status     string             `json:"status,omitempty"`
	Attributes []answer.Attribute `json:"attributes"`
	Events     []eventAnswer      `json:"events"`
	EventCount int                `json:"event_count"` // number of events, including those that are not listed
}

type eventAnswer struct {
	Name       string             `json:"name"`
	At         uint64             `json:"at"` // nanoseconds after the start of the span
	Attributes []answer.Attribute `json:"attributes"`
}

// spanDetail describes one span of a trace. If several have the ID, it describes the first that
// arrived.
func (v *viewer) spanDetail(r *http.Request) (any, error) {
	link, err := parseLink(map[string][]string{"trace": {r.PathValue("trace")}, "span": {r.PathValue("span")}})
	if err != nil {
		return nil, err
	}
	var out *spanDetailAnswer
	reader := store.SpanReader{}
	err = store.EachMessage(v.store.Trace(link.Trace), store.Traces, func(m *store.Message) error {
		if out != nil {
			return nil
		}
		return reader.Each(m, func(span ptrace.Span, _ string) {
			if out == nil && span.TraceID() == link.Trace && span.SpanID() == link.Span {
				out = describeSpanDetail(span)
			}
		})
	})
	if err == nil && out == nil {
		err = gone("span " + hex.EncodeToString(link.Span[:]))
	}
	return out, err
}

// describeSpanDetail uses half of the response for the span, the other half for its events.
func describeSpanDetail(span ptrace.Span) *spanDetailAnswer {
	out := &spanDetailAnswer{Kind: span.Kind().String(), Events: []eventAnswer{}, EventCount: span.Events().Len()}
	texts := answer.PerEntry(answer.MaxTexts/2, 1, &out.Omissions)
	name := spanname.Of(span)
	out.Name, out.Status, out.Attributes = texts.Text(name), texts.Text(span.Status().Message()), texts.Map(span.Attributes())
	if reported := span.Name(); reported != name {
		out.Reported = texts.Text(reported)
	}
	listed := min(out.EventCount, maxEventsShown)
	for i := range listed {
		event := span.Events().At(i)
		texts := answer.PerEntry(answer.MaxTexts/2, listed, &out.Omissions)
		out.Events = append(out.Events, eventAnswer{
			Name: texts.Text(event.Name()), At: offset(uint64(event.Timestamp()), uint64(span.StartTimestamp())),
			Attributes: texts.Map(event.Attributes()),
		})
	}
	return out
}

func hexSpan(id pcommon.SpanID) string { return hex.EncodeToString(id[:]) }
