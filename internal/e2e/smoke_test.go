// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSmoke: the first minutes of a collector's life, each step as somebody would try it with curl.
func TestSmoke(t *testing.T) {
	backend := newSink(t)
	c := start(t, settings{sink: backend})

	t.Run("V2 chunk", func(t *testing.T) {
		id := newID()
		got := c.send(t, chunk{id: id}.request())
		require.Equal(t, http.StatusOK, got.status, got.body)
		require.Equal(t, id, deliveredID(t, backend))
	})
	t.Run("V1 profile", func(t *testing.T) {
		id := newID()
		got := c.send(t, envelopeOf("profile", profileV1(id)))
		require.Equal(t, http.StatusOK, got.status, got.body)
		require.Equal(t, id, deliveredID(t, backend))
	})
	t.Run("path without a slash at the end, key in the query", func(t *testing.T) {
		r := chunk{}.request()
		r.target, r.headers = "/api/42/envelope?sentry_key="+testKey+"&sentry_version=7", nil
		got := c.send(t, r)
		require.Equal(t, http.StatusOK, got.status, got.body)
		require.Equal(t, 1, observations(t, backend.take()))
	})
	t.Run("many requests on one connection", func(t *testing.T) {
		client := http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}, Timeout: requestTimeout}
		defer client.CloseIdleConnections()
		for range 20 {
			url := "http://" + c.address + "/api/42/envelope/?sentry_key=" + testKey
			response, err := client.Post(url, "text/plain;charset=UTF-8", bytes.NewReader(chunk{}.request().body))
			require.NoError(t, err)
			_, _ = io.Copy(io.Discard, response.Body)
			response.Body.Close()
			require.Equal(t, http.StatusOK, response.StatusCode)
		}
		require.Equal(t, 20, observations(t, backend.take()))
	})

	// What is refused, or not for the envelope endpoint. Nothing of it comes out.
	for _, step := range []struct {
		name   string
		send   request
		status int
		body   string
	}{
		{"live", get("/api/relay/healthcheck/live/"), http.StatusOK, `{"is_healthy":true}`},
		{"ready", get("/api/relay/healthcheck/ready/"), http.StatusOK, `{"is_healthy":true}`},
		{"an event", envelopeOf("event", `{"message":"hello"}`), http.StatusOK, `"id":"`},
		{"an unknown item", envelopeOf("hologram", `{}`), http.StatusOK, `{`},
		{"wrong path", get("/"), http.StatusNotFound, `"detail":`},
		{"wrong method", get("/api/42/envelope/"), http.StatusMethodNotAllowed, `"detail":`},
		{"wrong project", request{target: "/api/shop/envelope/", headers: envelope(nil).headers, body: chunk{}.request().body}, http.StatusBadRequest, `"detail":`},
		{"no key", request{target: "/api/42/envelope/", body: chunk{}.request().body}, http.StatusUnauthorized, `"detail":`},
		{"empty body", envelope(nil), http.StatusBadRequest, `"detail":`},
		{"garbage", envelope([]byte("garbage from " + payloadText)), http.StatusBadRequest, `"detail":`},
		{"garbage as gzip", envelope([]byte("garbage from " + payloadText)).encoded("gzip"), http.StatusBadRequest, `"detail":`},
		{"a profile that is none", envelopeOf("profile_chunk", `{"version":"2","`+payloadText+`":{}}`), http.StatusOK, `{`},
		{"an encoding that nobody knows", envelope([]byte(payloadText)).encoded("rot13"), http.StatusUnsupportedMediaType, `"detail":`},
	} {
		t.Run(step.name, func(t *testing.T) {
			got := c.send(t, step.send)
			assert.Equal(t, step.status, got.status)
			assert.Contains(t, got.body, step.body)
			assert.NotContains(t, got.body, payloadText)
			assert.Equal(t, "*", got.header.Get("Access-Control-Allow-Origin"), "a browser may read the answer")
			assert.Empty(t, got.header.Get("Retry-After"))
			assert.Empty(t, backend.take())
		})
	}
	t.Run("preflight of a browser", func(t *testing.T) {
		got := c.send(t, request{method: http.MethodOptions, target: "/api/42/envelope/", headers: [][2]string{
			{"Origin", "null"}, {"Access-Control-Request-Method", "POST"}, {"Access-Control-Request-Headers", "x-sentry-auth"},
		}})
		assert.Less(t, got.status, 300)
		assert.Equal(t, "*", got.header.Get("Access-Control-Allow-Origin"))
		assert.Contains(t, got.header.Get("Access-Control-Allow-Methods"), "POST")
		assert.Contains(t, got.header.Get("Access-Control-Allow-Headers"), "x-sentry-auth")
	})
	checkLog(t, c, testKey, payloadText)
}

// payloadText must not be repeated anywhere.
const payloadText = "jane.doe@example.com"

func get(target string) request { return request{method: http.MethodGet, target: target} }

// deliveredID is the id of the one profile that was delivered.
func deliveredID(t testing.TB, backend *sink) string {
	profiles, err := decode(backend.takeOne(t))
	require.NoError(t, err)
	return profileID(profiles)
}
