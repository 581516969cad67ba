// SPDX-License-Identifier: Apache-2.0

//go:build sdks

package sdks

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// spotlightAddress is where SDKs expect Spotlight.
const spotlightAddress = "localhost:8969"

// TestSpotlight: with SENTRY_SPOTLIGHT=1 in the environment, SDKs without a DSN send to the
// collector.
func TestSpotlight(t *testing.T) {
	if free, err := net.Listen("tcp", spotlightAddress); err != nil {
		t.Skipf("the port of Spotlight is in use: %v", err)
	} else {
		require.NoError(t, free.Close())
	}
	only := strings.Fields(os.Getenv("SDKS"))
	for _, s := range []sdk{
		{"Python", "python", "3.0.0b2", nil}, {"Python", "python", "2.75.0", nil}, {"Node", "node", "10.75.3", nil}, {"Node", "node", "11.12.0", nil},
	} {
		if len(only) > 0 && !slices.Contains(only, s.folder) {
			continue
		}
		t.Run(s.folder+"-"+s.version, func(t *testing.T) {
			if reason := s.missing(t); reason != "" {
				t.Skip(reason)
			}
			backend := harness.NewSink(t)
			harness.Start(t, harness.Settings{Config: fmt.Sprintf(`
receivers:
  sentry: {endpoint: ENDPOINT, spotlight: {endpoint: %s}}
exporters:
  otlp_http: {endpoint: %s, compression: none, sending_queue: {enabled: false}}
service:
  pipelines:
    profiles: {receivers: [sentry], exporters: [otlp_http]}
    traces: {receivers: [sentry], exporters: [otlp_http]}
    logs: {receivers: [sentry], exporters: [otlp_http]}
`, spotlightAddress, backend.URL())})
			t.Setenv("SENTRY_SPOTLIGHT", "1")
			said := s.run(t, "spotlight", "")
			require.Len(t, said.Spans, 1)
			require.Len(t, said.Errors, 1)
			require.Eventually(t, func() bool {
				return backend.Count(harness.TracesPath) >= 1 && backend.Count(harness.LogsPath) >= 1
			}, 30*time.Second, 20*time.Millisecond, "trace and error")
			messages := backend.DrainAll()
			checkSaid(t, said, messages)
			if s.version == "2.75.0" { // profiles everything if it has Spotlight and no DSN
				assert.Len(t, messages[harness.ProfilesPath], 1)
			}
		})
	}
}
