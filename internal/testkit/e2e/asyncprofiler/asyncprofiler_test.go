// SPDX-License-Identifier: Apache-2.0

package asyncprofiler

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakepyroscope"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// TestPyroscope: the output of the current async-profiler reaches Pyroscope as CPU and wall-clock
// time.
func TestPyroscope(t *testing.T) {
	library := profiler(t)
	for event, want := range map[string]string{
		"itimer": "process_cpu:cpu:nanoseconds:cpu:nanoseconds",
		"wall":   "wall:wall:nanoseconds:wall:nanoseconds",
	} {
		t.Run(event, func(t *testing.T) {
			recorded := filepath.Join(t.TempDir(), "profile.otlp")
			output, err := exec.Command("java", "-agentpath:"+library+"=start,event="+event+",threads,interval=5ms,otlp,file="+recorded, "Work.java", "1000").CombinedOutput()
			require.NoError(t, err, "%s", output)
			message, err := os.ReadFile(recorded)
			require.NoError(t, err)

			backend := harness.NewSink(t)
			address := harness.FreeAddress(t)
			harness.Start(t, harness.Settings{Sink: backend, Config: `
receivers:
  sentry: {endpoint: "ENDPOINT"}
  otlp: {protocols: {http: {endpoint: "` + address + `"}}}
processors: {profile_transform: {link: {enabled: false}, transforms: [{preset: pyroscope}]}}
exporters: {otlp_http: {endpoint: "` + backend.URL() + `", sending_queue: {enabled: false}}}
service: {pipelines: {profiles: {receivers: [sentry, otlp], processors: [profile_transform], exporters: [otlp_http]}}}
`})
			response, err := http.Post("http://"+address+harness.ProfilesPath, "application/x-protobuf", bytes.NewReader(message))
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, http.StatusOK, response.StatusCode)

			store := fakepyroscope.Store{}
			require.Empty(t, store.PushEncoded(backend.OneProfile(t)))
			require.Len(t, store.Profiles(), 1)
			require.Equal(t, want, store.Profiles()[0].Type)
			require.Greater(t, store.Profiles()[0].Total, int64(100_000_000), "a tenth of a second")
		})
	}
}

// profiler returns the path of the native library, which is extracted from the jar.
func profiler(t *testing.T) string {
	jars, err := filepath.Glob(filepath.Join(golden.Root(t), "internal", "testkit", "e2e", "asyncprofiler", "profiler", "async-profiler-*.jar"))
	require.NoError(t, err)
	platform := map[string]string{"amd64": "linux-x64", "arm64": "linux-arm64"}[runtime.GOARCH]
	if _, err := exec.LookPath("java"); len(jars) == 0 || err != nil || runtime.GOOS != "linux" || platform == "" {
		harness.Missing(t, "async-profiler", "`make asyncprofiler` fetches it, on Linux with Java and Maven")
	}
	jar, err := zip.OpenReader(jars[0])
	require.NoError(t, err)
	defer func() { require.NoError(t, jar.Close()) }()
	packed, err := jar.Open(platform + "/libasyncProfiler.so")
	require.NoError(t, err)
	content, err := io.ReadAll(packed)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "libasyncProfiler.so")
	require.NoError(t, os.WriteFile(path, content, 0o700))
	return path
}
