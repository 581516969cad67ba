// SPDX-License-Identifier: Apache-2.0

package event

import "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"

// TraceContext is contexts.trace: the trace and span of an event. The event ID is not a trace ID.
// https://develop.sentry.dev/sdk/data-model/event-payloads/contexts/#trace-context
type TraceContext struct {
	TraceID      string // 32 lower-case hex digits, "" if invalid
	SpanID       string // 16 lower-case hex digits, "" if invalid
	ParentSpanID string
	Op           string
	Origin       string
	Status       string
	SampleRand   jsonscan.Optional[float64]
	Data         []NamedValue
	Rest         []NamedValue
}

// TraceContexts is the table of TraceContext. Ingest retains unknown members.
var TraceContexts = newTable("contexts.trace", func(t *TraceContext) *[]NamedValue { return &t.Rest },
	textAs(Source.TraceID, "trace_id", func(t *TraceContext) *string { return &t.TraceID }),
	textAs(Source.SpanID, "span_id", func(t *TraceContext) *string { return &t.SpanID }),
	textAs(Source.SpanID, "parent_span_id", func(t *TraceContext) *string { return &t.ParentSpanID }),
	text("op", func(t *TraceContext) *string { return &t.Op }),
	text("origin", func(t *TraceContext) *string { return &t.Origin }),
	textAs(Source.ID, "status", func(t *TraceContext) *string { return &t.Status }),
	float("sample_rand", func(t *TraceContext) *jsonscan.Optional[float64] { return &t.SampleRand }),
	named("data", func(t *TraceContext) *[]NamedValue { return &t.Data }),
	ignored[TraceContext]("type"), // "trace"
).keepingUnknown()
