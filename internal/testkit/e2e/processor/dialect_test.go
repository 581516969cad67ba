// SPDX-License-Identifier: Apache-2.0

package processor

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dialect"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// TestDialects: profiles of older versions go through the collector's own OTLP receiver and
// exporter, and leave in the version of an older backend.
func TestDialects(t *testing.T) {
	backend := harness.NewSink(t)
	backend.Check(harness.Unchecked) // OTLP 1.9
	address := harness.FreeAddress(t)
	harness.Start(t, harness.Settings{Sink: backend, Config: `
extensions:
  profile_dialect:
  profile_dialect/old: {dialect: v1_9}
receivers:
  sentry: {endpoint: "ENDPOINT"}
  otlp: {protocols: {http: {endpoint: "` + address + `", middlewares: [{id: profile_dialect}]}}}
exporters: {otlp_http: {endpoint: "` + backend.URL() + `", middlewares: [{id: profile_dialect/old}], sending_queue: {enabled: false}}}
service:
  extensions: [profile_dialect, profile_dialect/old]
  pipelines: {profiles: {receivers: [sentry, otlp], exporters: [otlp_http]}}
`})
	post := func(request []byte) (status int, text string) {
		response, err := http.Post("http://"+address+harness.ProfilesPath, "application/x-protobuf", bytes.NewReader(request))
		require.NoError(t, err)
		answer, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode, string(answer)
	}
	message := func(name string) []byte {
		encoded, err := os.ReadFile(filepath.Join(golden.Root(t), name))
		require.NoError(t, err)
		return encoded
	}
	dump := func(request []byte) (string, dialect.Version) {
		current, from, err := dialect.Decode(request)
		require.NoError(t, err)
		profiles, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(current) // producers do not obey all rules
		require.NoError(t, err)
		return dictionarytest.Dump(profiles), from
	}
	const testdata = "internal/profiles/dialect/testdata/"
	for _, name := range []string{
		testdata + "otlp-1.7/totals.pb", testdata + "otlp-1.8/attributes.pb", testdata + "otlp-1.9/attributes.pb",
		"testdata/otlp/async-profiler/4.1-itimer.pb", "testdata/otlp/async-profiler/4.4-itimer.pb", "testdata/otlp/async-profiler/4.5-itimer.pb",
	} {
		status, text := post(message(name))
		require.Equal(t, http.StatusOK, status, "%s: %s", name, text)
		want, _ := dump(message(name))
		got, version := dump(backend.OneProfile(t))
		require.Equal(t, want, got, name)
		require.Equal(t, dialect.V1_9, version, name)
	}
	status, text := post(message(testdata + "otlp-1.7/ambiguous.pb"))
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, text, "old-profiler 0.7")
}
