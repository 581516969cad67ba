// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// checkLogPayload takes any text through decoding and translation as everything that becomes log
// records. What decodes comes out as records that can be sent, and the text stays as it was.
func checkLogPayload(t *testing.T, payload []byte) {
	before := string(payload)
	src := Source{ProjectID: "1", ReceivedNano: 1_777_629_600_000_000_000}
	check := func(out plog.Logs, records int) {
		require.Equal(t, records, out.LogRecordCount())
		for _, record := range out.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().All() {
			requireUTF8(t, record.Body())
			for key, value := range record.Attributes().All() {
				require.True(t, utf8.ValidString(key))
				requireUTF8(t, value)
			}
		}
		body, err := (&plog.ProtoMarshaler{}).MarshalLogs(out)
		require.NoError(t, err)
		back, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(body)
		require.NoError(t, err)
		require.Equal(t, records, back.LogRecordCount())
	}
	if c, err := event.DecodeLogs(payload, jsonscan.Optional[int]{}); err == nil {
		check(LogsToLogs(c, src), len(c.Logs))
	}
	if e, err := event.DecodeEvent(payload); err == nil {
		check(EventToLogs(e, src), 1)
		check(FeedbackToLogs(e, src), 1)
		src.IncludePII = true
		check(EventToLogs(e, src), 1)
	}
	if c, err := event.DecodeCheckIn(payload); err == nil {
		check(CheckInToLogs(c, src), 1)
	}
	if r, err := event.DecodeUserReport(payload); err == nil {
		check(UserReportToLogs(r, src), 1)
	}
	require.Equal(t, before, string(payload), "the payload was changed")
}

// requireUTF8: protobuf refuses any other text, at the next hop.
func requireUTF8(t *testing.T, value pcommon.Value) {
	switch value.Type() {
	case pcommon.ValueTypeStr:
		require.True(t, utf8.ValidString(value.Str()))
	case pcommon.ValueTypeMap:
		for key, member := range value.Map().All() {
			require.True(t, utf8.ValidString(key))
			requireUTF8(t, member)
		}
	case pcommon.ValueTypeSlice:
		for _, element := range value.Slice().All() {
			requireUTF8(t, element)
		}
	}
}

func FuzzLogs(f *testing.F) {
	for _, seed := range []string{
		`{"exception":` + chain + `,"threads":[{"id":1,"crashed":true,"stacktrace":{"frames":[{}]}}],"tags":[["a","b"]],"user":{"id":1,"email":null}}`,
		`{"logentry":{"message":"%s","params":["x",{"y":[1e999,-0,18446744073709551616]}]},"breadcrumbs":{"values":[{"timestamp":"2026-01-01","data":{}}]}}`,
		`{"request":{"headers":{"Cookie":["a"]},"query_string":[["a","b"]],"env":{"HTTP_COOKIE":"x"}},"contexts":{"os":{"name":"linux"},"trace":{"data":{"thread.id":"1"}},"response":{"headers":{"a":1}}}}`,
		`{"version":2,"ingest_settings":{"infer_ip":"auto"},"items":[{"timestamp":"2026-11-21T01:20:39.271273354Z","body":"b","severity_number":9,"attributes":{"a":{"type":"integer","value":"9"},"b":1}},null,{}]}`,
		`{"check_in_id":"1","monitor_slug":"m","status":"ok","duration":1e-3,"monitor_config":{},"contexts":{"trace":{"trace_id":"11f0ee7e97b94fad905e518b83e20600"}}}`,
		`{"event_id":"e67d4007893140eab8663ade16bf2a0b","name":"n","email":"e","comments":"c"}`,
		"{\"message\":\"\xff\\ud800\",\"tags\":{\"\xff\":\"\xfe\"},\"extra\":{\"\xff\":\"\xff\"},\"modules\":{\"a\":{\"a\":{}}}}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(checkLogPayload)
}
