// SPDX-License-Identifier: Apache-2.0

package toissues

import (
	"cmp"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/exception"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// Options configure the translation.
type Options struct {
	tosentry.ExportOptions

	FromSpans       Selection
	FromLogs        Selection // All or None
	SkipIfSentrySDK bool      // exceptions of applications with a Sentry SDK do not become events
	IncludePII      bool      // personal data is kept
	Tags            []string  // attributes that become tags
}

// Selection selects exceptions of spans.
type Selection string

// The values of Selection.
const (
	None      Selection = "none"
	Unhandled Selection = "unhandled" // exceptions that left their span
	All       Selection = "all"
)

// DefaultTags are short attributes with few values.
var DefaultTags = []string{
	semconv.ErrorType, semconv.HTTPRequestMethod, semconv.HTTPRoute, semconv.HTTPResponseStatusCode, semconv.RPCSystemName, semconv.RPCSystem,
	semconv.RPCService, semconv.DBSystemName, semconv.MessagingSystemName, semconv.MessagingSystem, semconv.ServerAddress, semconv.CodeFunctionName,
	semconv.ThreadName,
}

// Event is an event with its identity.
type Event struct {
	tosentry.Outgoing
	// Failure identifies the failure, also in later messages and other signals.
	Failure [24]byte
	// Kind identifies failures of the same kind: those with the same type and position, in any
	// trace.
	Kind string
	// Provisional states that the event has no stack, and that a span may state the same failure
	// with its stack.
	Provisional bool
}

// Export is the result for a message.
type Export struct {
	Events []Event
	// Lost counts exceptions that did not become events, by reason. Flaws count parts that were
	// omitted from events.
	discard.Tally
}

// Reasons why exceptions do not become events.
const (
	ReasonHandled   discard.Reason = "exception_handled"
	ReasonSentrySDK discard.Reason = "reported_by_sentry_sdk"
	ReasonDuplicate discard.Reason = "duplicate_exception"
	ReasonNoTrace   discard.Reason = "exception_invalid_span"
)

// FromTraces creates events from the exceptions of spans.
func FromTraces(traces ptrace.Traces, o Options) Export {
	if o.FromSpans == None {
		return Export{}
	}
	e := exporter{options: o, copies: attr.Copies(func() int { return new(ptrace.ProtoMarshaler).TracesSize(traces) })}
	for _, resource := range traces.ResourceSpans().All() {
		e.collect(resource)
	}
	return e.export()
}

// FromLogs creates events from log records with exceptions. It ignores the records of Sentry's
// items, which are sent as these items.
func FromLogs(logs plog.Logs, o Options) Export {
	if o.FromLogs == None {
		return Export{}
	}
	e := exporter{options: o, copies: attr.Copies(func() int { return new(plog.ProtoMarshaler).LogsSize(logs) })}
	for _, resource := range logs.ResourceLogs().All() {
		e.collectLogs(resource)
	}
	return e.export()
}

func (e *exporter) export() Export {
	for _, r := range e.failures() {
		before := e.copies
		e.Events = append(e.Events, e.write(r, e.translate(r), before))
	}
	return e.Export
}

func (e *exporter) collectLogs(logs plog.ResourceLogs) {
	resource := logs.Resource().Attributes()
	s := &service{Identity: tosentry.ReadIdentity(resource), resource: resource}
	ofSDK := hasSentrySDK(resource)
	for _, scope := range logs.ScopeLogs().All() {
		for _, log := range scope.LogRecords().All() {
			s.logs = append(s.logs, log)
			attrs := log.Attributes()
			switch {
			case !exception.IsException(attrs) || attr.TextOf(attrs, semconv.SentryItemType) != "":
			case e.options.SkipIfSentrySDK && ofSDK:
				e.Lose(ReasonSentrySDK, 1)
			default:
				e.records = append(e.records, &record{
					service: s, traceID: log.TraceID(), spanID: log.SpanID(), span: notSpan, log: log, owner: pcommon.NewMap(), at: timeOf(log), attrs: attrs,
				})
			}
		}
	}
}

// hasSentrySDK reports whether the application has one of Sentry's SDKs.
func hasSentrySDK(resource pcommon.Map) bool {
	return tosentry.IsFromSentry(resource) || strings.HasPrefix(attr.TextOf(resource, semconv.TelemetrySDKName), "sentry")
}

func (e *exporter) collect(spans ptrace.ResourceSpans) {
	resource := spans.Resource().Attributes()
	s := &service{Identity: tosentry.ReadIdentity(resource), resource: resource}
	for _, scope := range spans.ScopeSpans().All() {
		for _, span := range scope.Spans().All() {
			s.spans = append(s.spans, span)
		}
	}
	ofSDK := hasSentrySDK(resource)
	for i, span := range s.spans {
		for index, event := range span.Events().All() {
			if attrs := event.Attributes(); exception.IsException(attrs) {
				if reason := e.unwanted(span, attrs, ofSDK); reason != "" {
					e.Lose(reason, 1)
					continue
				}
				e.records = append(e.records, &record{
					service: s, traceID: span.TraceID(), spanID: span.SpanID(), span: i, owner: span.Attributes(),
					at: cmp.Or(event.Timestamp(), span.EndTimestamp()), attrs: attrs, index: index,
				})
			}
		}
	}
	if len(e.records) > 0 {
		s.roots = tosentry.SegmentRoots(s.spans)
	}
}

// unwanted returns the reason why an exception does not become an event, or "" if it does.
func (e *exporter) unwanted(span ptrace.Span, attrs pcommon.Map, ofSDK bool) discard.Reason {
	_, sentryOrigin := span.Attributes().Get(semconv.SentryOrigin)
	switch {
	case span.TraceID().IsEmpty() || span.SpanID().IsEmpty():
		return ReasonNoTrace
	case e.options.SkipIfSentrySDK && (ofSDK || sentryOrigin):
		return ReasonSentrySDK
	case e.options.FromSpans == Unhandled && !escaped(attrs) && span.Status().Code() != ptrace.StatusCodeError:
		return ReasonHandled
	}
	return ""
}

// failures returns the earliest record of each failure, of those with a stack if there is one.
func (e *exporter) failures() (unique []*record) {
	slices.SortStableFunc(e.records, func(a, b *record) int { return cmp.Compare(a.at, b.at) })
	byFailure := map[[24]byte]int{} // index of unique
	for _, r := range e.records {
		// The frames are parsed again when the event is encoded, because the frames of a whole
		// message would use too much memory.
		x := newException(r.attrs, r.Platform)
		r.kind, r.common, r.framed = x.kind, x.failure, len(x.trace.Exceptions) > 0
		r.goLog = r.span == notSpan && x.platform == "go"
		i, known := byFailure[r.failure()]
		if !known {
			byFailure[r.failure()] = len(unique)
			unique = append(unique, r)
			continue
		}
		e.Lose(ReasonDuplicate, 1)
		if r.framed && !unique[i].framed {
			r.alsoOn = unique[i].alsoOn
			unique[i], r = r, unique[i]
		}
		if first := unique[i]; len(first.alsoOn) < maxAlsoOn && !r.spanID.IsEmpty() && r.spanID != first.spanID {
			first.alsoOn = append(first.alsoOn, r.spanID)
		}
	}
	return unique
}
