// SPDX-License-Identifier: Apache-2.0

package fakesentry

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// The rules of ingest for containers of logs and metrics (relay-event-schema, relay-ourlogs).

type ingestElement struct {
	Timestamp  *float64
	TraceID    *string `json:"trace_id"`
	SpanID     *string `json:"span_id"`
	Attributes map[string]struct {
		Type  *string
		Value any
	}

	Level    *string // of logs
	Body     *string
	Severity *int `json:"severity_number"`

	Name  *string // of metrics
	Type  *string
	Value *float64
	Unit  *string
}

// storedUnits are the units of metrics that ingest stores; it replaces all others with none
// (relay-base-schema/src/metrics/units.rs, relay-event-normalization/src/eap/trace_metric.rs).
var storedUnits = strings.Fields("none nanosecond ns microsecond millisecond ms second s minute hour day week bit byte kilobyte kibibyte " +
	"megabyte mebibyte gigabyte gibibyte terabyte tebibyte petabyte pebibyte exabyte exbibyte ratio percent")

// logsVerdict: ingest rejects logs above 2 MiB on average (relay-server/src/utils/sizes.rs), and
// SDKs send at most 100. It replaces the severity text with the level.
func logsVerdict(header *sentry.EnvelopeHeader, item *sentry.Item) string {
	return elementsVerdict(header, item, sentry.ContentTypeLogs, 100, 2<<20, func(e *ingestElement) string {
		switch {
		case e.Level == nil || *e.Level == "":
			return "level"
		case e.Body == nil:
			return "body"
		case e.Severity != nil && (*e.Severity < 1 || *e.Severity > 24):
			return "severity_number"
		case e.Attributes["sentry.severity_text"].Value != nil && e.Attributes["sentry.severity_text"].Value != *e.Level:
			return "sentry.severity_text is overwritten"
		}
		return ""
	})
}

func metricsVerdict(header *sentry.EnvelopeHeader, item *sentry.Item) string {
	return elementsVerdict(header, item, sentry.ContentTypeTraceMetrics, 1000, 1<<20, func(e *ingestElement) string {
		switch {
		case e.Name == nil || *e.Name == "" || len(*e.Name) > 300:
			return "name"
		case e.Value == nil:
			return "value"
		case e.Type == nil || *e.Type != "counter" && *e.Type != "gauge" && *e.Type != "distribution":
			return "type"
		case *e.Type == "counter" && *e.Value < 0:
			return "negative counter"
		case e.Unit != nil && !slices.Contains(storedUnits, *e.Unit) && e.Attributes["sentry.metric.unit"].Value != *e.Unit:
			return "unit is stored nowhere: " + *e.Unit
		}
		return ""
	})
}

func elementsVerdict(header *sentry.EnvelopeHeader, item *sentry.Item, contentType string, most, largest int, verdict func(*ingestElement) string) string {
	var c struct {
		Version  int
		Settings struct {
			IP        string `json:"infer_ip"`
			UserAgent string `json:"infer_user_agent"`
		} `json:"ingest_settings"`
		Items []ingestElement
	}
	if err := json.Unmarshal(item.Payload, &c); err != nil {
		return "invalid_json: " + err.Error()
	}
	switch {
	case item.Header.ContentType != contentType:
		return "content type"
	case !item.Header.ItemCount.Set || item.Header.ItemCount.Value != len(c.Items) || len(c.Items) == 0 || len(c.Items) > most:
		return "item_count"
	case c.Version != 2 || c.Settings.IP != "never" || c.Settings.UserAgent != "never":
		return "the sender's address and user agent become those of the user"
	case len(item.Payload) > min(largest*len(c.Items), 12<<20):
		return "too large"
	case header.Trace != nil:
		return "sampling context"
	}
	for i := range c.Items {
		e := &c.Items[i]
		switch {
		case e.Timestamp == nil || *e.Timestamp <= 0:
			return "timestamp"
		case e.TraceID == nil || !ingestTraceID.MatchString(*e.TraceID):
			return "trace_id"
		case e.SpanID != nil && !ingestSpanID.MatchString(*e.SpanID):
			return "span_id"
		}
		if text := verdict(e); text != "" {
			return fmt.Sprintf("element %d: %s", i, text)
		}
		for key, a := range e.Attributes {
			if text := attributeVerdict(key, a.Type, a.Value); text != "" {
				return text
			}
		}
	}
	return ""
}
