// SPDX-License-Identifier: Apache-2.0

package processor

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakepyroscope"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// TestPyroscopeExample runs the example: Pyroscope accepts the profiles, and Grafana finds those of
// a span by the attribute pyroscope.profile.id.
func TestPyroscopeExample(t *testing.T) {
	config, err := os.ReadFile(filepath.Join(golden.Root(t), "examples", "pyroscope", "config.yaml"))
	require.NoError(t, err)
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{Sink: backend, Config: strings.NewReplacer(
		"0.0.0.0:4319", "ENDPOINT", "http://localhost:4040", backend.URL(), "http://localhost:4318", backend.URL(),
		"  profile_transform:\n", "  profile_transform:\n    link: {wait: 1s}\n",
	).Replace(string(config))})
	require.Equal(t, http.StatusOK, c.Send(t, harness.ItemRequest("transaction", transactionOf("1111111111111111", "1777629599.999", "1777629600.005"))).Status)
	require.Equal(t, http.StatusOK, c.Send(t, harness.ItemRequest("profile_chunk", chunkOfSession(harness.NewID()))).Status)

	messages := map[string][]byte{}
	require.Eventually(t, func() bool {
		for _, path := range []string{harness.ProfilesPath, harness.TracesPath} {
			for _, message := range backend.Drain(path) {
				messages[path] = message
			}
		}
		return len(messages) == 2
	}, 20*time.Second, 50*time.Millisecond)

	traces, err := new(ptrace.ProtoUnmarshaler).UnmarshalTraces(messages[harness.TracesPath])
	require.NoError(t, err)
	span := traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	id, _ := span.Attributes().Get("pyroscope.profile.id")
	require.Equal(t, span.SpanID().String(), id.Str())

	store := fakepyroscope.Store{}
	require.Empty(t, store.PushEncoded(messages[harness.ProfilesPath]))
	require.Len(t, store.Profiles(), 1)
	require.Equal(t, "wall:wall:nanoseconds:wall:nanoseconds", store.Profiles()[0].Type, "as in grafana/datasources.yml")
	require.Equal(t, 1, store.Profiles()[0].Spans)
}
