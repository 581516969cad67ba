// SPDX-License-Identifier: Apache-2.0

package processor

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakepyroscope"
)

// transforms is a configuration with Sentry as input, and the processor with a list of transforms.
func transforms(backend *harness.Sink, list string) harness.Settings {
	return harness.Settings{Config: fmt.Sprintf(`
receivers: {sentry: {endpoint: "ENDPOINT"}}
processors:
  profile_transform:
    transforms:
%s
exporters: {otlp_http: {endpoint: "%s", sending_queue: {enabled: false}}}
service: {pipelines: {profiles: {receivers: [sentry], processors: [profile_transform], exporters: [otlp_http]}}}
`, list, backend.URL())}
}

// TestTransforms: several consecutive transforms, with patterns and dollar signs as the collector's
// configuration reads them.
func TestTransforms(t *testing.T) {
	backend := harness.NewSink(t)
	c := harness.Start(t, transforms(backend, `
      - scrub:
          preset: home
          rules:
            - {pattern: 'acme-(\d+)', replacement: 'customer-$1'}
            - {pattern: 'secret(\w)', replacement: '$${1}'}
      - frames:
          action: collapse
          match:
            - {module: '^(django|gunicorn)\.'}
      - preset: pyroscope`))
	got := c.Send(t, harness.Chunk{
		Frames: `{"function":"view","filename":"/home/alice/acme-17/views.py","in_app":true},{"function":"run","module":"django.core"},` +
			`{"function":"main","module":"gunicorn.app"},{"function":"secretA"}`,
		Stacks: `[0,1,2],[3]`,
		Samples: `{"timestamp":1700000000.5,"thread_id":"1","stack_id":0},{"timestamp":1700000000.52,"thread_id":"1","stack_id":1},` +
			`{"timestamp":1700000000.5,"thread_id":"2","stack_id":0}`,
		Threads: `"1":{"name":"MainThread"},"2":{"name":"worker"}`,
	}.Request())
	require.Equal(t, http.StatusOK, got.Status, got.Body)

	profiles, err := harness.DecodeProfiles(backend.OneProfile(t))
	require.NoError(t, err)
	text := dictionarytest.Dump(profiles)
	require.NotContains(t, text, "alice")
	for _, want := range []string{"/home/user/customer-17/views.py", "(other)", `sample service.name="shop" service_version="1.0"`, "29900990", "      A "} {
		require.Contains(t, text, want)
	}
	for _, gone := range []string{"django", "gunicorn", "MainThread", "thread.id", "secret"} {
		require.NotContains(t, text, gone)
	}
	require.Equal(t, 2, harness.OnlyProfile(profiles).Samples().Len(), "threads are one series")
	new(fakepyroscope.Store).MustPush(t, profiles)
}

// TestPresetOTLPgRPC: a profile above the default limit of gRPC servers arrives in parts.
func TestPresetOTLPgRPC(t *testing.T) {
	t.Parallel()
	for list, arrive := range map[string]bool{"      - preset: otlp_grpc": true, "      - active_thread_only: {}": false} {
		backend := harness.NewSink(t)
		c := harness.Start(t, harness.Settings{Config: fmt.Sprintf(`
receivers:
  sentry: {endpoint: "ENDPOINT"}
  otlp: {protocols: {grpc: {endpoint: "%[1]s"}}}
processors:
  profile_transform:
    transforms:
%[2]s
exporters:
  otlp_grpc: {endpoint: "%[1]s", tls: {insecure: true}, wait_for_ready: true, sending_queue: {enabled: false}}
  otlp_http: {endpoint: "%[3]s", sending_queue: {enabled: false}}
service:
  pipelines:
    profiles/send: {receivers: [sentry], processors: [profile_transform], exporters: [otlp_grpc]}
    profiles/receive: {receivers: [otlp], exporters: [otlp_http]}
`, harness.FreeAddress(t), list, backend.URL())})
		id := harness.NewID()
		c.Send(t, harness.LargeChunk(id).Request())
		if n := harness.DrainParts(t, backend, id); arrive {
			require.Equal(t, harness.LargeSamples, n)
		} else {
			require.Zero(t, n, "the limit is not what it was; is the preset still needed?")
		}
	}
}

// TestTransformsRefuseConfiguration: an invalid configuration prevents the start, with an error
// that names the key and the fix.
func TestTransformsRefuseConfiguration(t *testing.T) {
	for text, want := range map[string]string{
		"      - drop_idle: {}\n      - aggregate: {}": "transforms: aggregate: ",
		"      - threads: {drop: ['(']}":               "drop[0]",
	} {
		c := harness.Launch(t, transforms(harness.NewSink(t), text))
		require.Error(t, c.Wait())
		require.Contains(t, c.Log.String(), want)
	}
}
