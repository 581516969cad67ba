// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFullQueueHoldsUpWhatWaits: behind profile_transform, a queue that blocks while its backend is down costs no profile that was
// answered 200, though it has room for one.
func TestFullQueueHoldsUpWhatWaits(t *testing.T) {
	backend := newSink(t)
	backend.answer(http.StatusServiceUnavailable)
	c := start(t, settings{config: `
receivers: {sentry: {endpoint: ENDPOINT}}
processors:
  profile_transform: {link: {wait: 100ms}}
exporters:
  otlp_http/profiles:
    endpoint: ` + backend.url() + `
    compression: none
    retry_on_failure: {initial_interval: 50ms, max_interval: 50ms}
    sending_queue: {queue_size: 1, num_consumers: 1, block_on_overflow: true}
  otlp_http: {endpoint: ` + backend.url() + `, compression: none}
service:
  pipelines:
    profiles: {receivers: [sentry], processors: [profile_transform], exporters: [otlp_http/profiles]}
    traces: {receivers: [sentry], processors: [profile_transform], exporters: [otlp_http]}
`})
	sent := map[string]int{}
	for range 10 {
		id := newID()
		sent[id]++
		require.Equal(t, http.StatusOK, c.send(t, envelopeOf("profile_chunk", chunkOfSession(id))).status)
	}
	time.Sleep(time.Second) // all are due
	require.Empty(t, backend.take())
	backend.answer(0)
	got := map[string]int{}
	require.Eventually(t, func() bool {
		for _, message := range backend.take() {
			profiles, err := decode(message)
			require.NoError(t, err)
			got[profileID(profiles)]++
		}
		return len(got) == len(sent)
	}, 20*time.Second, 50*time.Millisecond)
	require.Equal(t, sent, got)
}

// TestRefusedProfileHoldsUpNoOther: a profile that the backend always refuses costs others nothing, also after a kill -9, and expires.
func TestRefusedProfileHoldsUpNoOther(t *testing.T) {
	backend := newSink(t)
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
	config := settings{config: `
extensions: {file_storage: {directory: '` + t.TempDir() + `'}}
receivers: {sentry: {endpoint: ENDPOINT}}
processors:
  profile_transform: {storage: file_storage, link: {wait: 1s}, retry_on_failure: {max_elapsed_time: 5s}}
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
`}
	c := start(t, config)
	send := func(project, text string) {
		r := envelopeOf("profile_chunk", strings.ReplaceAll(chunkOfSession(newID()), "main", text))
		r.target = "/api/" + project + "/envelope/"
		require.Equal(t, http.StatusOK, c.send(t, r).status)
	}
	for round := range 2 {
		if round == 0 {
			send("1", "poison")
		}
		for range 60 {
			send("2", "main")
		}
		if round == 1 { // what waits now waits again
			c.crash()
			c = start(t, config)
		}
		begin := time.Now()
		got := 0
		require.Eventually(t, func() bool {
			got += len(backend.take())
			return got >= 60
		}, 30*time.Second, 10*time.Millisecond)
		t.Logf("60 of 60 after %s", time.Since(begin))
		require.Less(t, time.Since(begin), 10*time.Second)
	}
	require.Eventually(t, func() bool {
		return c.scrape(t).sum("otelcol_processor_profile_transform_outgoing_profiles", "outcome=expired") == 1
	}, 60*time.Second, 100*time.Millisecond)
}
