// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/sentryreceiver/internal/ledger"
)

func TestSenderIsInTheClientMetadata(t *testing.T) {
	s := startSignals(t, func(c *Config) { c.HTTP.IncludeMetadata = true })
	body := "{\"sdk\":{\"name\":\"sentry.python\",\"version\":\"2.68.0\"}}\n" + item("transaction", "", fullTransaction) + profileItem +
		item("event", "", errorEvent) + item("session", "", session)
	req := s.request("POST", "/api/42/envelope/", strings.NewReader(body))
	req.Header.Set("X-Sentry-Auth", "Sentry sentry_key="+testKey+", sentry_secret=0123secret")
	req.Header.Set("X-Tenant", "blue")
	req.Header.Set("Sentry.Public_Key", "of somebody else")
	req.Header.Set("Sentry.Link_Key", "of somebody else")
	require.Equal(t, 200, s.do(req).status)

	contexts := map[string][]context.Context{
		"profiles": s.sink.contexts, "traces": s.traces.Contexts(), "logs": s.logs.Contexts(), "metrics": s.points.Contexts(),
	}
	for signal, all := range contexts {
		require.Len(t, all, 1, signal)
		info := client.FromContext(all[0])
		assert.Equal(t, []string{"42"}, info.Metadata.Get("sentry.project_id"), signal)
		assert.Equal(t, []string{testKey}, info.Metadata.Get("sentry.public_key"), signal)
		assert.Equal(t, []string{"sentry.python"}, info.Metadata.Get("sentry.sdk_name"), signal)
		assert.NotContains(t, info.Metadata.Get("sentry.link_key"), "of somebody else", signal)
		assert.Equal(t, []string{"blue"}, info.Metadata.Get("X-Tenant"), "what confighttp was told to include")
		assert.Equal(t, "127.0.0.1", info.Addr.String(), signal)
		for key := range info.Metadata.Keys() {
			if key != "x-sentry-auth" { // which the user asked for
				assert.NotContains(t, info.Metadata.Get(key), "0123secret", key)
			}
		}
	}
}

// TestLinkKeys: a chunk and the spans of its session have equal keys. The key is the session,
// unless the SDK does not state it on every span. Data that needs no other message has a key of its
// own.
func TestLinkKeys(t *testing.T) {
	const profiler, trace, otherTrace = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210", "fedcba9876543210fedcba9876543211"
	chunk := item("profile_chunk", "", `{"version":"2","platform":"python","profiler_id":"`+profiler+`","chunk_id":"`+trace+`",`+
		`"profile":{"frames":[{"function":"work"}],"stacks":[[0]],"samples":[{"timestamp":1700000000.5,"thread_id":"1","stack_id":0}]}}`)
	transaction := func(contexts string) string {
		return item("transaction", "", `{"type":"transaction","event_id":"`+trace+`","platform":"python","transaction":"GET /",`+
			`"start_timestamp":1700000000,"timestamp":1700000001,"contexts":{`+contexts+`"trace":{"trace_id":"`+trace+`","span_id":"0123456789abcdef"}},"spans":[]}`)
	}
	span := func(trace, attributes string) string {
		return item("span", containerHeader(sentry.ContentTypeSpans), `{"items":[{"trace_id":"`+trace+`",`+
			`"span_id":"0123456789abcdef","name":"work","status":"ok","is_segment":false,"start_timestamp":1700000000,"end_timestamp":1700000001,`+
			`"attributes":{`+attributes+`}}]}`)
	}
	profiled := `"profile":{"profiler_id":"` + profiler + `"},`
	stated := `"sentry.profiler_id":{"type":"string","value":"` + profiler + `"}`
	var traces string
	for i := range 100 {
		traces += span(fmt.Sprintf("%032x", i/2+1), "")
	}
	for name, c := range map[string]struct {
		sdk, items string
		want       []string
	}{
		"chunk":                              {"sentry.python", chunk, []string{profiler}},
		"its transaction":                    {"sentry.python", transaction(profiled), []string{profiler}},
		"its streamed span":                  {"sentry.python", span(trace, stated), []string{profiler}},
		"transaction without a profiler":     {"sentry.python", transaction(""), []string{trace}},
		"streamed span without a profiler":   {"sentry.java", span(trace, ""), []string{trace}},
		"both":                               {"sentry.python", chunk + transaction(profiled), []string{profiler, profiler}},
		"profile that is linked already":     {"sentry.python", profileItem, []string{"0f3cb15cce4a4e5d9d5b0f1c3b7a1e20"}},
		"JavaScript":                         {"sentry.javascript.node", chunk, []string{testKey}},
		"JavaScript, transaction":            {"sentry.javascript.node", transaction(profiled), []string{testKey}},
		"JavaScript, streamed span":          {"sentry.javascript.node", span(trace, ""), []string{testKey}},
		"JavaScript, without a profiler":     {"sentry.javascript.node", transaction(""), []string{trace}},
		"React Native":                       {"sentry.javascript.react-native", chunk, []string{testKey}},
		"React Native, native part":          {"sentry.java.android.react-native", transaction(profiled), []string{testKey}},
		"two traces, one of them with a key": {"sentry.python", span(trace, stated) + span(otherTrace, "") + span(trace, stated), []string{profiler, otherTrace}},
		"logs are not linked":                {"sentry.python", item("event", "", errorEvent), []string{""}},
		"too many": {"sentry.python", traces, []string{
			fmt.Sprintf("%032x", 1), fmt.Sprintf("%032x", 2), fmt.Sprintf("%032x", 3), fmt.Sprintf("%032x", 4),
			fmt.Sprintf("%032x", 5), fmt.Sprintf("%032x", 6), fmt.Sprintf("%032x", 7), fmt.Sprintf("%032x", 8), testKey,
		}},
	} {
		s := startSignals(t, nil)
		require.Equal(t, 200, s.post(`{"sdk":{"name":"`+c.sdk+`"}}`+"\n"+c.items).status, name)
		var keys []string
		for _, ctx := range slices.Concat(s.sink.contexts, s.traces.Contexts(), s.logs.Contexts(), s.points.Contexts()) {
			keys = append(keys, strings.Join(client.FromContext(ctx).Metadata.Get("sentry.link_key"), " "))
		}
		assert.Equal(t, c.want, keys, name)
	}
}

func TestSDKNamesOfTheClientsMaking(t *testing.T) {
	s := startSignals(t, nil)
	for name, want := range map[string]string{
		``:                          "sentry.python", // of the credentials
		`sentry.cocoa`:              "sentry.cocoa",
		`a\r\nX-Injected: 1`:        ledger.Unidentified.SDK,
		strings.Repeat("a", 10_000): ledger.Unidentified.SDK,
	} {
		s.logs.Reset()
		require.Equal(t, 200, s.post(`{"sdk":{"name":"`+name+`"}}`+"\n"+item("event", "", errorEvent)).status)
		require.Len(t, s.logs.Contexts(), 1)
		assert.Equal(t, []string{want}, client.FromContext(s.logs.Contexts()[0]).Metadata.Get("sentry.sdk_name"), "%.20q", name)
	}
}
