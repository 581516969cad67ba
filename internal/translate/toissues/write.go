// SPDX-License-Identifier: Apache-2.0

package toissues

import (
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/allowance"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	sentryevent "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// write returns an event within its limits. before is the allowance before its translation: now its
// actual size counts.
func (e *exporter) write(r *record, out *sentryevent.ErrorEvent, before allowance.Allowance) Event {
	return Event{
		Outgoing: tosentry.Outgoing{
			Item:    sentry.Item{Header: sentry.ItemHeader{Type: sentry.ItemEvent, ContentType: sentry.ContentTypeJSON}, Payload: e.payload(out, r, before)},
			EventID: out.EventID, Count: 1, Trace: samplingContext(out),
		},
		Failure: r.failure(), Kind: r.kind, Provisional: r.goLog && !r.framed && r.isTraced(),
	}
}

// payload encodes the event within the size limit, and within the number of bytes that it may copy.
// If necessary, it omits breadcrumbs, then extra data, then the causes, and so on: the exception
// itself remains.
func (e *exporter) payload(out *sentryevent.ErrorEvent, r *record, before allowance.Allowance) []byte {
	limit := e.options.AtMost(sentry.MaxOutgoingEvent)
	own, copies := attr.ExportGrowth/2*r.size(), before.Left()
	payload := sentryevent.Events.Append(nil, out)
	for _, part := range []struct {
		field string
		omit  func()
	}{
		{"breadcrumbs", func() { out.Breadcrumbs = nil }},
		{"extra", func() { out.Extra = nil }},
		{"exception.causes", func() { out.Exceptions = out.Exceptions[len(out.Exceptions)-1:] }},
		{"request", func() { out.Request = nil }},
		{"user", func() { out.User = nil }},
		{"tags", func() { out.Tags = nil }},
		{"fingerprint", func() { out.Fingerprint = nil }},
		{"resource", func() { out.Contexts, out.ServerName, out.Release, out.Dist, out.Environment = nil, "", "", "", "" }},
		{"transaction", func() {
			out.Transaction, out.Trace = "", sentryevent.TraceContext{TraceID: out.Trace.TraceID, SpanID: out.Trace.SpanID}
		}},
	} {
		// Frames that the text only refers to, such as Java's "... 12 more", also count as copies.
		if len(payload) <= limit && len(payload) <= own+copies {
			break
		}
		part.omit()
		if less := sentryevent.Events.Append(nil, out); len(less) < len(payload) {
			e.Flaw(part.field, 1)
			payload = less
		}
	}
	for thrown := &out.Exceptions[len(out.Exceptions)-1]; len(payload) > limit && halve(thrown.Stacktrace); {
		e.Flaw("stacktrace.frames", 1)
		payload = sentryevent.Events.Append(nil, out)
	}
	e.copies = before
	e.copies.Spend(min(max(0, len(payload)-own), copies))
	return payload
}

// halve removes the middle half of the frames. It reports whether it removed any.
func halve(stack *sentryevent.Stacktrace) bool {
	if stack == nil || len(stack.Frames) < 4 {
		return false
	}
	n := len(stack.Frames)
	stack.Frames = slices.Delete(stack.Frames, n/4, n/4+n/2)
	return true
}

// samplingContext returns the trace header of the envelope, or nil if there is no trace.
func samplingContext(out *sentryevent.ErrorEvent) *sentry.DynamicSamplingContext {
	if out.Trace.TraceID == "" {
		return nil
	}
	return &sentry.DynamicSamplingContext{
		TraceID: out.Trace.TraceID, Sampled: "true", Release: attr.Clip(out.Release, maxTagValue), Environment: attr.Clip(out.Environment, maxTagValue),
		Transaction: out.Transaction,
	}
}
