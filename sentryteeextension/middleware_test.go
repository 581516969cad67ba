// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/sentryreceiver"
)

// onlyProject admits one project and one key.
func onlyProject(cfg *sentryreceiver.Config) {
	cfg.Projects = []sentryreceiver.ProjectConfig{{ID: 4507, PublicKeys: []string{testKey}}}
	cfg.TunnelPath = "/tunnel"
}

// TestForwarded: each endpoint is forwarded to the right path, or not at all.
func TestForwarded(t *testing.T) {
	upstream := newRecorder(t, nil)
	h := start(t, upstream.URL+"/prefix/", options{receiver: prefixed})
	dsn := fmt.Sprintf(`{"dsn":"https://%s@attacker.example/4507"}`, testKey)
	otlpJSON := []string{"Content-Type", "application/json"}
	for _, c := range []struct {
		name, method, path, body string
		header                   []string
		status                   int
		want                     string // "" = not forwarded
	}{
		{"envelope", "POST", "/in" + envelopePath, errorEnvelope, nil, 200, "/prefix" + envelopePath},
		{"no slash at the end", "POST", "/in/api/4507/envelope?sentry_key=" + testKey + "&x=%2F%20", errorEnvelope, nil, 200, "/prefix/api/4507/envelope?sentry_key=" + testKey + "&x=%2F%20"},
		{"unknown item", "POST", "/in" + envelopePath, "{}\n{\"type\":\"new\"}\n\x00", nil, 200, "/prefix" + envelopePath},
		{"no item", "POST", "/in" + envelopePath, "{}", nil, 200, "/prefix" + envelopePath},
		{"invalid envelope", "POST", "/in" + envelopePath, "{", nil, 400, "/prefix" + envelopePath},
		{"store", "POST", "/in/api/4507/store/?sentry_key=" + testKey, `{"message":"a"}`, nil, 200, "/prefix/api/4507/store/?sentry_key=" + testKey},
		{"store by GET", "GET", "/in/api/4507/store/?sentry_data=%7B%7D&sentry_key=" + testKey, "", nil, 200, "/prefix/api/4507/store/?sentry_data=%7B%7D&sentry_key=" + testKey},
		{"security", "POST", "/in/api/4507/security/?sentry_key=" + testKey, `{"csp-report":{}}`, nil, 200, "/prefix/api/4507/security/?sentry_key=" + testKey},
		{"cron", "GET", "/in/api/4507/cron/job/" + testKey + "/?status=ok", "", nil, 202, "/prefix/api/4507/cron/job/" + testKey + "/?status=ok"},
		{"OTLP traces", "POST", "/in/api/4507/integration/otlp/v1/traces/?sentry_key=" + testKey, `{"resourceSpans":[]}`, otlpJSON, 200, "/prefix/api/4507/integration/otlp/v1/traces/?sentry_key=" + testKey},
		{"OTLP logs", "POST", "/in/api/4507/otlp/v1/logs?sentry_key=" + testKey, `{"resourceLogs":[]}`, otlpJSON, 200, "/prefix/api/4507/otlp/v1/logs?sentry_key=" + testKey},
		{"OTLP profiles", "POST", "/in/api/4507/integration/otlp/v1development/profiles?sentry_key=" + testKey, `{}`, otlpJSON, 200, "/prefix/api/4507/integration/otlp/v1development/profiles?sentry_key=" + testKey},
		{"invalid OTLP", "POST", "/in/api/4507/otlp/v1/logs?sentry_key=" + testKey, `{`, otlpJSON, 400, "/prefix/api/4507/otlp/v1/logs?sentry_key=" + testKey},
		{"OTLP of a stranger", "POST", "/in/api/4507/otlp/v1/logs?sentry_key=abc", `{}`, otlpJSON, 403, ""},
		{"dsn in the envelope", "POST", "/in/api/4507/envelope/", dsn, nil, 200, "/prefix/api/4507/envelope/"},
		{"tunnel", "POST", "/tunnel?site=1", dsn, []string{"Authorization", "Bearer site", "Cookie", "session=1"}, 200, "/prefix/api/4507/envelope/"},
		{"tunnel of a stranger", "POST", "/tunnel", `{"dsn":"https://abc@host/4507"}`, nil, 403, ""},
		{"tunnel, no envelope", "POST", "/tunnel", `x`, nil, 401, ""},
		{"unknown project", "POST", "/in/api/1/envelope/?sentry_key=" + testKey, errorEnvelope, nil, 403, ""},
		{"unknown key", "POST", "/in/api/4507/envelope/?sentry_key=abc", errorEnvelope, nil, 403, ""},
		{"no key", "POST", "/in/api/4507/envelope/", errorEnvelope, nil, 401, ""},
		{"two keys", "POST", "/in" + envelopePath, errorEnvelope, []string{"X-Sentry-Auth", "Sentry sentry_key=abc"}, 401, ""},
		{"no project", "POST", "/in/api/x/envelope/?sentry_key=" + testKey, errorEnvelope, nil, 400, ""},
		{"another prefix", "POST", "/other" + envelopePath, errorEnvelope, nil, 404, ""},
		{"method", "PUT", "/in" + envelopePath, errorEnvelope, nil, 405, ""},
		{"dot segments", "POST", "/in/api/4507/envelope/../../0/projects/", errorEnvelope, nil, 404, ""},
		{"escaped dot segments", "POST", "/in/api/4507/%2e%2e/0/projects/?sentry_key=" + testKey, errorEnvelope, nil, 404, ""},
		{"health", "GET", "/in/api/relay/healthcheck/live/", "", nil, 200, ""},
		{"another page", "POST", "/login", "a=b", nil, 404, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, text := h.do(c.method, c.path, c.body, c.header...)
			assert.Equal(t, c.status, resp.StatusCode, text)
			if c.want == "" {
				require.Eventually(t, func() bool { return h.tee.forwarder.observe().requests == 0 }, 30*time.Second, time.Millisecond)
				assert.Zero(t, upstream.count())
				return
			}
			got := upstream.take(t, 1)[0]
			assert.Equal(t, c.want, got.URI)
			assert.Equal(t, c.method, got.Method)
			assert.Equal(t, c.body, got.Body)
			assert.Empty(t, got.Header["Cookie"])
			assert.Empty(t, got.Header["Authorization"])
		})
	}
}

// TestHeaders compares the headers of forwarded requests on the wire.
func TestHeaders(t *testing.T) {
	upstream := newRecorder(t, nil)
	h := start(t, upstream.URL, options{})
	body := "5\r\n{}\n{\"\r\n3\r\n}\n\n\r\n0\r\nX-Sentry-Auth: Sentry sentry_key=trailer\r\n\r\n"
	answer := h.raw("POST " + envelopePath + " HTTP/1.1\r\nHost: collector.example\r\nTransfer-Encoding: chunked\r\n" +
		"Connection: close, X-Secret, keep-alive\r\nX-Secret: 1\r\nKeep-Alive: 5\r\nTE: trailers\r\nTrailer: X-Sentry-Auth\r\nProxy-Authorization: Basic x\r\n" +
		"Cookie: a=b\r\nX-Forwarded-For: 203.0.113.7\r\nX-Forwarded-For: 10.0.0.1\r\nVia: 1.0 proxy\r\nOrigin: https://shop.example\r\n" +
		"Referer: https://shop.example/a\r\nSec-CH-UA: \"x\"\r\nContent-Encoding: UTF-8\r\nx-Custom: é\r\nExpect: 100-continue\r\n\r\n" + body)
	assert.Contains(t, answer, " 400 ", "no envelope")
	got := upstream.take(t, 1)[0]
	assert.Equal(t, "{}\n{\"}\n\n", got.Body)
	via := got.Header.Get("Via")
	got.Header.Del("Via")
	assert.Equal(t, http.Header{
		"X-Forwarded-For": {"203.0.113.7, 10.0.0.1, 127.0.0.1"}, "Origin": {"https://shop.example"}, "Referer": {"https://shop.example/a"},
		"Sec-Ch-Ua": {`"x"`}, "X-Custom": {"é"}, "Content-Length": {"8"}, "Content-Encoding": {"UTF-8"},
	}, got.Header)
	assert.Equal(t, "1.0 proxy", strings.Split(via, ", ")[0])
}

// TestLoops: a request that has passed through this tee, or through too many tees, is not
// forwarded.
func TestLoops(t *testing.T) {
	var self string
	loop := newRecorder(t, func(w http.ResponseWriter, req *http.Request) {
		req.RequestURI, req.Body = "", io.NopCloser(strings.NewReader(errorEnvelope))
		req.URL.Scheme, req.URL.Host = "http", strings.TrimPrefix(self, "http://")
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err == nil {
			defer resp.Body.Close()
			w.WriteHeader(resp.StatusCode)
		}
	})
	h := start(t, loop.URL, options{})
	self = h.url
	h.do("POST", envelopePath, errorEnvelope)
	loop.take(t, 1)
	require.Eventually(t, func() bool { return h.tee.forwarder.observe().requests == 1 }, 30*time.Second, time.Millisecond, "508 is an error of the server: it is tried again")
	resp, _ := h.do("POST", envelopePath, errorEnvelope, "Via", strings.Repeat("1.1 "+product+"x, ", maxTees))
	assert.Equal(t, http.StatusLoopDetected, resp.StatusCode)
}

// TestAnswers: for each response of Sentry, the response to the SDK in both modes, and the outcome
// of the request.
func TestAnswers(t *testing.T) {
	const limits = "60:transaction:key, 60:error:organization:quota"
	header := func(status int, pairs ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(pairs); i += 2 {
				w.Header().Set(pairs[i], pairs[i+1])
			}
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, `{"id":"from-sentry-%d"}`, status)
		}
	}
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		status int    // response with answer: upstream
		header string // X-Sentry-Rate-Limits of that response
		own    bool   // it is the receiver's response
		count  string // outcome in the metrics; "" = will be retried
	}{
		{"200", header(200, "Access-Control-Allow-Origin", "https://evil.example", "Set-Cookie", "a=b"), 200, "", false, "envelope forwarded"},
		{"200 with limits", header(200, sentry.HeaderRateLimits, limits), 200, limits, false, "envelope forwarded"},
		{"429 with limits", header(429, sentry.HeaderRateLimits, limits, "Retry-After", "60"), 429, limits, false, "envelope rate_limited rate_limited"},
		{"429", header(429), 429, "", false, "envelope rate_limited rate_limited"},
		{"403", header(403), 403, "", false, "envelope refused refused_403"},
		{"413", header(413), 413, "", false, "envelope refused refused_413"},
		{"redirect", header(307, "Location", "https://elsewhere.example/"), 307, "", false, "envelope refused redirected"},
		{"500", header(500), 200, "", true, ""},
		{"503", header(503, "Retry-After", "5"), 200, "", true, ""},
		{"reset", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 200, "", true, ""},
		{"half a body", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
		}, 200, "", true, "envelope forwarded"},
		{"slow", func(w http.ResponseWriter, req *http.Request) { time.Sleep(200 * time.Millisecond) }, 200, "", true, "envelope forwarded"},
		{"endless", func(w http.ResponseWriter, req *http.Request) {
			for chunk := make([]byte, 32<<10); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}, 200, "", true, "envelope forwarded"},
	} {
		for _, mode := range []string{answerOwn, answerUpstream} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				upstream := newRecorder(t, c.answer)
				h := start(t, upstream.URL, options{tee: []func(*Config){func(cfg *Config) {
					cfg.Answer, cfg.AnswerTimeout = mode, 30*time.Second
					if c.name == "slow" || c.name == "endless" {
						cfg.AnswerTimeout = 100 * time.Millisecond
					}
				}}})
				resp, text := h.do("POST", envelopePath, errorEnvelope, "Origin", "https://shop.example")
				assert.Equal(t, []string{"*"}, resp.Header["Access-Control-Allow-Origin"])
				assert.Empty(t, resp.Header["Set-Cookie"])
				if mode == answerOwn || c.own {
					assert.Equal(t, 200, resp.StatusCode)
					assert.JSONEq(t, `{"id":"9ec79c33ec9942ab8353589fcb2e04dc"}`, text)
					assert.Empty(t, resp.Header.Get(sentry.HeaderRateLimits))
				} else {
					assert.Equal(t, c.status, resp.StatusCode)
					assert.Equal(t, fmt.Sprintf(`{"id":"from-sentry-%d"}`, c.status), text)
					assert.Equal(t, c.header, resp.Header.Get(sentry.HeaderRateLimits))
				}
				upstream.take(t, 1)
				require.Eventually(t, func() bool {
					if c.count == "" {
						return h.tee.forwarder.observe().requests == 1
					}
					return h.counts("requests")[c.count] == 1
				}, 30*time.Second, 5*time.Millisecond, "%v", h.counts("requests"))
			})
		}
	}
}

// TestResentOTLP: clients resend OTLP after 429, so Sentry and the pipelines receive it once.
func TestResentOTLP(t *testing.T) {
	upstream := newRecorder(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) })
	h := start(t, upstream.URL, options{receiver: onlyProject, tee: []func(*Config){func(cfg *Config) { cfg.Answer, cfg.AnswerTimeout = answerUpstream, 30*time.Second }}})
	const path = "/api/4507/integration/otlp/v1/logs/?sentry_key=" + testKey
	resp, text := h.do("POST", path, "{}", "Content-Type", "application/json")
	assert.Equal(t, http.StatusOK, resp.StatusCode, "accepted by the pipelines: %s", text)
	upstream.take(t, 1)

	busy, err := h.tee.wrap(t.Context(), http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }))
	require.NoError(t, err)
	for target, forwarded := range map[string]int{path: 0, envelopePath: 1} {
		w := httptest.NewRecorder()
		busy.ServeHTTP(w, httptest.NewRequest("POST", target, strings.NewReader("{}")))
		assert.Equal(t, http.StatusTooManyRequests, w.Code)
		upstream.take(t, forwarded)
		require.Eventually(t, func() bool { return h.tee.forwarder.observe().requests == 0 }, 30*time.Second, time.Millisecond)
		assert.Zero(t, upstream.count(), target)
	}
}

// TestPassOn: with on_limit: pass_on, the next response has Sentry's latest limits in addition to
// the receiver's own.
func TestPassOn(t *testing.T) {
	upstream := newRecorder(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(sentry.HeaderRateLimits, "60:transaction;span:key")
	})
	h := start(t, upstream.URL, options{tee: []func(*Config){func(cfg *Config) { cfg.OnLimit = onLimitPassOn }}})
	first, _ := h.do("POST", envelopePath, errorEnvelope)
	assert.Empty(t, first.Header.Get(sentry.HeaderRateLimits), "nothing is known yet")
	upstream.take(t, 1)
	require.Eventually(t, func() bool {
		resp, _ := h.do("POST", envelopePath, errorEnvelope)
		return resp.Header.Get(sentry.HeaderRateLimits) == "60:span:key, 60:transaction:key"
	}, 30*time.Second, time.Millisecond)
	assert.Equal(t, map[string]int64{"span": 1, "transaction": 1}, h.counts("active_limits"))
	other, _ := h.do("POST", "/api/4507/envelope/?sentry_key=other", errorEnvelope)
	assert.Empty(t, other.Header.Get(sentry.HeaderRateLimits), "of another key")
}

// TestBodiesThatEndEarly are not forwarded, and their memory is released.
func TestBodiesThatEndEarly(t *testing.T) {
	upstream := newRecorder(t, nil)
	h := start(t, upstream.URL, options{})
	conn := h.raw("POST " + envelopePath + " HTTP/1.0\r\nHost: a\r\nContent-Length: 10\r\n\r\n{}")
	assert.NotContains(t, conn, " 200 ")
	require.Eventually(t, func() bool { return h.tee.forwarder.room.Used() == 0 }, 30*time.Second, time.Millisecond)
	assert.Zero(t, upstream.count())
}

// TestMemoryIsBounded: while Sentry does not respond, waiting requests use at most
// max_bytes_in_flight, and a project with few requests gets a fair share. The receiver accepts all
// requests.
func TestMemoryIsBounded(t *testing.T) {
	hang := make(chan struct{})
	upstream := newRecorder(t, func(http.ResponseWriter, *http.Request) { <-hang })
	defer close(hang)
	h := start(t, upstream.URL, options{tee: []func(*Config){func(cfg *Config) { cfg.MaxBytesInFlight = minBytesInFlight }}})
	big := "{}\n{\"type\":\"attachment\",\"length\":4000000}\n" + strings.Repeat("x", 4_000_000)
	for range 30 {
		resp, _ := h.do("POST", envelopePath, big)
		require.Equal(t, 200, resp.StatusCode)
		require.LessOrEqual(t, h.tee.forwarder.room.Used(), int64(minBytesInFlight))
	}
	assert.Positive(t, h.counts("requests")["envelope dropped no_room"])
	resp, _ := h.do("POST", "/api/1/envelope/?sentry_key="+testKey, errorEnvelope)
	require.Equal(t, 200, resp.StatusCode)
	require.Eventually(t, func() bool {
		h.tee.forwarder.mu.Lock()
		defer h.tee.forwarder.mu.Unlock()
		return h.tee.forwarder.schedule.UnderWay() > 0
	}, 30*time.Second, time.Millisecond)
	dropped := h.counts("requests")["envelope dropped no_room"]
	forwarded := h.tee.forwarder.observe().requests
	assert.EqualValues(t, 31, forwarded+dropped, "the other project's request is kept")
	assert.Less(t, dropped, int64(30))
}

// TestUnknownSendersTakeNoShare: the path of a request without a key states a project, but its body
// does not count in the share of the project while the receiver looks for the key.
func TestUnknownSendersTakeNoShare(t *testing.T) {
	h := start(t, "http://localhost:1", options{})
	h.tee.forwarder.room = httpbody.NewBudget(10<<20, func(context.Context, int64) {})
	read := func(path string, size int) *held {
		req := httptest.NewRequest(http.MethodPost, path, strings.NewReader(strings.Repeat("x", size)))
		r := routeOf(req)
		held := h.tee.hold(httptest.NewRecorder(), req, &r)
		t.Cleanup(held.release)
		_, _ = io.Copy(io.Discard, req.Body)
		return held
	}
	require.NoError(t, read("/api/4507/envelope/", 6<<20).body.finish())
	assert.NoError(t, read(envelopePath, 3<<20).body.finish())
}

func TestTargets(t *testing.T) {
	for target, want := range map[string]string{
		"/api/1/envelope/?a=%2F&b": "https://sentry.example/x/api/1/envelope/?a=%2F&b",
		"/api/1/cron/a%2Fb%20c/":   "https://sentry.example/x/api/1/cron/a%2Fb%20c/",
		"/api/1/envelope/?":        "https://sentry.example/x/api/1/envelope/?",
		"//evil.example/api/":      "https://sentry.example/x//evil.example/api/",
		"http://evil.example/":     "",
		"@evil.example/":           "",
	} {
		up, err := url.Parse("https://sentry.example/x/")
		require.NoError(t, err)
		u, err := targetURL(up, target)
		if want == "" {
			assert.Error(t, err, target)
			continue
		}
		require.NoError(t, err, target)
		assert.Equal(t, want, u.String())
	}
}
