// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/relaytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// ingestForms are forms of messages, levels and statuses from public reports of lost or rejected
// fields, and the message that Sentry's ingest stores.
var ingestForms = []struct {
	source, members, message string
	notYet                   bool // the receiver reads it in another way
}{
	{"sentry-javascript#6725, parameterize", `"logentry":{"message":"order %s of %s is late","params":["A-17","ann"]}`, "order A-17 of ann is late", false},
	{"sentry-python#3660, a parameter is None", `"logentry":{"message":"task for %s returned %s","params":["feed",null]}`, "task for %s returned %s", false},
	{"develop#699, params are a dictionary", `"logentry":{"message":"order %(id)s","params":{"id":5}}`, "order 5", false},
	{"sentry-elixir#664", `"message":{"message":"like %s","params":["this"]}`, "like this", false},
	{"sentry#3462, braces", `"logentry":{"message":"a {0} b {1}","params":[1,2.5]}`, "a 1 b 2.5", false},
	{"bugsink#111, Serilog", `"logentry":{"formatted":"[API] \"x\"","message":"[API] {Err}"}`, `[API] "x"`, false},
	{"bugsink#85, PHP", `"message":"Something went wrong"`, "Something went wrong", false},
	{"raven", `"sentry.interfaces.Message":{"message":"x %s","params":["y"]}`, "x y", false},
	{"sentry-php#394", `"sentry.interfaces.Message":{"message":{},"params":[],"formatted":{}}`, "", false},
	{"sentry#11078, not a text", `"message":105`, "105", false},
	{"sentry#11078, false is none", `"message":false`, "", false},
	{"sentry#11078, JSON", `"message":["a",1]`, `["a",1]`, false},
	{"sentry#11078, logentry is preferred to message", `"logentry":{"message":"order %s","params":["p"]},"message":"other"`, "order p", false},
	{"formatted is null", `"logentry":{"message":"order %s","params":["p"],"formatted":null}`, "order p", false},
	{"params are null", `"logentry":{"message":"order %s","params":null}`, "order %s", false},
	{"params are a text", `"logentry":{"message":"order %s","params":"p"}`, "order %s", false},
	{"empty params are params", `"logentry":{"message":"100%% sure","params":[]}`, "100% sure", false},
	{"only params", `"logentry":{"params":["p"]}`, "", false},
	{"sentry-python#2799, loguru", `"level":"trace","message":"m"`, "m", false},
	{"sentry-python#2799, loguru", `"level":"success","message":"m"`, "m", false},
	{"sentry-dotnet#28", `"level":"Warning","message":"m"`, "m", false},
	{"raven-node#3", `"level":"warn","message":"m"`, "m", false},
	{"nestjs-sentry#6", `"level":"log","message":"m"`, "m", false},
	{"sentry-php#901", `"message":"m","breadcrumbs":[{"timestamp":1795755600,"level":"critical","message":"c"}]`, "m", false},
	{"sentry-ruby#2145", `"message":"m","breadcrumbs":[{"timestamp":1795755600,"level":"warn","message":"c"}]`, "m", false},
	{"raven-python", `"level":30,"message":"m"`, "m", false},
	{"raven-python", `"level":50,"message":"m"`, "m", false},
	{"raven-python", `"message":"m","breadcrumbs":{"values":[{"timestamp":1795755600,"level":20,"message":"c"}]}`, "m", false}, // info is the default
	{"raven-python", `"message":"m","breadcrumbs":{"values":[{"timestamp":1795755600,"level":30,"message":"c"}]}`, "m", false},
	{"not a level of Python", `"level":25,"message":"m"`, "m", false},
	{"relay#5202", `"message":"m","contexts":{"trace":{"trace_id":"0318bd57836a097a5038cd223d23c721","span_id":"0318bd57836a097a","status":"unknown_error"}}`, "m", false},
	{"relay#5202", `"message":"m","contexts":{"trace":{"trace_id":"0318bd57836a097a5038cd223d23c721","span_id":"0318bd57836a097a","status":"unknown"}}`, "m", false},
	{"a number", `"message":"m","contexts":{"trace":{"trace_id":"0318bd57836a097a5038cd223d23c721","span_id":"0318bd57836a097a","status":5}}`, "m", false},
	{"sentry-python#5060", `"message":"m","contexts":{"trace":{"trace_id":"0318bd57836a097a5038cd223d23c721","span_id":"0318bd57836a097a","status":"error"}}`, "m", false},
}

// formThereAndBack returns an event of ingestForms, its text in OTLP, and the event that is sent
// back.
func formThereAndBack(t *testing.T, members string) (payload []byte, body string, back []byte) {
	payload = []byte(`{"event_id":"c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7","timestamp":1795755600,"platform":"python",` + members + `}`)
	e, err := event.DecodeEvent(payload)
	require.NoError(t, err, members)
	logs := fromsentry.EventToLogs(e, fromsentry.Source{ProjectID: "1", IncludePII: true, ReceivedNano: receivedNano})
	body = logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body().AsString()
	export := FromLogs(logs, LogOptions{ExportOptions: options})
	require.Len(t, export.Items, 1, members)
	return payload, body, export.Items[0].Payload
}

// TestIngestForms: the body of the log record is the message that ingest stores.
func TestIngestForms(t *testing.T) {
	for _, form := range ingestForms {
		if _, body, _ := formThereAndBack(t, form.members); !form.notYet {
			assert.Equal(t, form.message, body, "%s: %s", form.source, form.members)
		}
	}
}

// TestIngestFormsOracle: Sentry's own library stores the same message, level and status of an
// event, and of the event that is sent back.
func TestIngestFormsOracle(t *testing.T) {
	relaytest.Python(t)
	type stored struct {
		Level       string
		Logentry    struct{ Formatted, Message string }
		Breadcrumbs struct{ Values []struct{ Level string } }
		Contexts    struct{ Trace struct{ Status string } }
	}
	var events [][]byte
	for _, form := range ingestForms {
		payload, _, back := formThereAndBack(t, form.members)
		events = append(events, payload, back)
	}
	results := relaytest.Strip(t, events)
	for i, form := range ingestForms {
		var pair [2]stored
		for k := range pair {
			require.NoError(t, json.Unmarshal(results[2*i+k][0], &pair[k]))
		}
		assert.Equal(t, form.message, pair[0].Logentry.Formatted, "%s: %s", form.source, form.members)
		if !form.notYet {
			assert.Equal(t, pair[0], pair[1], "%s: %s", form.source, form.members)
		}
	}
}
