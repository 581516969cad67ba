// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// TestLogsCorpus translates all that becomes log records in the recorded requests, and compares it
// with what encoding/json reads from the payloads: records out = elements in, exact times, trace
// ids as the payload says, no PII.
func TestLogsCorpus(t *testing.T) {
	found := map[sentry.ItemType]int{}
	logs := 0
	imagesOfEvents = 0
	for _, request := range recordings(t) {
		if strings.HasSuffix(request.Path, "/store/") {
			found["stored"]++
			checkEvent(t, request.Name, sentry.ItemEvent, request.Event(t))
			continue
		}
		if request.envelope == nil {
			continue // security requests
		}
		for _, item := range request.envelope.Items {
			switch item.Header.Type {
			case sentry.ItemLog:
				logs += checkLogs(t, request.Name, item)
			case sentry.ItemEvent, sentry.ItemFeedback:
				checkEvent(t, request.Name, item.Header.Type, item.Payload)
			case sentry.ItemCheckIn:
				checkCheckIn(t, request.Name, item.Payload)
			case sentry.ItemAttachment:
				out := ItemToLogs(item.Header, len(item.Payload), logSource)
				require.Equal(t, "attachment received", onlyRecord(t, out).Body().Str())
			}
			found[item.Header.Type]++
		}
	}
	requireCounts(t, map[sentry.ItemType]int{
		"log": 30, "event": 64, "feedback": 10, "check_in": 44, "attachment": 34, "stored": 8, "images": 148,
	}, map[sentry.ItemType]int{
		"log": found["log"], "event": found["event"], "feedback": found["feedback"], "check_in": found["check_in"],
		"attachment": found["attachment"], "stored": found["stored"], "images": imagesOfEvents,
	})
	t.Logf("%d logs in %d containers, %d events and %d stored ones, %d feedbacks, %d check-ins", logs, found["log"], found["event"], found["stored"], found["feedback"], found["check_in"])
}

var logSource = Source{ProjectID: "4507", ReceivedNano: 1_795_225_000_000_000_000}

type rawTrace struct {
	TraceID string `json:"trace_id"`
	SpanID  string `json:"span_id"`
}

func checkLogs(t *testing.T, name string, item sentry.Item) int {
	payload := item.Payload
	var want struct {
		Items []struct {
			rawTrace
			Timestamp  json.RawMessage `json:"timestamp"`
			Body       string          `json:"body"`
			Level      string          `json:"level"`
			Severity   *int32          `json:"severity_number"`
			Attributes map[string]struct {
				Type  string `json:"type"`
				Value any    `json:"value"`
			} `json:"attributes"`
		} `json:"items"`
	}
	require.NoError(t, json.Unmarshal(payload, &want), name)
	c, err := event.DecodeLogs(payload, item.Header.ItemCount)
	require.NoError(t, err, name)
	require.Empty(t, c.Lost, name)
	require.Empty(t, c.Flaws, name)

	src := logSource
	src.IncludePII = true
	out := LogsToLogs(c, src)
	resource := out.ResourceLogs().At(0).Resource().Attributes().AsRaw()
	records := out.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords()
	require.Equal(t, len(want.Items), records.Len(), name)
	for i, log := range want.Items {
		record := records.At(i)
		require.Equal(t, wantNanos(t, log.Timestamp), uint64(record.Timestamp()), name)
		require.Equal(t, log.Body, record.Body().Str(), name)
		require.Equal(t, log.Level, record.SeverityText(), name)
		if log.Severity != nil {
			require.Equal(t, *log.Severity, int32(record.SeverityNumber()), name)
		}
		require.NotZero(t, record.SeverityNumber(), name)
		require.Equal(t, log.TraceID, hexOf(record.TraceID()), name)
		if span, isText := log.Attributes["sentry.trace.parent_span_id"].Value.(string); isText && log.SpanID == "" {
			log.SpanID = span
		}
		require.Equal(t, log.SpanID, spanHexOf(record.SpanID()), name)
		for key, attribute := range log.Attributes {
			key = strings.Replace(key, "message.parameters.", "message.parameter.", 1)
			key = strings.Replace(key, "sentry.server.address", "server.address", 1)
			got, there := record.Attributes().Get(key)
			if !there {
				onResource := map[string]string{"sentry.release": "sentry.release", "sentry.environment": "deployment.environment.name",
					"sentry.sdk.name": "telemetry.sdk.name", "sentry.sdk.version": "telemetry.sdk.version"}[key]
				require.Equal(t, attribute.Value, resource[onResource], "%s: %s", name, key)
				continue
			}
			types := map[string]pcommon.ValueType{"string": pcommon.ValueTypeStr, "integer": pcommon.ValueTypeInt,
				"double": pcommon.ValueTypeDouble, "boolean": pcommon.ValueTypeBool, "array": pcommon.ValueTypeSlice}
			require.Equal(t, types[attribute.Type], got.Type(), "%s: %s", name, key)
			raw, err := json.Marshal(got.AsRaw())
			require.NoError(t, err)
			sent, err := json.Marshal(attribute.Value)
			require.NoError(t, err)
			require.JSONEq(t, string(sent), string(raw), "%s: %s", name, key)
		}
	}
	requireNoPII(t, name, LogsToLogs(c, logSource))
	return len(want.Items)
}

// imagesOfEvents is how many debug images the events of the recordings had.
var imagesOfEvents int

func checkEvent(t *testing.T, name string, item sentry.ItemType, payload []byte) {
	var want struct {
		EventID   string          `json:"event_id"`
		Timestamp json.RawMessage `json:"timestamp"`
		Exception json.RawMessage `json:"exception"`
		DebugMeta struct {
			Images []map[string]any `json:"images"`
		} `json:"debug_meta"`
		Contexts struct {
			Trace    rawTrace `json:"trace"`
			Feedback struct {
				Message string `json:"message"`
			} `json:"feedback"`
		} `json:"contexts"`
	}
	require.NoError(t, json.Unmarshal(payload, &want), name)
	e, err := event.DecodeEvent(payload)
	require.NoError(t, err, name)
	for _, flaw := range e.Flaws {
		require.Equal(t, discard.Flaw{Field: event.FieldUnmapped, Count: 2, Keys: "frame.project_root"}, flaw, name) // raven-ruby
	}
	translate := EventToLogs
	if item == sentry.ItemFeedback {
		translate = FeedbackToLogs
	}
	out := translate(e, logSource)
	record := onlyRecord(t, out)
	require.Equal(t, wantNanos(t, want.Timestamp), uint64(record.Timestamp()), name)
	require.Equal(t, want.Contexts.Trace.TraceID, hexOf(record.TraceID()), name)
	require.Equal(t, want.Contexts.Trace.SpanID, spanHexOf(record.SpanID()), name)
	require.Equal(t, strings.ReplaceAll(want.EventID, "-", ""), attributeText(record, "sentry.event.id"), name)
	if item == sentry.ItemFeedback {
		require.NotEmpty(t, record.Body().Str())
		require.Equal(t, want.Contexts.Feedback.Message, record.Body().Str(), name)
	}
	images, ok := record.Attributes().Get(semconv.SentryDebugMetaImages)
	if require.Equal(t, len(want.DebugMeta.Images) > 0, ok, name); ok {
		require.Len(t, want.DebugMeta.Images, images.Slice().Len(), name)
		imagesOfEvents += images.Slice().Len()
	}
	checkChain(t, name, want.Exception, record)
	requireNoPII(t, name, out)
}

// checkChain compares exceptions: the last of the payload is the headline, and the first frame of
// the trace is the last one of its stack.
func checkChain(t *testing.T, name string, exception json.RawMessage, record plog.LogRecord) {
	type wanted struct {
		Type, Value string
		Stacktrace  *struct{ Frames []map[string]any }
	}
	var chain []wanted
	if json.Unmarshal(exception, &chain) != nil && exception != nil {
		var object struct{ Values []wanted }
		require.NoError(t, json.Unmarshal(exception, &object), name)
		chain = object.Values
	}
	got, there := record.Attributes().Get("sentry.exceptions")
	require.Equal(t, len(chain) > 0, there, name)
	if !there {
		return
	}
	thrown := chain[len(chain)-1]
	require.Equal(t, thrown.Type, attributeText(record, "exception.type"), name)
	require.Equal(t, thrown.Value, attributeText(record, "exception.message"), name)
	text := attributeText(record, "exception.stacktrace")
	require.Equal(t, len(chain)-1, strings.Count(text, "\nCaused by: "), name)
	require.Equal(t, len(chain), got.Slice().Len(), name)
	for i, e := range chain {
		m := got.Slice().At(i).Map().AsRaw()
		if e.Type != "" {
			require.Equal(t, e.Type, m["type"], name)
		}
		if e.Stacktrace == nil {
			continue
		}
		frames := m["stacktrace"].(map[string]any)["frames"].([]any)
		require.Len(t, frames, len(e.Stacktrace.Frames), name)
		for j, frame := range e.Stacktrace.Frames {
			mirrored := frames[len(frames)-1-j].(map[string]any)
			for key, sent := range frame {
				if sent == "" || sent == nil || key == "project_root" { // raven: not decoded
					continue
				}
				if list, isList := sent.([]any); isList && len(list) == 0 {
					continue
				}
				if object, isObject := sent.(map[string]any); isObject && len(object) == 0 {
					continue
				}
				wantJSON, err := json.Marshal(sent)
				require.NoError(t, err)
				gotJSON, err := json.Marshal(mirrored[key])
				require.NoError(t, err)
				require.JSONEq(t, string(wantJSON), string(gotJSON), "%s frame %d %s", name, j, key)
			}
		}
	}
}

func checkCheckIn(t *testing.T, name string, payload []byte) {
	var want struct {
		ID       string `json:"check_in_id"`
		Slug     string `json:"monitor_slug"`
		Status   string `json:"status"`
		Contexts struct {
			Trace rawTrace `json:"trace"`
		} `json:"contexts"`
	}
	require.NoError(t, json.Unmarshal(payload, &want), name)
	c, err := event.DecodeCheckIn(payload)
	require.NoError(t, err, name)
	require.Empty(t, c.Flaws, name)
	record := onlyRecord(t, CheckInToLogs(c, logSource))
	require.Equal(t, want.ID, attributeText(record, "sentry.check_in.id"), name)
	require.Equal(t, want.Slug, attributeText(record, "sentry.monitor.slug"), name)
	require.Equal(t, want.Status, attributeText(record, "sentry.check_in.status"), name)
	require.Equal(t, want.Contexts.Trace.TraceID, hexOf(record.TraceID()), name)
}

// requireNoPII looks for what the recorded workload has of it. Source lines are left out: some
// workloads have the address in their code. It changes the records.
func requireNoPII(t *testing.T, name string, out plog.Logs) {
	t.Helper()
	for _, record := range out.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().All() {
		record.Attributes().Remove("sentry.exceptions")
	}
	text, err := (&plog.JSONMarshaler{}).MarshalLogs(out)
	require.NoError(t, err)
	lower := strings.ToLower(string(text))
	for _, personal := range []string{"jane@example.com", "client.address", "header.cookie", "header.authorization", "request.env"} {
		require.False(t, strings.Contains(lower, personal), "%s: %s", name, personal)
	}
}

func onlyRecord(t *testing.T, out plog.Logs) plog.LogRecord {
	t.Helper()
	require.Equal(t, 1, out.LogRecordCount())
	return out.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
}

func attributeText(record plog.LogRecord, key string) string {
	value, ok := record.Attributes().Get(key)
	if !ok {
		return ""
	}
	return value.AsString()
}

func hexOf(id pcommon.TraceID) string {
	if id.IsEmpty() {
		return ""
	}
	return hex.EncodeToString(id[:])
}

func spanHexOf(id pcommon.SpanID) string {
	if id.IsEmpty() {
		return ""
	}
	return hex.EncodeToString(id[:])
}

// wantNanos reads a time as an exact fraction, not by the code under test.
func wantNanos(t *testing.T, value json.RawMessage) uint64 {
	var text string
	if json.Unmarshal(value, &text) == nil {
		if !strings.HasSuffix(text, "Z") {
			text += "Z" // raven
		}
		instant, err := time.Parse(time.RFC3339Nano, text)
		require.NoError(t, err)
		return uint64(instant.UnixNano())
	}
	seconds, ok := new(big.Rat).SetString(string(value))
	require.True(t, ok)
	nanos := seconds.Mul(seconds, big.NewRat(1_000_000_000, 1))
	half := new(big.Int).Add(new(big.Int).Mul(nanos.Num(), big.NewInt(2)), nanos.Denom())
	return half.Div(half, new(big.Int).Mul(nanos.Denom(), big.NewInt(2))).Uint64()
}
