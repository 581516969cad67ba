// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// DecodeProfiles returns the content of a message of profiles.
func (m *Message) DecodeProfiles() (pprofile.Profiles, error) {
	profiles, err := (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(m.otlp)
	return profiles, decodeError(err)
}

// DecodeTraces returns the content of a message of spans.
func (m *Message) DecodeTraces() (ptrace.Traces, error) {
	traces, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(m.otlp)
	return traces, decodeError(err)
}

func decodeError(err error) error {
	if err != nil {
		return fmt.Errorf("cannot decode a stored message: %w", err)
	}
	return nil
}

// EachRecord visits the records of a message of log records.
func (m *Message) EachRecord(visit func(record plog.LogRecord, service string)) error {
	return m.EachRecordOf(func(record plog.LogRecord, origin Origin) { visit(record, origin.Service) })
}

// EachRecordOf visits the records of a message of log records, with their origin.
func (m *Message) EachRecordOf(visit func(record plog.LogRecord, origin Origin)) error {
	logs, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(m.otlp)
	if err != nil {
		return decodeError(err)
	}
	for _, resource := range logs.ResourceLogs().All() {
		origin := originOf(resource.Resource())
		for _, scope := range resource.ScopeLogs().All() {
			for _, record := range scope.LogRecords().All() {
				visit(record, origin)
			}
		}
	}
	return nil
}

// EachMetric visits the metrics of a message.
func (m *Message) EachMetric(visit func(metric pmetric.Metric, service string)) error {
	metrics, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(m.otlp)
	if err != nil {
		return decodeError(err)
	}
	for _, resource := range metrics.ResourceMetrics().All() {
		service := serviceName(resource.Resource())
		for _, scope := range resource.ScopeMetrics().All() {
			for _, metric := range scope.Metrics().All() {
				visit(metric, service)
			}
		}
	}
	return nil
}

// EachMessage visits the messages of one signal that fragments belong to, each once.
func EachMessage(fragments []*Fragment, signal Signal, visit func(*Message) error) error {
	var last *Message
	for _, f := range fragments {
		if f.Message == last || f.Message.Signal != signal {
			continue // several services in one message
		}
		last = f.Message
		if err := visit(f.Message); err != nil {
			return err
		}
	}
	return nil
}

// SpanReader reads the spans of messages. It holds the last message that it decoded: most traces
// are in one message.
type SpanReader struct {
	last   *Message
	traces ptrace.Traces
}

// Each visits the spans of a message.
func (r *SpanReader) Each(m *Message, visit func(span ptrace.Span, service string)) error {
	return r.EachOf(m, func(span ptrace.Span, origin Origin) { visit(span, origin.Service) })
}

// EachOf visits the spans of a message, with their origin.
func (r *SpanReader) EachOf(m *Message, visit func(span ptrace.Span, origin Origin)) (err error) {
	if r.last != m {
		r.last, r.traces = nil, ptrace.Traces{} // free it before the next one is decoded
		if r.traces, err = m.DecodeTraces(); err != nil {
			return err
		}
		r.last = m
	}
	for _, resource := range r.traces.ResourceSpans().All() {
		origin := originOf(resource.Resource())
		for _, scope := range resource.ScopeSpans().All() {
			for _, span := range scope.Spans().All() {
				visit(span, origin)
			}
		}
	}
	return nil
}
