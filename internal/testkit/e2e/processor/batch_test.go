// SPDX-License-Identifier: Apache-2.0

package processor

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/sentrytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// TestBatch: the messages of a profiler become one message for an OTLP backend and one chunk per
// process for Sentry, although the collector is killed while it holds the batch.
func TestBatch(t *testing.T) {
	t.Parallel()
	backend, server := harness.NewSink(t), fakesentry.Start(t)
	address := harness.FreeAddress(t)
	config := strings.NewReplacer("STORAGE", t.TempDir(), "OTLP", address, "BACKEND", backend.URL(), "DSN", server.DSN()).Replace(`
extensions: {file_storage: {directory: 'STORAGE'}}
receivers:
  sentry: {endpoint: "ENDPOINT"}
  otlp: {protocols: {http: {endpoint: "OTLP"}}}
processors:
  profile_transform: {storage: file_storage, link: {enabled: false}, batch: {timeout: TIMEOUT}}
exporters:
  otlp_http: {endpoint: "BACKEND", sending_queue: {enabled: false}}
  sentry_envelope: {dsn: "DSN"}
service:
  extensions: [file_storage]
  pipelines: {profiles: {receivers: [sentry, otlp], processors: [profile_transform], exporters: [otlp_http, sentry_envelope]}}
`)
	settings := func(timeout string) harness.Settings {
		return harness.Settings{Sink: backend, Config: strings.ReplaceAll(config, "TIMEOUT", timeout)}
	}
	c := harness.Start(t, settings("1h"))
	recorded, err := filepath.Glob(filepath.Join(golden.Root(t), "testdata", "otlp", "ebpf-profiler", "*.pb"))
	require.NoError(t, err)
	require.Len(t, recorded, 7)
	want := 0
	for _, path := range recorded {
		encoded, err := os.ReadFile(path)
		require.NoError(t, err)
		want += observationsIn(t, encoded)
		response, err := http.Post("http://"+address+harness.ProfilesPath, "application/x-protobuf", bytes.NewReader(encoded))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusOK, response.StatusCode)
	}
	require.Empty(t, backend.DrainProfiles())
	c.Kill()

	c = harness.Start(t, settings("1s"))
	var messages [][]byte
	require.Eventually(t, func() bool {
		messages = append(messages, backend.DrainProfiles()...)
		return len(messages) > 0 && len(server.Taken()) >= 3
	}, 60*time.Second, 50*time.Millisecond)
	c.Stop(t)
	messages = append(messages, backend.DrainProfiles()...)
	require.Len(t, messages, 1)
	require.Equal(t, want, observationsIn(t, messages[0]))
	profiles, err := harness.DecodeProfiles(messages[0])
	require.NoError(t, err)
	require.Equal(t, 3, profiles.ResourceProfiles().Len(), "one for each process")
	require.Equal(t, 21, profiles.ProfileCount())

	busy := 0
	for _, e := range server.Taken() {
		require.Empty(t, fakesentry.Verdict(e))
		chunk, err := sentrytest.Read(2, e.Items[0].Payload)
		require.NoError(t, err)
		for _, s := range chunk.Samples {
			busy += min(1, len(s.Stack))
		}
	}
	require.Len(t, server.Taken(), 3)
	require.GreaterOrEqual(t, busy, want, "ingest requires two samples for each thread")
}

// observationsIn counts the timestamps of all profiles of a message.
func observationsIn(t *testing.T, message []byte) (n int) {
	profiles, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(message)
	require.NoError(t, err)
	for _, resource := range profiles.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				for _, sample := range profile.Samples().All() {
					n += sample.TimestampsUnixNano().Len()
				}
			}
		}
	}
	return n
}
