// SPDX-License-Identifier: Apache-2.0

package sentry

import "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"

// Item is one item of an envelope.
type Item struct {
	Header  ItemHeader
	Payload []byte // a sub-slice of the body
}

// ItemHeader is the JSON object in front of a payload. Every field is optional, even the type.
//
// `length` is not a field here, because it is framing: len(Item.Payload) is its value, whether it
// was sent or not. Not decoded: fields that one Relay sends to another (routing_hint,
// metrics_extracted, fully_normalized, …) and fields of security reports (sentry_release,
// sentry_environment).
//
// https://develop.sentry.dev/sdk/foundations/transport/envelope-items/
type ItemHeader struct {
	Type             ItemType                // "" = absent or not a string; treated like any unknown type
	ContentType      string                  // reliable only for containers; Java sends "application-json"
	ItemCount        jsonscan.Optional[int]  // log, span and trace_metric containers: the number of elements
	Platform         string                  // profile_chunk: as in the payload; required since 2026, but rarely sent
	MetaLength       jsonscan.Optional[int]  // bytes of JSON before the binary part: Perfetto chunks, trace attachments
	Filename         string                  // attachments; Java also sends it for profile chunks (the trace file)
	AttachmentType   string                  // attachments; "" = event.attachment
	AttachmentLength jsonscan.Optional[int]  // references to attachments stored elsewhere: their length
	SpanID           string                  // trace attachments
	Sampled          jsonscan.Optional[bool] // profile: false = its transaction was not sampled and may be missing; absent = true
}

var itemHeaderKeys = []string{
	"type", "length", "content_type", "item_count", "platform", "meta_length",
	"filename", "attachment_type", "attachment_length", "span_id", "sampled",
}

// decode reads the JSON object of the header. A length that is not a non-negative integer is
// treated as absent.
func (h *ItemHeader) decode(s *jsonscan.Scanner) (length jsonscan.Optional[int]) {
	for o := openHeader(s, itemHeaderKeys); o.next(); {
		switch o.key {
		case "type":
			h.Type = ItemType(o.text())
		case "length":
			length = o.count()
		case "content_type":
			h.ContentType = o.text()
		case "item_count":
			h.ItemCount = o.count()
		case "platform":
			h.Platform = o.text()
		case "meta_length":
			h.MetaLength = o.count()
		case "filename":
			h.Filename = o.text()
		case "attachment_type":
			h.AttachmentType = o.text()
		case "attachment_length":
			h.AttachmentLength = o.count()
		case "span_id":
			h.SpanID = o.text()
		case "sampled":
			h.Sampled = o.flag()
		}
	}
	return length
}

// append is the inverse of decode.
func (h *ItemHeader) append(dst []byte, length int) []byte {
	dst = append(dst, '{')
	dst = jsonscan.AppendText(dst, "type", string(h.Type))
	dst = jsonscan.AppendCount(dst, "length", jsonscan.Some(length))
	dst = jsonscan.AppendText(dst, "content_type", h.ContentType)
	dst = jsonscan.AppendCount(dst, "item_count", h.ItemCount)
	dst = jsonscan.AppendText(dst, "platform", h.Platform)
	dst = jsonscan.AppendCount(dst, "meta_length", h.MetaLength)
	dst = jsonscan.AppendText(dst, "filename", h.Filename)
	dst = jsonscan.AppendText(dst, "attachment_type", h.AttachmentType)
	dst = jsonscan.AppendCount(dst, "attachment_length", h.AttachmentLength)
	dst = jsonscan.AppendText(dst, "span_id", h.SpanID)
	dst = jsonscan.AppendFlag(dst, "sampled", h.Sampled)
	return append(dst, '}')
}

// ItemType is the type of a payload. Clients can send any text; use Label for metric attributes.
type ItemType string

// Item types of https://develop.sentry.dev/sdk/foundations/transport/envelope-items/.
const (
	ItemProfile        ItemType = "profile"          // JSON: sample format V1, or Android's legacy format
	ItemProfileChunk   ItemType = "profile_chunk"    // JSON (sample format V2), or JSON followed by a Perfetto trace
	ItemProfileChunkUI ItemType = "profile_chunk_ui" // the name of profile_chunk in Android 8.10 and 8.11

	ItemTransaction     ItemType = "transaction"      // JSON
	ItemSpan            ItemType = "span"             // container (v2), or one span as JSON without a content type (legacy)
	ItemEvent           ItemType = "event"            // JSON
	ItemLog             ItemType = "log"              // container
	ItemTraceMetric     ItemType = "trace_metric"     // container
	ItemSession         ItemType = "session"          // JSON: one update
	ItemSessions        ItemType = "sessions"         // JSON: aggregates
	ItemClientReport    ItemType = "client_report"    // JSON
	ItemCheckIn         ItemType = "check_in"         // JSON
	ItemAttachment      ItemType = "attachment"       // bytes
	ItemFeedback        ItemType = "feedback"         // JSON, like an event
	ItemUserReport      ItemType = "user_report"      // JSON, the predecessor of feedback
	ItemReplayEvent     ItemType = "replay_event"     // JSON
	ItemReplayRecording ItemType = "replay_recording" // a line of JSON, then bytes
	ItemReplayVideo     ItemType = "replay_video"     // msgpack

	// Retired types, types reserved for Sentry's ingest, and types that browsers send instead of
	// SDKs: known and dropped.
	ItemStatsd        ItemType = "statsd"
	ItemMetricBuckets ItemType = "metric_buckets"
	ItemMetricMeta    ItemType = "metric_meta"
	ItemRawSecurity   ItemType = "raw_security"
	ItemSecurity      ItemType = "security"
	ItemNel           ItemType = "nel"
	ItemUnrealReport  ItemType = "unreal_report"
	ItemFormData      ItemType = "form_data"
	ItemOtelSpan      ItemType = "otel_span"
	ItemOtelLog       ItemType = "otel_log"

	// OTLP messages, as protobuf or JSON. Requests to OTLP endpoints become such items. The first
	// type is Relay's; the others are modeled on it.
	ItemOtelTracesData   ItemType = "otel_traces_data"
	ItemOtelLogsData     ItemType = "otel_logs_data"
	ItemOtelMetricsData  ItemType = "otel_metrics_data"
	ItemOtelProfilesData ItemType = "otel_profiles_data"
)

// Content types. Compare them case-insensitively.
const (
	ContentTypeEnvelope     = "application/x-sentry-envelope"
	ContentTypeJSON         = "application/json"
	ContentTypeLogs         = "application/vnd.sentry.items.log+json"
	ContentTypeSpans        = "application/vnd.sentry.items.span.v2+json"
	ContentTypeTraceMetrics = "application/vnd.sentry.items.trace-metric+json"
	ContentTypePerfetto     = "application/x-perfetto-trace"
	ContentTypeProtobuf     = "application/x-protobuf"
)

// itemCategories maps every known item type to the data category in which Relay counts it
// (relay-server src/envelope/item.rs), or "". SDKs may obey other categories: see StoppedBy.
var itemCategories = map[ItemType]Category{
	ItemProfile:         CategoryProfile,
	ItemProfileChunk:    CategoryProfileChunk, // profile_chunk_ui for the platforms Cocoa, Android and JavaScript
	ItemProfileChunkUI:  CategoryProfileChunkUI,
	ItemTransaction:     CategoryTransaction,
	ItemSpan:            CategorySpan,
	ItemEvent:           CategoryError,
	ItemLog:             CategoryLogItem, // and log_byte
	ItemTraceMetric:     CategoryTraceMetric,
	ItemSession:         CategorySession,
	ItemSessions:        CategorySession,
	ItemClientReport:    "", // reports losses; never rate limited itself
	ItemCheckIn:         CategoryMonitor,
	ItemAttachment:      CategoryAttachment, // and attachment_item
	ItemFeedback:        CategoryFeedback,
	ItemUserReport:      CategoryFeedback,
	ItemReplayEvent:     CategoryReplay,
	ItemReplayRecording: CategoryReplay,
	ItemReplayVideo:     CategoryReplay,
	ItemStatsd:          CategoryMetricBucket,
	ItemMetricBuckets:   CategoryMetricBucket,
	ItemMetricMeta:      "",
	ItemRawSecurity:     CategorySecurity,
	ItemSecurity:        CategorySecurity,
	ItemNel:             "",
	ItemUnrealReport:    CategoryError,
	ItemFormData:        "",
	ItemOtelSpan:        CategorySpan,
	ItemOtelLog:         CategoryLogItem,
	ItemOtelTracesData:  CategorySpan,

	ItemOtelLogsData:     CategoryLogItem,
	ItemOtelMetricsData:  CategoryTraceMetric,
	ItemOtelProfilesData: CategoryProfileChunk,
}

// Known reports whether the type is one of the constants. Clients choose item types freely, so only
// known types form a bounded set.
func (t ItemType) Known() bool {
	_, known := itemCategories[t]
	return known
}

// Label returns the type as a metric attribute: the type itself if it is known, else "unknown".
func (t ItemType) Label() string {
	if t.Known() {
		return string(t)
	}
	return "unknown"
}

// MaxSize returns the size limit for payloads of the type, in bytes. Larger payloads are not
// decoded.
func (t ItemType) MaxSize() int {
	switch t {
	case ItemProfile, ItemProfileChunk, ItemProfileChunkUI:
		return MaxProfileSize
	case ItemSpan, ItemLog, ItemTraceMetric, ItemSession, ItemSessions:
		return maxContainerSize
	}
	return maxItemSize
}

// Category returns the data category of the type, or "".
func (t ItemType) Category() Category { return itemCategories[t] }

// commonTexts holds texts that recur in item headers.
var commonTexts = func() map[string]string {
	texts := map[string]string{}
	for _, text := range []string{
		ContentTypeJSON, ContentTypeLogs, ContentTypeSpans, ContentTypeTraceMetrics, ContentTypePerfetto,
		"application-json", "python", "node", "javascript", "java", "android", "cocoa",
	} {
		texts[text] = text
	}
	for known := range itemCategories {
		texts[string(known)] = string(known)
	}
	return texts
}()
