// SPDX-License-Identifier: Apache-2.0

package processor

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestFullQueueHoldsUpWhatWaits: while the backend is down, a blocking queue behind
// profile_transform loses no profile that was answered with 200, although the queue has space for
// only one.
func TestFullQueueHoldsUpWhatWaits(t *testing.T) {
	t.Parallel()
	backend := harness.NewSink(t)
	backend.Respond(http.StatusServiceUnavailable)
	c := harness.Start(t, harness.Settings{Config: `
receivers: {sentry: {endpoint: ENDPOINT}}
processors:
  profile_transform: {link: {wait: 100ms}}
exporters:
  otlp_http/profiles:
    endpoint: ` + backend.URL() + `
    compression: none
    retry_on_failure: {initial_interval: 50ms, max_interval: 50ms}
    sending_queue: {queue_size: 1, num_consumers: 1, block_on_overflow: true}
  otlp_http: {endpoint: ` + backend.URL() + `, compression: none}
service:
  pipelines:
    profiles: {receivers: [sentry], processors: [profile_transform], exporters: [otlp_http/profiles]}
    traces: {receivers: [sentry], processors: [profile_transform], exporters: [otlp_http]}
`})
	sent := map[string]int{}
	for range 10 {
		id := harness.NewID()
		sent[id]++
		require.Equal(t, http.StatusOK, c.Send(t, harness.ItemRequest("profile_chunk", chunkOfSession(id))).Status)
	}
	time.Sleep(time.Second) // the wait of all profiles is over
	require.Empty(t, backend.DrainProfiles())
	backend.Respond(0)
	got := map[string]int{}
	require.Eventually(t, func() bool {
		for _, message := range backend.DrainProfiles() {
			profiles, err := harness.DecodeProfiles(message)
			require.NoError(t, err)
			got[harness.ProfileID(profiles)]++
		}
		return len(got) == len(sent)
	}, 30*time.Second, 50*time.Millisecond)
	require.Equal(t, sent, got)
}

// TestRefusedProfileHoldsUpNoOther: a profile that the backend always refuses does not delay
// others, even after a kill -9, and expires.
func TestRefusedProfileHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	backend := harness.NewSink(t)
	picky := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || bytes.Contains(body, []byte("poison")) {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(picky.Close)
	text := `
extensions: {file_storage: {directory: '` + t.TempDir() + `'}}
receivers: {sentry: {endpoint: ENDPOINT}}
processors:
  profile_transform: {storage: file_storage, link: {wait: 1s}, retry_on_failure: {max_elapsed_time: EXPIRY}}
exporters:
  otlp_http:
    endpoint: ` + picky.URL + `
    compression: none
    retry_on_failure: {enabled: false}
    sending_queue: {enabled: false}
service:
  extensions: [file_storage]
  pipelines:
    profiles: {receivers: [sentry], processors: [profile_transform], exporters: [otlp_http]}
    traces: {receivers: [sentry], processors: [profile_transform], exporters: [otlp_http]}
`
	config := func(expiry string) harness.Settings {
		return harness.Settings{Config: strings.ReplaceAll(text, "EXPIRY", expiry)}
	}
	c := harness.Start(t, config("1h")) // others that waited for the refused one would not arrive
	send := func(project, text string) {
		r := harness.ItemRequest("profile_chunk", strings.ReplaceAll(chunkOfSession(harness.NewID()), "main", text))
		r.Target = "/api/" + project + "/envelope/"
		require.Equal(t, http.StatusOK, c.Send(t, r).Status)
	}
	for round := range 2 {
		if round == 0 {
			send("1", "poison")
		}
		for range 60 {
			send("2", "main")
		}
		if round == 1 { // after the kill, held profiles wait again
			c.Kill()
			c = harness.Start(t, config("1h"))
		}
		got := 0
		require.Eventually(t, func() bool {
			got += len(backend.DrainProfiles())
			return got >= 60
		}, 30*time.Second, 10*time.Millisecond)
	}
	c.Kill()
	c = harness.Start(t, config("2s"))
	require.Eventually(t, func() bool {
		send("2", "main") // a backend that accepts nothing is down, and nothing expires
		return c.Scrape(t).Sum("otelcol_processor_profile_transform_outgoing_profiles", "outcome=expired") == 1
	}, 60*time.Second, 200*time.Millisecond)
}
