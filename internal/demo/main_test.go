// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

func TestRun(t *testing.T) {
	cases := filepath.Join(golden.Root(t), "testdata", "cases")
	requests := 0
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		body, _ := io.ReadAll(r.Body)
		envelope, err := sentry.ReadEnvelope(body)
		assert.NoError(t, err)
		// As strict as Sentry: the DSN in the envelope must be that of the request.
		auth, err := sentry.Authenticate(sentry.Credentials{
			SentryAuth: r.Header.Get("X-Sentry-Auth"), ProjectID: "42", EnvelopeDSN: envelope.Header.DSN,
		})
		assert.NoError(t, err)
		assert.Equal(t, "abc", auth.PublicKey)
		assert.Equal(t, "/api/42/envelope/", r.URL.Path)
		if requests == 1 {
			w.Header().Set("X-Sentry-Rate-Limits", "10:profile:key")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer collector.Close()

	var out bytes.Buffer
	require.NoError(t, run(target{collector.URL, "abc", "42"}, cases, "runs", 2, &out))
	assert.Contains(t, out.String(), "429")
	assert.Contains(t, out.String(), "rate limit: 10:profile:key")
	assert.Contains(t, out.String(), "sentry.python.flask 2.68.0")
	assert.Contains(t, out.String(), "rejected 1 requests")
	recordings, err := load(cases)
	require.NoError(t, err)
	runs, err := loadRuns("runs")
	require.NoError(t, err)
	require.NotEmpty(t, runs)
	assert.Equal(t, 2*(len(recordings)+len(runs)), requests)
}

func TestCannotConnect(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	err := run(target{gone.URL, "abc", "1"}, filepath.Join(golden.Root(t), "testdata", "cases"), "", 1, io.Discard)
	require.ErrorContains(t, err, "start the collector with `make run`")
}

func TestNoRecordings(t *testing.T) {
	require.ErrorContains(t, run(target{}, t.TempDir(), "", 1, io.Discard), "from the root of the repository")
}

// TestNothingTwice: a request that is in a case and in a run would be one profile with two
// contents.
func TestNothingTwice(t *testing.T) {
	cases, err := load(filepath.Join(golden.Root(t), "testdata", "cases"))
	require.NoError(t, err)
	runs, err := loadRuns("runs")
	require.NoError(t, err)
	seen := map[string]string{}
	own := regexp.MustCompile(`"(?:chunk_id|event_id)"\s*:\s*"([0-9a-f]{32})"`)
	for _, r := range append(cases, runs...) {
		for _, profile := range profilesIn(t, r) {
			for _, match := range own.FindAllSubmatch(profile, 1) {
				assert.Empty(t, seen[string(match[1])], "%s of %s", match[1], r.name)
				seen[string(match[1])] = r.name
			}
		}
	}
	assert.Greater(t, len(seen), 30)
}

func profilesIn(t *testing.T, r recording) (payloads [][]byte) {
	envelope, err := sentry.ReadEnvelope(r.body)
	require.NoError(t, err)
	for _, item := range envelope.Items {
		if item.Header.Type == sentry.ItemProfile || item.Header.Type == sentry.ItemProfileChunk {
			payloads = append(payloads, item.Payload)
		}
	}
	return payloads
}
