// SPDX-License-Identifier: Apache-2.0

package processor

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestLinksOutliveACrash: a profile waits for its spans, and the collector is killed. The next
// collector forwards the profile, linked to spans that arrived later. Traces pass without delay.
func TestLinksOutliveACrash(t *testing.T) {
	t.Parallel()
	backend, directory := harness.NewSink(t), t.TempDir()
	config := func(wait string) harness.Settings {
		return harness.Settings{Sink: backend, Config: fmt.Sprintf(`
receivers: {sentry: {endpoint: ENDPOINT}}
processors:
  profile_transform: {storage: file_storage, link: {wait: %s}}
exporters:
  otlp_http: {endpoint: %s, compression: none, sending_queue: {enabled: false}}
extensions:
  file_storage: {directory: %s}
service:
  extensions: [file_storage]
  pipelines:
    profiles: {receivers: [sentry], processors: [profile_transform], exporters: [otlp_http]}
    traces: {receivers: [sentry], processors: [profile_transform], exporters: [otlp_http]}
`, wait, backend.URL(), directory)}
	}

	id := harness.NewID()
	first := harness.Start(t, config("1m"))
	require.Equal(t, http.StatusOK, first.Send(t, harness.ItemRequest("profile_chunk", chunkOfSession(id))).Status)
	require.Equal(t, http.StatusOK, first.Send(t, harness.ItemRequest("transaction", transactionOf("1111111111111111", "1777629599.999", "1777629600.005"))).Status)
	require.Len(t, backend.Drain("/v1/traces"), 1, "at once")
	require.Empty(t, backend.DrainProfiles(), "it waits")
	first.Kill()

	second := harness.Start(t, config("2s"))
	require.Equal(t, http.StatusOK, second.Send(t, harness.ItemRequest("transaction", transactionOf("2222222222222222", "1777629600.005", "1777629600.015"))).Status)
	var messages [][]byte
	require.Eventually(t, func() bool { messages = backend.DrainProfiles(); return len(messages) > 0 }, 30*time.Second, 50*time.Millisecond)
	require.Len(t, messages, 1)
	profiles, err := harness.DecodeProfiles(messages[0])
	require.NoError(t, err)
	require.Equal(t, id, harness.ProfileID(profiles))
	spans := map[int64]string{}
	for _, sample := range harness.OnlyProfile(profiles).Samples().All() {
		for _, instant := range sample.TimestampsUnixNano().All() {
			spans[int64(instant)-1777629600_000000000] = profiles.Dictionary().LinkTable().At(int(sample.LinkIndex())).SpanID().String()
		}
	}
	require.Equal(t, map[int64]string{0: "", 10_000_000: "2222222222222222"}, spans,
		"the span of the second; that of the first went with the first collector")
	second.Stop(t)
	require.Empty(t, backend.DrainProfiles(), "once")
}

const testSession = "1c6f0e4f0b2a4c3d8e9f00112233aabb"

// chunkOfSession returns a chunk with two samples of thread 1, ten milliseconds apart.
func chunkOfSession(id string) string {
	return `{"version":"2","profiler_id":"` + testSession + `","chunk_id":"` + id + `","platform":"python","profile":{` +
		`"frames":[{"function":"main"}],"stacks":[[0]],"samples":[{"timestamp":1777629600.000,"thread_id":"1","stack_id":0},` +
		`{"timestamp":1777629600.010,"thread_id":"1","stack_id":0}],"thread_metadata":{"1":{"name":"main"}}}}`
}

// transactionOf returns a transaction of the session on thread 1.
func transactionOf(span, start, end string) string {
	return `{"type":"transaction","transaction":"/cart","start_timestamp":` + start + `,"timestamp":` + end + `,"contexts":{` +
		`"profile":{"profiler_id":"` + testSession + `"},"trace":{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"` + span +
		`","data":{"thread.id":"1"}}}}`
}
