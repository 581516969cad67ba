// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// post imports a file.
func (h *harness) post(path string, body io.Reader, headers ...string) (status int, out importAnswer, text string) {
	h.t.Helper()
	r, err := http.NewRequest(http.MethodPost, h.base+path, body)
	require.NoError(h.t, err)
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := h.client.Do(r)
	require.NoError(h.t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(h.t, err)
	if response.StatusCode == http.StatusOK {
		require.NoError(h.t, json.Unmarshal(content, &out))
	}
	return response.StatusCode, out, string(content)
}

// TestImportsItsDownloads: a downloaded file of every format is imported with the same weights by
// function.
func TestImportsItsDownloads(t *testing.T) {
	for download, format := range map[string]string{
		"pprof": "pprof", "speedscope": "speedscope", "firefox": "firefox", "collapsed": "collapsed", "otlp": "otlp-json",
	} {
		t.Run(format, func(t *testing.T) {
			h := start(t, nil)
			h.addProfile("shop", shop...)
			_, file := h.request("/api/download/"+download+"?profile=1", "Accept-Encoding", "identity")
			status, out, text := h.post("/api/import?name=file", bytes.NewReader(file))
			require.Equal(t, http.StatusOK, status, text)
			assert.Equal(t, format, out.Format)
			before, after := map[string]int64{}, map[string]int64{}
			for _, f := range get[flameAnswer](h, "flame?profile=1").Top {
				before[f.Name] += f.Self
			}
			for i := range out.Profiles { // speedscope: a profile for each thread
				for _, f := range get[flameAnswer](h, "flame?profile="+string(rune('2'+i))).Top {
					after[f.Name] += f.Self
				}
			}
			assert.NotEmpty(t, before)
			assert.Equal(t, before, after)
		})
	}
}

// TestImportOfAnEnvelope imports the traces and logs too, compressed.
func TestImportOfAnEnvelope(t *testing.T) {
	h := start(t, nil)
	envelope, err := os.ReadFile(filepath.Join(golden.Root(t), "testdata/cases/cocoa-v1-native/in.envelope"))
	require.NoError(t, err)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err = w.Write(envelope)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	status, out, text := h.post("/api/import?name=in.envelope", &packed)
	require.Equal(t, http.StatusOK, status, text)
	assert.Equal(t, importAnswer{Format: "sentry", Profiles: 1, Spans: 1, Points: 4, Losses: []lossAnswer{}}, out)
	overview := get[overviewAnswer](h, "overview")
	assert.Equal(t, 1, overview.ProfileCount)
	assert.Equal(t, 1, overview.TraceCount)
	assert.Equal(t, 1, overview.Profiles[0].Spans, "linked")

	hostile, err := os.ReadFile(filepath.Join(golden.Root(t), "testdata/cases/hostile-bad-between-good/in.envelope"))
	require.NoError(t, err)
	_, out, _ = h.post("/api/import", bytes.NewReader(hostile))
	require.NotEmpty(t, out.Losses)
	assert.Contains(t, out.Losses[0].What, "unusable")
}

// TestImportIsGuarded like the rest of the API.
func TestImportIsGuarded(t *testing.T) {
	h := start(t, func(c *Config) { c.HTTP.MaxRequestBodySize = 1000 })
	const file = "main;f 1\n"
	for want, headers := range map[int][]string{
		http.StatusForbidden:          {"Sec-Fetch-Site", "cross-site"},
		http.StatusMisdirectedRequest: {"Host", "evil.example"},
	} {
		status, _, text := h.post("/api/import", strings.NewReader(file), headers...)
		assert.Equal(t, want, status, text)
	}
	status, _, _ := h.post("/api/import", strings.NewReader(file), "Origin", "http://evil.example")
	assert.Equal(t, http.StatusForbidden, status)
	status, _, text := h.post("/api/import", strings.NewReader(strings.Repeat(file, 1000)))
	assert.Equal(t, http.StatusRequestEntityTooLarge, status, text)
	for _, body := range []string{"", "{}", "\x00\x01", "no weights"} {
		status, _, text = h.post("/api/import", strings.NewReader(body))
		assert.Equal(t, http.StatusUnprocessableEntity, status, "%q: %s", body, text)
	}
	assert.Equal(t, 0, get[overviewAnswer](h, "overview").ProfileCount)
	status, _, text = h.post("/api/import", strings.NewReader(file), "Sec-Fetch-Site", "same-origin")
	assert.Equal(t, http.StatusOK, status, text)
}

// TestImportOfNegativeValues: the list has the total of a difference of profiles; graphs and
// formats without negative values reject it with a reason.
func TestImportOfNegativeValues(t *testing.T) {
	h := start(t, nil)
	data, err := os.ReadFile(filepath.Join(golden.Root(t), "internal/profiles/pprof/testdata/foreign/pprof-diff-base-negative.pb.gz"))
	require.NoError(t, err)
	status, _, text := h.post("/api/import?name=diff", bytes.NewReader(data))
	require.Equal(t, http.StatusOK, status, text)
	for _, p := range get[overviewAnswer](h, "overview").Profiles {
		if p.Measure.Type != "inuse_space" {
			continue
		}
		assert.Equal(t, int64(-94_769_662), p.Weight)
		for path, want := range map[string]int{
			"flame": http.StatusUnprocessableEntity, "download/collapsed": http.StatusUnprocessableEntity, "download/speedscope": http.StatusUnprocessableEntity,
			"download/pprof": http.StatusOK, "download/firefox": http.StatusOK, "download/otlp": http.StatusOK,
		} {
			response, content := h.request("/api/" + path + "?profile=" + p.ID)
			assert.Equal(t, want, response.StatusCode, path)
			if want != http.StatusOK {
				assert.Contains(t, string(content), "negative", path)
			}
		}
		return
	}
	t.Error("the list has no profile of inuse_space")
}
