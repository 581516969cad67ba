// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
)

// transforms is a configuration with the processor and its transforms between Sentry and a backend.
func transforms(backend *sink, list string) settings {
	return settings{config: fmt.Sprintf(`
receivers: {sentry: {endpoint: "ENDPOINT"}}
processors:
  profile_transform:
    transforms:
%s
exporters: {otlp_http: {endpoint: "%s", sending_queue: {enabled: false}}}
service: {pipelines: {profiles: {receivers: [sentry], processors: [profile_transform], exporters: [otlp_http]}}}
`, list, backend.url())}
}

// TestTransforms: several transforms in a row, with the collector's own ways of reading patterns and dollars.
func TestTransforms(t *testing.T) {
	backend := newSink(t)
	c := start(t, transforms(backend, `
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
	got := c.send(t, chunk{
		frames: `{"function":"view","filename":"/home/alice/acme-17/views.py","in_app":true},{"function":"run","module":"django.core"},` +
			`{"function":"main","module":"gunicorn.app"},{"function":"secretA"}`,
		stacks: `[0,1,2],[3]`,
		samples: `{"timestamp":1700000000.5,"thread_id":"1","stack_id":0},{"timestamp":1700000000.52,"thread_id":"1","stack_id":1},` +
			`{"timestamp":1700000000.5,"thread_id":"2","stack_id":0}`,
		threads: `"1":{"name":"MainThread"},"2":{"name":"worker"}`,
	}.request())
	require.Equal(t, http.StatusOK, got.status, got.body)

	profiles, err := decode(backend.takeOne(t))
	require.NoError(t, err)
	text := dictionary.Dump(profiles)
	require.NotContains(t, text, "alice")
	for _, want := range []string{"/home/user/customer-17/views.py", "(other)", `sample service.name="shop" service.version="1.0"`, "29900990", "      A "} {
		require.Contains(t, text, want)
	}
	for _, gone := range []string{"django", "gunicorn", "MainThread", "thread.id", "secret"} {
		require.NotContains(t, text, gone)
	}
	require.Equal(t, 2, onlyProfile(profiles).Samples().Len(), "threads are one series")
}

// TestPresetOTLPgRPC: a profile that a gRPC server with its default limit refuses comes through in parts.
func TestPresetOTLPgRPC(t *testing.T) {
	for list, arrive := range map[string]bool{"      - preset: otlp_grpc": true, "      - active_thread_only: {}": false} {
		backend := newSink(t)
		c := start(t, settings{config: fmt.Sprintf(`
receivers:
  sentry: {endpoint: "ENDPOINT"}
  otlp: {protocols: {grpc: {endpoint: "%[1]s"}}}
processors:
  profile_transform:
    transforms:
%[2]s
exporters:
  otlp_grpc: {endpoint: "%[1]s", tls: {insecure: true}, sending_queue: {enabled: false}}
  otlp_http: {endpoint: "%[3]s", sending_queue: {enabled: false}}
service:
  pipelines:
    profiles/send: {receivers: [sentry], processors: [profile_transform], exporters: [otlp_grpc]}
    profiles/receive: {receivers: [otlp], exporters: [otlp_http]}
`, freeAddress(t), list, backend.url())})
		id := newID()
		c.send(t, largeChunk(id).request())
		if n := takeParts(t, backend, id); arrive {
			require.Equal(t, largeSamples, n)
		} else {
			require.Zero(t, n, "the limit is not what it was; is the preset still needed?")
		}
	}
}

const (
	largeSamples = 20_000
	largeFrames  = 12_000
)

// largeChunk is a minute in which many functions with long names ran: 5 MB as OTLP.
func largeChunk(id string) chunk {
	return chunk{
		id:     id,
		frames: list(largeFrames, numbered(`{"function":"`+strings.Repeat("long_", 80), `"}`)),
		stacks: list(largeFrames, numbered("[", "]")),
		samples: list(largeSamples, func(b []byte, i int) []byte {
			return fmt.Appendf(b, `{"timestamp":%d.%03d,"thread_id":"1","stack_id":%d}`, 1_795_223_440+i/100, i%100*10, i%largeFrames)
		}),
	}
}

// takeParts adds up the observations of the parts of a profile that have come since the last take.
func takeParts(t *testing.T, backend *sink, id string) (n int) {
	t.Helper()
	for _, message := range backend.take() {
		profiles, err := decode(message)
		require.NoError(t, err)
		if profileText(profiles, "split.profile_id") == id {
			n += observations(t, [][]byte{message})
		}
	}
	return n
}

// profileText is an attribute of the only profile, "" without it.
func profileText(profiles pprofile.Profiles, key string) string {
	value, ok := dictionary.NewView(profiles.Dictionary()).Get(onlyProfile(profiles).AttributeIndices(), key)
	if !ok {
		return ""
	}
	return value.AsString()
}

// TestTransformsRefuseConfiguration: a mistake ends the start, with the place and the remedy.
func TestTransformsRefuseConfiguration(t *testing.T) {
	for text, want := range map[string]string{
		"      - drop_idle: {}\n      - aggregate: {}": "aggregate: after drop_idle, idle time would count as work; move aggregate before it",
		"      - threads: {drop: ['(']}":               "missing closing )",
	} {
		c := launch(t, findBinary(t), transforms(newSink(t), text))
		<-c.exited
		require.Error(t, c.exit)
		require.Contains(t, c.log.String(), want)
	}
}
