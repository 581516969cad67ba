// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
)

// askers are pages, files and extensions of browsers, and what is none.
var askers = []string{"https://shop.example", "null", "chrome-extension://abcdef", ""}

// Every answer tells browsers that the page may read it, whatever the endpoint and the status: SDKs
// would not learn of limits.
func TestBrowsersMaySend(t *testing.T) {
	h := start(t, func(c *Config) {
		twoProjects(c)
		c.HTTP.MaxRequestBodySize = 5000
	})
	for _, origin := range askers {
		for _, got := range h.answersOfAllKinds(origin) {
			assert.Equal(t, got.want, got.status, got.name)
			assert.Equal(t, []string{"*"}, got.header.Values("Access-Control-Allow-Origin"), got.name)
			assert.Equal(t, []string{"x-sentry-error, x-sentry-rate-limits, retry-after"}, got.header.Values("Access-Control-Expose-Headers"), got.name)
			assert.Equal(t, []string{"cross-origin"}, got.header.Values("Cross-Origin-Resource-Policy"), got.name)
			assert.Empty(t, got.header.Values("Retry-After"), "SDKs would pause every category")
		}
	}
}

// kindOfAnswer is an answer with a status of its own, or of an endpoint of its own.
type kindOfAnswer struct {
	name string
	want int
	reply
}

// answersOfAllKinds asks for them on behalf of a page.
func (h *harness) answersOfAllKinds(origin string) (all []kindOfAnswer) {
	const key = "?sentry_key=" + testKey
	chunk, large := envelope(chunkItem), strings.Repeat("a", 6000)
	busy := func(pprofile.Profiles) error { return errors.New("busy") }
	for _, ask := range []struct {
		method, path, body string
		encoding           string
		respond            func(pprofile.Profiles) error
		stopping           bool
		want               int
	}{
		{"POST", "/api/42/envelope/" + key, chunk, "", nil, false, 200},
		{"POST", "/api/42/store/" + key, errorEvent, "", nil, false, 200},
		{"GET", "/api/42/store/" + key + "&sentry_data={}", "", "", nil, false, 200},
		{"POST", "/api/42/security/" + key, "{}", "", nil, false, 200},
		{"POST", "/tunnel", `{"dsn":"http://` + testKey + `@x/42"}`, "", nil, false, 200},
		{"GET", "/api/relay/healthcheck/ready/", "", "", nil, false, 200},
		{"POST", "/api/42/cron/nightly/" + key + "&status=ok", "", "", nil, false, 202},
		{"POST", "/api/42/envelope/" + key, "", "", nil, false, 400},
		{"POST", "/api/42/store/" + key, "", "", nil, false, 400},
		{"GET", "/api/42/store/" + key, "", "", nil, false, 400},
		{"POST", "/api/42/envelope/" + key, "this is not gzip", "gzip", nil, false, 400},
		{"POST", "/api/42/envelope/", chunk, "", nil, false, 401},
		{"POST", "/tunnel", chunk, "", nil, false, 401},
		{"POST", "/api/7/envelope/" + key, chunk, "", nil, false, 403},
		{"POST", "/tunnel", `{"dsn":"http://` + testKey + `@x/7"}`, "", nil, false, 403},
		{"GET", "/favicon.ico", "", "", nil, false, 404},
		{"GET", "/api/42/envelope/", "", "", nil, false, 405},
		{"GET", "/tunnel", "", "", nil, false, 405},
		{"POST", "/api/42/envelope/" + key, large, "", nil, false, 413},
		{"POST", "/tunnel", large, "", nil, false, 413},
		{"POST", "/api/42/envelope/" + key, chunk, "compress", nil, false, 415},
		{"POST", "/api/42/envelope/" + key, chunk, "", busy, false, 429},
		{"POST", "/api/42/envelope/" + key, chunk, "", nil, true, 503},
		{"POST", "/tunnel", chunk, "", nil, true, 503},
	} {
		req := h.request(ask.method, ask.path, strings.NewReader(ask.body))
		if origin != "" {
			req.Header.Set("Origin", origin)
		}
		req.Header.Set("Content-Encoding", ask.encoding)
		h.sink.respond = ask.respond
		h.receiver.Shared.server.Stopping.Store(ask.stopping)
		h.clock.Skip(pipeline.BreakerPause)
		name := fmt.Sprintf("%s %s from %q", ask.method, ask.path, origin)
		all = append(all, kindOfAnswer{name, ask.want, h.do(req)})
	}
	h.receiver.Shared.server.Stopping.Store(false) // or Shutdown would have nothing to do
	return all
}

// preflight is what a browser asks before it sends with headers of its own.
func preflight(h *harness, path, origin string) reply {
	req := h.request("OPTIONS", path+"?sentry_key="+testKey, nil)
	req.Header.Set("Origin", origin)
	req.Header.Set("Access-Control-Request-Method", "POST")
	req.Header.Set("Access-Control-Request-Headers", "content-type,x-sentry-auth")
	return h.do(req)
}

func TestPreflight(t *testing.T) {
	h := start(t, twoProjects)
	for i, path := range []string{"/api/42/envelope/", "/api/42/store/", "/api/42/security/", "/api/42/nel/", "/api/42/cron/nightly/", "/tunnel"} {
		got := preflight(h, path, askers[i%3])
		assert.Equal(t, 204, got.status)
		assert.Equal(t, "*", got.header.Get("Access-Control-Allow-Origin"))
		assert.Equal(t, "POST", got.header.Get("Access-Control-Allow-Methods"))
		assert.Equal(t, "3600", got.header.Get("Access-Control-Max-Age"))
		for _, name := range []string{"x-sentry-auth", "content-type", "content-encoding", "authorization"} {
			assert.Contains(t, got.header.Get("Access-Control-Allow-Headers"), name)
		}
	}
	assert.Empty(t, h.rejected())
}

func TestResponseHeadersOfTheUserAddToOurs(t *testing.T) {
	h := start(t, func(c *Config) {
		c.HTTP.ResponseHeaders = configopaque.MapList{{Name: "X-Served-By", Value: "us"}, {Name: "Cross-Origin-Resource-Policy", Value: "same-site"}}
	})
	for name, got := range map[string]reply{"taken": h.post(envelope(chunkItem)), "refused": h.post(""), "preflight": preflight(h, "/api/42/envelope/", "null")} {
		assert.Equal(t, "*", got.header.Get("Access-Control-Allow-Origin"), name)
		assert.Equal(t, "us", got.header.Get("X-Served-By"), name)
		assert.Equal(t, "same-site", got.header.Get("Cross-Origin-Resource-Policy"), name)
	}
}

func TestCORSOfTheUserReplacesOurs(t *testing.T) {
	h := start(t, func(c *Config) {
		twoProjects(c)
		c.HTTP.MaxRequestBodySize = 5000
		c.HTTP.CORS = configoptional.Some(confighttp.CORSConfig{AllowedOrigins: []string{"https://*.example"}})
	})
	for _, got := range h.answersOfAllKinds("https://shop.example") {
		assert.Equal(t, got.want, got.status, got.name)
		assert.Equal(t, "https://shop.example", got.header.Get("Access-Control-Allow-Origin"), got.name)
		assert.Equal(t, "X-Sentry-Error, X-Sentry-Rate-Limits, Retry-After", got.header.Get("Access-Control-Expose-Headers"), got.name)
	}
	for _, got := range h.answersOfAllKinds("https://evil.test") {
		assert.Equal(t, got.want, got.status, got.name)
		assert.Empty(t, got.header.Get("Access-Control-Allow-Origin"), got.name)
	}
	for _, path := range []string{"/api/42/envelope/", "/tunnel"} {
		got := preflight(h, path, "https://shop.example")
		assert.Equal(t, 204, got.status)
		assert.Equal(t, "https://shop.example", got.header.Get("Access-Control-Allow-Origin"))
		assert.Equal(t, "content-type,x-sentry-auth", got.header.Get("Access-Control-Allow-Headers"))
		assert.Empty(t, preflight(h, path, "https://evil.test").header.Get("Access-Control-Allow-Origin"))
	}
}
