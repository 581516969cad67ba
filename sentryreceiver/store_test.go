// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/gif"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

const (
	storePath = "/api/42/store/?sentry_key=" + testKey
	storedID  = "7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5e7" // of errorEvent
)

func (h *harness) postTo(path, contentType string, body []byte) reply {
	h.t.Helper()
	req := h.request(http.MethodPost, path, bytes.NewReader(body))
	req.Header.Set("Content-Type", contentType)
	return h.do(req)
}

// ravenText is what raven SDKs make of JSON.
func ravenText(t testing.TB, payload string) []byte {
	return base64.StdEncoding.AppendEncode(nil, encode(t, "zlib", []byte(payload)))
}

func TestStore(t *testing.T) {
	based := base64.StdEncoding.EncodeToString([]byte(errorEvent))
	for name, test := range map[string]struct {
		path, contentType string
		body              []byte
		item              sentry.ItemType
		answer            string // "" = any id
	}{
		"JSON":              {storePath, "application/json", []byte(errorEvent), "event", `{"id":"` + storedID + `"}`},
		"without the slash": {"/api/42/store?sentry_key=public", "", []byte(errorEvent), "event", `{"id":"` + storedID + `"}`},
		"blanks around it":  {storePath, "", []byte("\n " + errorEvent + "\r\n"), "event", `{"id":"` + storedID + `"}`},
		"base64":            {storePath, "", []byte(based), "event", `{"id":"` + storedID + `"}`},
		"base64, unpadded":  {storePath, "", []byte(strings.TrimRight(based, "=")), "event", `{"id":"` + storedID + `"}`},
		"base64 in lines":   {storePath, "", []byte(based[:76] + "\n" + based[76:] + "\n"), "event", `{"id":"` + storedID + `"}`},
		"base64 of zlib":    {storePath, "application/octet-stream", ravenText(t, errorEvent), "event", `{"id":"` + storedID + `"}`},
		"transaction":       {storePath, "", []byte(fullTransaction), "transaction", `{"id":"7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5e6"}`},
		"id with dashes":    {storePath, "", []byte(`{"event_id":"7D1F0C9F-2F1C-4F0E-A9B3-F1A2B3C4D5E7"}`), "event", `{"id":"` + storedID + `"}`},
		"no id":             {storePath, "", []byte(`{"message":"hello","type":null}`), "event", ""},
		"id of no kind":     {storePath, "", []byte(`{"message":"hello","event_id":7,"type":7}`), "event", ""},
		"envelope": {storePath, "Application/X-Sentry-Envelope; charset=utf-8",
			[]byte(envelope(item("attachment", "", "x"))), "attachment", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := startSignals(t, nil)
			got := s.postTo(test.path, test.contentType, test.body)
			require.Equal(t, http.StatusOK, got.status, got.text)
			if test.answer == "" {
				require.NotNil(t, got.ID)
				assert.Regexp(t, "^[0-9a-f]{32}$", *got.ID)
			} else {
				assert.Equal(t, test.answer, got.text)
			}
			assert.Equal(t, map[string]int64{"outcome=accepted type=" + string(test.item): 1}, s.items())
			if test.item == sentry.ItemTransaction {
				assert.Equal(t, 2, s.traces.SpanCount())
			} else {
				assert.Equal(t, 1, s.logs.LogRecordCount())
			}
		})
	}
}

func TestStoreRefuses(t *testing.T) {
	const limit = 10_000
	large := `{"message":"` + strings.Repeat("a", limit) + `"}`
	for name, test := range map[string]struct {
		path, contentType string
		body              []byte
		status            int
		reason            string
	}{
		"nothing":                 {storePath, "", nil, 400, "body_invalid"},
		"only blanks":             {storePath, "", []byte(" \n"), 400, "body_invalid"},
		"cut":                     {storePath, "", []byte(errorEvent[:50]), 400, "body_invalid"},
		"more than one":           {storePath, "", []byte(errorEvent + errorEvent), 400, "body_invalid"},
		"base64 of something":     {storePath, "", []byte(base64.StdEncoding.EncodeToString([]byte("hello"))), 400, "body_undecodable"},
		"zlib of something":       {storePath, "", ravenText(t, "hello"), 400, "body_invalid"},
		"no base64":               {storePath, "", []byte("<xml/>"), 400, "body_undecodable"},
		"too large when unzipped": {storePath, "", ravenText(t, large), 413, "body_too_large"},
		"no envelope":             {storePath, sentry.ContentTypeEnvelope, []byte("hello"), 400, "envelope_invalid_header"},
		"no key":                  {"/api/42/store/", "", []byte(errorEvent), 401, "auth_missing"},
		"no project":              {"/api/shop/store/?sentry_key=public", "", []byte(fullTransaction), 400, "auth_bad_project"},
	} {
		t.Run(name, func(t *testing.T) {
			s := startSignals(t, func(c *Config) { c.HTTP.MaxRequestBodySize = limit })
			got := s.postTo(test.path, test.contentType, test.body)
			assert.Equal(t, test.status, got.status, got.text)
			assert.NotEmpty(t, got.Detail)
			assert.Equal(t, map[string]int64{"reason=" + test.reason: 1}, s.rejected())
			assert.Empty(t, s.items())
			assert.Zero(t, s.logs.LogRecordCount()+s.traces.SpanCount())
		})
	}
}

// TestStoreEncodings: a body may be wrapped, compressed by a header's word, or both.
func TestStoreEncodings(t *testing.T) {
	s := startSignals(t, nil)
	bodies := map[string][]byte{
		"JSON": []byte(errorEvent), "base64": []byte(base64.StdEncoding.EncodeToString([]byte(errorEvent))), "base64 of zlib": ravenText(t, errorEvent),
	}
	sent := 0
	for wrapping, body := range bodies {
		for encoding, encoder := range map[string]string{"gzip": "gzip", "deflate": "zlib", "br": "br", "zstd": "zstd"} {
			req := s.request(http.MethodPost, storePath, bytes.NewReader(encode(t, encoder, body)))
			req.Header.Set("Content-Encoding", encoding)
			got := s.do(req)
			assert.Equal(t, http.StatusOK, got.status, "%s in %s: %s", wrapping, encoding, got.text)
			sent++
		}
	}
	assert.Equal(t, map[string]int64{"outcome=accepted type=event": int64(sent)}, s.items())
}

// TestStoreQuery: raven-js sends JSON, others base64 of it or of zlib of it; some do not escape
// what a query must not have.
func TestStoreQuery(t *testing.T) {
	const text = "a b ~~~???>>>"
	const event = `{"message":"` + text + `"}`
	based := base64.StdEncoding.EncodeToString([]byte(event))
	require.Contains(t, based, "+")
	for name, data := range map[string]string{
		"JSON":                        url.PathEscape(event),
		"JSON, blanks as +":           url.QueryEscape(event),
		"base64":                      url.QueryEscape(based),
		"base64, not escaped":         based,
		"base64 of zlib":              url.QueryEscape(string(ravenText(t, event))),
		"base64 of zlib, not escaped": string(ravenText(t, event)),
	} {
		t.Run(name, func(t *testing.T) {
			s := startSignals(t, nil)
			req := s.request(http.MethodGet, "/api/42/store/?sentry_version=4&sentry_client=raven-js/1.1&sentry_key="+testKey+"&sentry_data="+data, nil)
			got := s.do(req)
			require.Equal(t, http.StatusOK, got.status, got.text)
			assert.Equal(t, map[string]int64{"outcome=accepted type=event": 1}, s.items())
			require.Equal(t, 1, s.logs.LogRecordCount())
			assert.Equal(t, text, s.logs.AllLogs()[0].ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body().Str())
			assert.Equal(t, "image/gif", got.header.Get("Content-Type"))
			image, err := gif.Decode(strings.NewReader(got.text))
			require.NoError(t, err)
			assert.Equal(t, 1, image.Bounds().Dx()*image.Bounds().Dy())
		})
	}
	for name, data := range map[string]string{"nothing": "", "no base64": "hello!", "cut": url.QueryEscape(errorEvent[:20])} {
		s := startSignals(t, nil)
		got := s.do(s.request(http.MethodGet, "/api/42/store/?sentry_key="+testKey+"&sentry_data="+data, nil))
		assert.Equal(t, http.StatusBadRequest, got.status, name)
		assert.NotEmpty(t, got.Detail, name)
		assert.Zero(t, s.logs.LogRecordCount(), name)
	}
}

// TestStoreTogether: what comes out of one request has nothing of the buffers of the next.
func TestStoreTogether(t *testing.T) {
	s := startSignals(t, nil)
	for i := range 20 {
		text := fmt.Sprintf(`{"message":"this is number %d"}`, i)
		for _, body := range [][]byte{[]byte(text), ravenText(t, text), []byte(base64.StdEncoding.EncodeToString([]byte(text)))} {
			require.Equal(t, http.StatusOK, s.postTo(storePath, "", body).status)
		}
	}
	seen := map[string]int{}
	for _, logs := range s.logs.AllLogs() {
		seen[logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body().Str()]++
	}
	assert.Len(t, seen, 20)
	for text, n := range seen {
		assert.Equal(t, 3, n, text)
	}
}

// TestCorpusOnOtherEndpoints sends what real SDKs and browsers sent elsewhere than to /envelope/,
// byte for byte.
func TestCorpusOnOtherEndpoints(t *testing.T) {
	s := startSignals(t, nil)
	stored, reported := 0, 0
	for _, request := range golden.Corpus(t) {
		switch {
		case strings.HasSuffix(request.Path, "/store/"):
			stored++
		case strings.HasSuffix(request.Path, "/security/"):
			reported++
		default:
			continue
		}
		req := s.request(request.Method, request.Path+"?"+request.Query, bytes.NewReader(request.Body))
		for _, header := range request.Headers {
			if header[0] != "Host" {
				req.Header.Add(header[0], header[1])
			}
		}
		got := s.do(req)
		require.Equal(t, http.StatusOK, got.status, "%s: %s", request.Name, got.text)
		require.NotNil(t, got.ID, request.Name)
	}
	require.Positive(t, stored)
	require.Positive(t, reported)
	assert.Equal(t, map[string]int64{
		"outcome=accepted type=event": int64(stored), "outcome=accepted type=raw_security": int64(reported),
	}, s.items())
	assert.Equal(t, stored+reported, s.logs.LogRecordCount())
	assert.Empty(t, s.rejected())
	assert.Equal(t, map[string]int64{"field=unmapped_field type=event": 2}, s.counts("otelcol_receiver_sentry_fields_discarded"), "project_root of raven-ruby")
}
