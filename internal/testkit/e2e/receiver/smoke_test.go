// SPDX-License-Identifier: Apache-2.0

package receiver

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestSmoke: the first requests to a new collector, as a user would send them with curl.
func TestSmoke(t *testing.T) {
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{Sink: backend})

	t.Run("V2 chunk", func(t *testing.T) {
		id := harness.NewID()
		got := c.Send(t, harness.Chunk{ID: id}.Request())
		require.Equal(t, http.StatusOK, got.Status, got.Body)
		require.Equal(t, id, deliveredID(t, backend))
	})
	t.Run("V1 profile", func(t *testing.T) {
		id := harness.NewID()
		got := c.Send(t, harness.ItemRequest("profile", harness.ProfileV1(id)))
		require.Equal(t, http.StatusOK, got.Status, got.Body)
		require.Equal(t, id, deliveredID(t, backend))
	})
	t.Run("path without a slash at the end, key in the query", func(t *testing.T) {
		r := harness.Chunk{}.Request()
		r.Target, r.Headers = "/api/42/envelope?sentry_key="+harness.TestKey+"&sentry_version=7", nil
		got := c.Send(t, r)
		require.Equal(t, http.StatusOK, got.Status, got.Body)
		require.Equal(t, 1, harness.CountObservations(t, backend.DrainProfiles()))
	})
	t.Run("many requests on one connection", func(t *testing.T) {
		client := http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}, Timeout: harness.RequestTimeout}
		defer client.CloseIdleConnections()
		for range 20 {
			url := "http://" + c.Address + "/api/42/envelope/?sentry_key=" + harness.TestKey
			response, err := client.Post(url, "text/plain;charset=UTF-8", bytes.NewReader(harness.Chunk{}.Request().Body))
			require.NoError(t, err)
			_, _ = io.Copy(io.Discard, response.Body)
			response.Body.Close()
			require.Equal(t, http.StatusOK, response.StatusCode)
		}
		require.Equal(t, 20, harness.CountObservations(t, backend.DrainProfiles()))
	})

	// Requests that are rejected, and requests to other endpoints. They have no output.
	for _, step := range []struct {
		name   string
		send   harness.Request
		status int
		body   string
	}{
		{"live", get("/api/relay/healthcheck/live/"), http.StatusOK, `{"is_healthy":true}`},
		{"ready", get("/api/relay/healthcheck/ready/"), http.StatusOK, `{"is_healthy":true}`},
		{"an event", harness.ItemRequest("event", `{"message":"hello"}`), http.StatusOK, `"id":"`},
		{"an unknown item", harness.ItemRequest("hologram", `{}`), http.StatusOK, `{`},
		{"wrong path", get("/"), http.StatusNotFound, `"detail":`},
		{"wrong method", get("/api/42/envelope/"), http.StatusMethodNotAllowed, `"detail":`},
		{"wrong project", harness.Request{Target: "/api/shop/envelope/", Headers: harness.EnvelopeRequest(nil).Headers, Body: harness.Chunk{}.Request().Body}, http.StatusBadRequest, `"detail":`},
		{"no key", harness.Request{Target: "/api/42/envelope/", Body: harness.Chunk{}.Request().Body}, http.StatusUnauthorized, `"detail":`},
		{"empty body", harness.EnvelopeRequest(nil), http.StatusBadRequest, `"detail":`},
		{"garbage", harness.EnvelopeRequest([]byte("garbage from " + payloadText)), http.StatusBadRequest, `"detail":`},
		{"garbage as gzip", harness.EnvelopeRequest([]byte("garbage from " + payloadText)).WithEncoding("gzip"), http.StatusBadRequest, `"detail":`},
		{"a profile that is none", harness.ItemRequest("profile_chunk", `{"version":"2","`+payloadText+`":{}}`), http.StatusOK, `{`},
		{"an encoding that nobody knows", harness.EnvelopeRequest([]byte(payloadText)).WithEncoding("rot13"), http.StatusUnsupportedMediaType, `"detail":`},
	} {
		t.Run(step.name, func(t *testing.T) {
			got := c.Send(t, step.send)
			assert.Equal(t, step.status, got.Status)
			assert.Contains(t, got.Body, step.body)
			assert.NotContains(t, got.Body, payloadText)
			assert.Equal(t, "*", got.Header.Get("Access-Control-Allow-Origin"), "a browser may read the answer")
			assert.Empty(t, got.Header.Get("Retry-After"))
			assert.Empty(t, backend.DrainProfiles())
		})
	}
	t.Run("preflight of a browser", func(t *testing.T) {
		got := c.Send(t, harness.Request{Method: http.MethodOptions, Target: "/api/42/envelope/", Headers: [][2]string{
			{"Origin", "null"}, {"Access-Control-Request-Method", "POST"}, {"Access-Control-Request-Headers", "x-sentry-auth"},
		}})
		assert.Less(t, got.Status, 300)
		assert.Equal(t, "*", got.Header.Get("Access-Control-Allow-Origin"))
		assert.Contains(t, got.Header.Get("Access-Control-Allow-Methods"), "POST")
		assert.Contains(t, got.Header.Get("Access-Control-Allow-Headers"), "x-sentry-auth")
	})
	harness.CheckLog(t, c, harness.TestKey, payloadText)
}

// payloadText must not appear in any output.
const payloadText = "jane.doe@example.com"

func get(target string) harness.Request {
	return harness.Request{Method: http.MethodGet, Target: target}
}

// deliveredID returns the ID of the only delivered profile.
func deliveredID(t testing.TB, backend *harness.Sink) string {
	profiles, err := harness.DecodeProfiles(backend.OneProfile(t))
	require.NoError(t, err)
	return harness.ProfileID(profiles)
}
