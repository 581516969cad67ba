// SPDX-License-Identifier: Apache-2.0

package fakesentry

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// The rules of Sentry's ingest for transactions and span containers.

type ingestSpan struct {
	TraceID      *string  `json:"trace_id"`
	SpanID       *string  `json:"span_id"`
	ParentSpanID *string  `json:"parent_span_id"`
	Start        *float64 `json:"start_timestamp"`
	End          *float64 `json:"timestamp"`
	Op, Origin   *string
	Description  *string
	Status       *string
	Data         map[string]any
	Tags         map[string]string
	Measurements map[string]ingestMeasure
	Links        []ingestLink
}

type ingestMeasure struct {
	Value *float64
	Unit  *string
}

type ingestLink struct {
	TraceID *string `json:"trace_id"`
	SpanID  *string `json:"span_id"`
	Sampled *bool
}

type ingestTransaction struct {
	EventID         *string `json:"event_id"`
	Type            *string
	Transaction     *string
	TransactionInfo *struct{ Source *string } `json:"transaction_info"`
	Start           *float64                  `json:"start_timestamp"`
	End             *float64                  `json:"timestamp"`
	Platform        *string
	Tags            map[string]string
	Contexts        struct {
		Trace   *ingestSpan
		Profile *struct {
			ProfilerID *string `json:"profiler_id"`
			ProfileID  *string `json:"profile_id"`
		}
	}
	Measurements map[string]ingestMeasure
	Spans        []ingestSpan
	SDK          ingestSettings
}

type ingestContainer struct {
	Items []struct {
		TraceID      *string  `json:"trace_id"`
		SpanID       *string  `json:"span_id"`
		ParentSpanID *string  `json:"parent_span_id"`
		Name         *string  `json:"name"`
		Status       *string  `json:"status"`
		Start        *float64 `json:"start_timestamp"`
		End          *float64 `json:"end_timestamp"`
		Attributes   map[string]struct {
			Type  *string
			Value any
		}
	}
}

var (
	ingestTraceID = regexp.MustCompile(`^[0-9a-f]{32}$`)
	ingestSpanID  = regexp.MustCompile(`^[0-9a-f]{16}$`)
	ingestOrigin  = regexp.MustCompile(`^[a-zA-Z0-9_.]{1,128}$`)
	// Ingest stores these names. It also reads "success", "failure" and "unknown_error", but stores
	// another name: a sender must not use them (relay-base-schema/src/spans.rs).
	ingestStatuses = strings.Fields("ok cancelled unknown invalid_argument deadline_exceeded not_found already_exists permission_denied " +
		"resource_exhausted failed_precondition aborted out_of_range unimplemented internal_error unavailable data_loss unauthenticated")
)

func transactionVerdict(header *sentry.EnvelopeHeader, item *sentry.Item) string {
	var t ingestTransaction
	if err := json.Unmarshal(item.Payload, &t); err != nil {
		return "invalid_json: " + err.Error()
	}
	root := t.Contexts.Trace
	switch {
	case len(item.Payload) > 1<<20:
		return "too large"
	case t.EventID == nil || !ID.MatchString(*t.EventID) || header.EventID != *t.EventID:
		return "event_id"
	case t.Type == nil || *t.Type != "transaction":
		return "type"
	case t.Platform == nil || !slices.Contains(ingestPlatforms, *t.Platform): // stored as "other"
		return "platform"
	case root == nil:
		return "contexts.trace"
	case t.Contexts.Profile != nil && t.Contexts.Profile.ProfilerID != nil && !ID.MatchString(*t.Contexts.Profile.ProfilerID):
		return "profiler_id"
	case t.SDK.infersIP():
		return "the sender's address becomes that of the user"
	case len(t.Spans) > 1000:
		return "too many spans"
	case root.Op != nil && (strings.HasPrefix(*root.Op, "ui.interaction.") || strings.HasPrefix(*root.Op, "ui.webvital.")):
		return "a web vital is no transaction" // relay-event-normalization, normalize_web_vital_span_segment
	}
	root.Start, root.End = t.Start, t.End
	if text := spanBytesVerdict(item.Payload); text != "" {
		return text
	}
	for _, s := range append([]ingestSpan{*root}, t.Spans...) {
		if verdict := spanVerdict(&s); verdict != "" {
			return verdict
		}
	}
	return ""
}

func spanVerdict(s *ingestSpan) string {
	switch {
	case s.TraceID == nil || !ingestTraceID.MatchString(*s.TraceID) || s.SpanID == nil || !ingestSpanID.MatchString(*s.SpanID):
		return "span ids"
	case s.ParentSpanID != nil && !ingestSpanID.MatchString(*s.ParentSpanID):
		return "parent_span_id"
	case s.Start == nil || s.End == nil || *s.End < *s.Start || *s.Start <= 0:
		return "span times"
	case s.Op != nil && len([]rune(*s.Op)) > 128:
		return "op too long"
	case s.Origin != nil && !ingestOrigin.MatchString(*s.Origin):
		return "origin " + *s.Origin
	case s.Status != nil && !slices.Contains(ingestStatuses, *s.Status):
		return "status " + *s.Status
	}
	if thread, stated := s.Data["thread.id"]; stated {
		if _, text := thread.(string); !text {
			return fmt.Sprintf("thread.id is no text: %v", thread)
		}
	}
	for name, m := range s.Measurements {
		if m.Value == nil || math.IsNaN(*m.Value) {
			return "measurement " + name
		}
	}
	for _, link := range s.Links {
		if link.TraceID == nil || !ingestTraceID.MatchString(*link.TraceID) || link.SpanID == nil || !ingestSpanID.MatchString(*link.SpanID) {
			return "link"
		}
	}
	return ""
}

func containerVerdict(header *sentry.EnvelopeHeader, item *sentry.Item) string {
	var c ingestContainer
	if err := json.Unmarshal(item.Payload, &c); err != nil {
		return "invalid_json: " + err.Error()
	}
	switch {
	case item.Header.ContentType != "application/vnd.sentry.items.span.v2+json":
		return "content type"
	case !item.Header.ItemCount.Set || item.Header.ItemCount.Value != len(c.Items) || len(c.Items) == 0 || len(c.Items) > 1000:
		return "item_count"
	case len(item.Payload) > 12<<20:
		return "too large"
	case header.Trace == nil:
		return "no sampling context"
	}
	for _, s := range c.Items {
		switch {
		case s.TraceID == nil || !ingestTraceID.MatchString(*s.TraceID) || *s.TraceID != header.Trace.TraceID || s.SpanID == nil || !ingestSpanID.MatchString(*s.SpanID):
			return "span ids"
		case s.ParentSpanID != nil && !ingestSpanID.MatchString(*s.ParentSpanID):
			return "parent_span_id"
		case s.Name == nil || *s.Name == "" || s.Status == nil || *s.Status != "ok" && *s.Status != "error":
			return "name or status"
		case s.Start == nil || s.End == nil || *s.End < *s.Start || *s.Start <= 0:
			return "span times"
		}
		for key, a := range s.Attributes {
			if verdict := attributeVerdict(key, a.Type, a.Value); verdict != "" {
				return verdict
			}
			if text, _ := a.Value.(string); key == "sentry.segment.id" && !ingestSpanID.MatchString(text) {
				return "segment id, which costs the span"
			}
		}
	}
	return ""
}

// oneType reports whether all elements are scalars of one type: ingest removes other lists
// (relay-event-normalization, eap).
func oneType(list []any) bool {
	for _, element := range list {
		switch element.(type) {
		case string, bool, float64:
			if fmt.Sprintf("%T", element) != fmt.Sprintf("%T", list[0]) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// StoredNames returns the names under which ingest stores the spans of an item. Those of a
// transaction get a name from their data or, without one, from their operation, which is not the
// name that was sent (relay-spans/src/v1_to_v2.rs); here, "".
func StoredNames(item *sentry.Item) (names []string) {
	if item.Header.Type == sentry.ItemTransaction {
		var t ingestTransaction
		_ = json.Unmarshal(item.Payload, &t)
		names = append(names, *t.Transaction)
		for i := range t.Spans {
			name, _ := t.Spans[i].Data["sentry.name"].(string)
			names = append(names, name)
		}
		return names
	}
	var c ingestContainer
	_ = json.Unmarshal(item.Payload, &c)
	for i := range c.Items {
		names = append(names, *c.Items[i].Name)
	}
	return names
}

// DataErrors returns the keys of the data in a transaction that ingest stores with an error,
// because they are not scalars (relay-spans/src/v1_to_v2.rs).
func DataErrors(item *sentry.Item) (keys []string) {
	var t ingestTransaction
	_ = json.Unmarshal(item.Payload, &t)
	for _, span := range append([]ingestSpan{*t.Contexts.Trace}, t.Spans...) {
		for key, value := range span.Data {
			switch value.(type) {
			case []any, map[string]any:
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// StoredSegments returns the segment's name and the user with which ingest stores each span of an
// item: spans of a transaction have those of the transaction.
func StoredSegments(item *sentry.Item) (all [][2]string) {
	if item.Header.Type == sentry.ItemTransaction {
		var t struct {
			Transaction string
			User        struct{ ID string }
			Spans       []any
		}
		_ = json.Unmarshal(item.Payload, &t)
		return slices.Repeat([][2]string{{t.Transaction, t.User.ID}}, 1+len(t.Spans))
	}
	var c ingestContainer
	_ = json.Unmarshal(item.Payload, &c)
	for i := range c.Items {
		name, _ := c.Items[i].Attributes["sentry.segment.name"].Value.(string)
		user, _ := c.Items[i].Attributes["user.id"].Value.(string)
		all = append(all, [2]string{name, user})
	}
	return all
}

// StoredSampleRates returns the sample rate with which ingest stores each span of an item, by which
// Sentry extrapolates counts: that of the trace header, else 1; in containers, an attribute takes
// precedence (relay-event-normalization, normalize_client_sample_rate).
func StoredSampleRates(header *sentry.EnvelopeHeader, item *sentry.Item) (rates []float64) {
	ofTrace := 1.0
	if header.Trace != nil && header.Trace.SampleRate != "" {
		rate, err := strconv.ParseFloat(header.Trace.SampleRate, 64)
		if err == nil && rate > 0 && rate <= 1 {
			ofTrace = rate
		}
	}
	if item.Header.Type == sentry.ItemTransaction {
		var t ingestTransaction
		_ = json.Unmarshal(item.Payload, &t)
		return slices.Repeat([]float64{ofTrace}, 1+len(t.Spans))
	}
	var c ingestContainer
	_ = json.Unmarshal(item.Payload, &c)
	for i := range c.Items {
		rate := ofTrace
		if own, ok := c.Items[i].Attributes["sentry.client_sample_rate"].Value.(float64); ok {
			rate = own
		}
		rates = append(rates, rate)
	}
	return rates
}

func attributeVerdict(key string, kind *string, value any) string {
	if kind == nil || value == nil {
		return "attribute " + key + " without type or value"
	}
	ok := false
	switch v := value.(type) {
	case string:
		ok = *kind == "string"
	case bool:
		ok = *kind == "boolean"
	case float64:
		ok = *kind == "double" || *kind == "integer" && v == math.Trunc(v)
	case []any:
		ok = *kind == "array" && oneType(v)
	}
	if !ok {
		return fmt.Sprintf("attribute %s: %v is no %s", key, value, *kind)
	}
	return ""
}
