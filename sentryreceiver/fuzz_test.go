// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
)

// FuzzEnvelopeRequest sends any body under any encoding. Whatever it is, the answer is one of ours,
// in JSON, and what goes into the pipeline is valid OTLP.
func FuzzEnvelopeRequest(f *testing.F) {
	for _, body := range []string{
		"", "{}", envelope(chunkItem), envelope(transactionItem, profileItem), envelope(item("profile_chunk", "", oddChunk)),
	} {
		f.Add([]byte(body), "", false)
		for _, name := range []string{"gzip", "deflate", "br", "zstd"} {
			f.Add(encode(f, name, []byte(body)), name, true)
		}
	}
	out := &sink{}
	receivers := map[bool]*sentryReceiver{}
	for strict, validation := range map[bool]profile.Validation{false: profile.Lenient, true: profile.Strict} {
		cfg := testConfig(func(c *Config) { c.Validation, c.HTTP.MaxRequestBodySize = validation, 1<<20 })
		r, err := newSentryReceiver(cfg, receivertest.NewNopSettings(componentType))
		require.NoError(f, err)
		r.pipelines.Profiles, receivers[strict] = out, r
	}
	f.Fuzz(func(t *testing.T, body []byte, encoding string, strict bool) {
		req := httptest.NewRequest("POST", "/api/42/envelope/?sentry_key=public", bytes.NewReader(body))
		req.Header.Set("Content-Encoding", encoding)
		out.profiles, out.contexts = nil, nil
		w := httptest.NewRecorder()
		receivers[strict].handler(endpointsOf(receivers[strict].cfg)).ServeHTTP(w, req)
		require.Contains(t, []int{200, 400, 401, 413}, w.Code)
		require.True(t, json.Valid(w.Body.Bytes()), "%s", w.Body)
		for _, p := range out.profiles {
			dictionarytest.MustBeValid(t, p)
		}
	})
}

// FuzzOtherEndpoints sends any body where no envelope is expected.
func FuzzOtherEndpoints(f *testing.F) {
	paths := map[string]string{
		"store": "store/", "report": "security/", "check-in": "cron/nightly/",
		"otlp": "otlp/v1/logs", "protobuf": "otlp/v1/logs", // in JSON, and in protobuf
	}
	for _, body := range []string{"", "{}", "[]", "null", errorEvent, fullTransaction, checkIn, cspReport, "[" + nelReport + "]"} {
		for endpoint := range paths {
			f.Add(endpoint, []byte(body))
		}
		f.Add("store", ravenText(f, body))
	}
	f.Add("otlp", otlpMessages(f)["logs"].json)
	f.Add("protobuf", otlpMessages(f)["logs"].proto)
	logs := new(consumertest.LogsSink)
	cfg := testConfig(func(c *Config) { c.HTTP.MaxRequestBodySize = 1 << 20 })
	r, err := newSentryReceiver(cfg, receivertest.NewNopSettings(componentType))
	require.NoError(f, err)
	r.pipelines.Logs = logs
	f.Fuzz(func(t *testing.T, endpoint string, body []byte) {
		req := httptest.NewRequest("POST", "/api/42/"+paths[endpoint]+"?sentry_key=public", bytes.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		if endpoint == "protobuf" {
			req.Header.Set("Content-Type", "application/x-protobuf")
		}
		w := httptest.NewRecorder()
		logs.Reset()
		r.handler(endpointsOf(cfg)).ServeHTTP(w, req)
		require.Contains(t, []int{200, 202, 400, 404, 413}, w.Code)
		if w.Code >= 400 {
			require.Zero(t, logs.LogRecordCount())
		}
		if w.Code != 202 && endpoint != "protobuf" {
			require.True(t, json.Valid(w.Body.Bytes()), "%s", w.Body)
		}
	})
}
