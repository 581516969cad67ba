// SPDX-License-Identifier: Apache-2.0

package rival

import (
	"encoding/json"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// The structs below have the fields that occur in the payloads of package payload, with the usual
// types. Times have the product's type, so that both sides get the same nanoseconds. They omit the
// fields of other SDKs, which saves these decoders some work.

type value struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
	Unit  string          `json:"unit"`
}

func attributes(in map[string]value) []event.Attribute {
	all := make([]event.Attribute, 0, len(in))
	for key, v := range in {
		all = append(all, event.Attribute{Key: key, Type: v.Type, Value: v.Value, Unit: v.Unit})
	}
	return all
}

func namedValues(in map[string]json.RawMessage) []event.NamedValue {
	all := make([]event.NamedValue, 0, len(in))
	for name, v := range in {
		if string(v) != "null" {
			all = append(all, event.NamedValue{Name: name, Value: v})
		}
	}
	return all
}

func tags(in map[string]string) []event.Tag {
	all := make([]event.Tag, 0, len(in))
	for key, v := range in {
		all = append(all, event.Tag{Key: key, Value: v})
	}
	return all
}

// Logs decodes the payload of a log item.
func (l Library) Logs(payload []byte) (*event.LogContainer, error) {
	in, err := decode[struct {
		Items []struct {
			Timestamp      jsonscan.Timestamp `json:"timestamp"`
			TraceID        string             `json:"trace_id"`
			SpanID         string             `json:"span_id"`
			Level          string             `json:"level"`
			SeverityNumber *int64             `json:"severity_number"`
			Body           string             `json:"body"`
			Attributes     map[string]value   `json:"attributes"`
		} `json:"items"`
	}](payload, l.unmarshal)
	out := &event.LogContainer{Logs: make([]event.Log, len(in.Items))}
	for i, log := range in.Items {
		out.Logs[i] = event.Log{Timestamp: log.Timestamp, TraceID: log.TraceID, SpanID: log.SpanID, Level: log.Level,
			SeverityNumber: optional(log.SeverityNumber), Body: log.Body, Attributes: attributes(log.Attributes)}
	}
	return out, err
}

// Spans decodes the payload of a span container.
func (l Library) Spans(payload []byte) (*event.SpanContainer, error) {
	in, err := decode[struct {
		Items []struct {
			TraceID    string             `json:"trace_id"`
			SpanID     string             `json:"span_id"`
			ParentID   string             `json:"parent_span_id"`
			Name       string             `json:"name"`
			Status     string             `json:"status"`
			IsSegment  *bool              `json:"is_segment"`
			Start      jsonscan.Timestamp `json:"start_timestamp"`
			End        jsonscan.Timestamp `json:"end_timestamp"`
			Attributes map[string]value   `json:"attributes"`
		} `json:"items"`
	}](payload, l.unmarshal)
	out := &event.SpanContainer{Spans: make([]event.StreamedSpan, len(in.Items))}
	for i, s := range in.Items {
		out.Spans[i] = event.StreamedSpan{TraceID: s.TraceID, SpanID: s.SpanID, ParentSpanID: s.ParentID, Name: s.Name,
			Status: s.Status, Start: s.Start, End: s.End, IsSegment: optional(s.IsSegment), Attributes: attributes(s.Attributes)}
	}
	return out, err
}

// span is an element of a transaction's spans, and its contexts.trace.
type span struct {
	TraceID     string                     `json:"trace_id"`
	SpanID      string                     `json:"span_id"`
	ParentID    string                     `json:"parent_span_id"`
	Op          string                     `json:"op"`
	Description string                     `json:"description"`
	Status      string                     `json:"status"`
	Origin      string                     `json:"origin"`
	Start       jsonscan.Timestamp         `json:"start_timestamp"`
	End         jsonscan.Timestamp         `json:"timestamp"`
	Data        map[string]json.RawMessage `json:"data"`
	Tags        map[string]string          `json:"tags"`
}

func (s *span) model() event.Span {
	return event.Span{TraceID: s.TraceID, SpanID: s.SpanID, ParentSpanID: s.ParentID, Op: s.Op, Description: s.Description,
		Status: s.Status, Origin: s.Origin, Start: s.Start, End: s.End, Data: namedValues(s.Data), Tags: tags(s.Tags)}
}

// Transaction decodes the payload of a transaction item.
func (l Library) Transaction(payload []byte) (*event.Transaction, error) {
	in, err := decode[struct {
		EventID     string                  `json:"event_id"`
		Name        string                  `json:"transaction"`
		Info        struct{ Source string } `json:"transaction_info"`
		Start       jsonscan.Timestamp      `json:"start_timestamp"`
		End         jsonscan.Timestamp      `json:"timestamp"`
		Platform    string                  `json:"platform"`
		ServerName  string                  `json:"server_name"`
		Release     string                  `json:"release"`
		Environment string                  `json:"environment"`
		SDK         struct {
			Name, Version          string
			Integrations, Packages json.RawMessage
		} `json:"sdk"`
		Tags    map[string]string          `json:"tags"`
		User    map[string]json.RawMessage `json:"user"`
		Extra   json.RawMessage            `json:"extra"`
		Request struct {
			URL, Method string
			Query       json.RawMessage `json:"query_string"`
			Headers     map[string]string
			Env         json.RawMessage
		} `json:"request"`
		Contexts map[string]json.RawMessage `json:"contexts"`
		Spans    []span                     `json:"spans"`
	}](payload, l.unmarshal)
	if err != nil {
		return nil, err
	}
	root, err := decode[span](in.Contexts["trace"], l.unmarshal)
	if err != nil {
		return nil, err
	}
	profile, err := decode[struct {
		ProfilerID string `json:"profiler_id"`
	}](in.Contexts["profile"], l.unmarshal)
	delete(in.Contexts, "trace")
	delete(in.Contexts, "profile")
	root.Start, root.End = in.Start, in.End
	rootSpan := root.model()
	out := &event.Transaction{
		ErrorEvent: event.ErrorEvent{
			EventID: in.EventID, Timestamp: in.End, Platform: in.Platform, Transaction: in.Name, ServerName: in.ServerName,
			Release: in.Release, Environment: in.Environment, SDK: event.SDK{
				ClientSDK: sentry.ClientSDK{Name: in.SDK.Name, Version: in.SDK.Version},
				Rest:      []event.NamedValue{{Name: "integrations", Value: in.SDK.Integrations}, {Name: "packages", Value: in.SDK.Packages}},
			}, Tags: tags(in.Tags), Extra: in.Extra,
			User: namedValues(in.User), Contexts: namedValues(in.Contexts),
			Request: &event.HTTPRequest{URL: in.Request.URL, Method: in.Request.Method, QueryString: in.Request.Query,
				Headers: tags(in.Request.Headers), Env: in.Request.Env},
			Info: event.TransactionInfo{Source: in.Info.Source},
		},
		ProfilerID: profile.ProfilerID, Root: &rootSpan, Spans: make([]event.Span, len(in.Spans)),
	}
	for i := range in.Spans {
		out.Spans[i] = in.Spans[i].model()
	}
	return out, err
}

func optional[T any](v *T) jsonscan.Optional[T] {
	if v == nil {
		return jsonscan.Optional[T]{}
	}
	return jsonscan.Some(*v)
}
