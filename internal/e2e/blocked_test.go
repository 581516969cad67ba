package e2e

import (
	"net/http"
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
