// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/mcptools"
)

// TestDownloadsAreCompressed where the client takes that, and the same file where it does not.
func TestDownloadsAreCompressed(t *testing.T) {
	h := start(t, nil)
	h.addProfile("shop", shop...)
	h.addSpans("shop", 7, testSpan{1, 0, "GET /", 0, 40})
	for _, path := range []string{"/api/download/speedscope?profile=1", "/api/download/otlp?profile=1", "/api/download/otlp?trace=" + strings.Repeat("0", 31) + "7"} {
		_, plain := h.request(path, "Accept-Encoding", "identity")
		response, body := h.request(path, "Accept-Encoding", "gzip")
		assert.Equal(t, "gzip", response.Header.Get("Content-Encoding"), path)
		assert.Equal(t, mcptools.Notice, response.Header.Get("X-Data-Notice"), path)
		r, err := gzip.NewReader(bytes.NewReader(body))
		require.NoError(t, err, path)
		unpacked, err := io.ReadAll(r)
		require.NoError(t, err, path)
		assert.Equal(t, string(plain), string(unpacked), path)
	}
	response, _ := h.request("/api/download/pprof?profile=1", "Accept-Encoding", "gzip")
	assert.Empty(t, response.Header.Get("Content-Encoding"), "the file itself is compressed")
}

// TestDownloadOfATraceInManyMessages is the spans of the trace, and no others.
func TestDownloadOfATraceInManyMessages(t *testing.T) {
	h := start(t, nil)
	h.addLog("shop", "before", 7, 7)
	for i := range byte(3) {
		h.addSpans(fmt.Sprint("service ", i), 7, testSpan{i + 1, 0, "of it", 0, 1})
		h.addSpans("shop", 8, testSpan{i + 1, 0, "of another", 0, 1})
	}
	h.addLog("shop", "alone", 9, 9)
	for trace, spans := range map[string]int{"7": 3, "9": 0} {
		_, body := h.request("/api/download/otlp?trace=" + strings.Repeat("0", 31) + trace)
		traces, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(body)
		require.NoError(t, err, "%s", body)
		assert.Equal(t, spans, traces.SpanCount())
		assert.Equal(t, spans, traces.ResourceSpans().Len())
	}
}

// TestDownloadsAreBounded: a format without a table of texts would write out a long name for each
// line of a function.
func TestDownloadsAreBounded(t *testing.T) {
	t.Parallel()
	message := pprofile.NewProfiles()
	b := dictionary.NewBuilder(message.Dictionary())
	long := b.String(strings.Repeat("x", answer.LongestText))
	function := b.Function(dictionary.Function{Name: long, Filename: long})
	p := message.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	var lines []dictionary.Line
	for i := range 5000 {
		lines = append(lines, dictionary.Line{Function: function, Line: int64(i)})
	}
	sample := p.Samples().AppendEmpty()
	sample.SetStackIndex(int32(b.Stack([]dictionary.LocationIndex{b.Location(dictionary.Location{Lines: lines})})))
	sample.Values().Append(1)
	b.Finish()
	h := start(t, nil)
	h.consume(message)
	status, text := h.fails("download/speedscope?profile=1")
	assert.Equal(t, http.StatusUnprocessableEntity, status)
	assert.Contains(t, text, "select a thread")
	response, body := h.request("/api/download/pprof?profile=1")
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.Less(t, len(body), 1<<20)

	// The longest stack whose file fits.
	sample.SetStackIndex(int32(b.Stack([]dictionary.LocationIndex{b.Location(dictionary.Location{Lines: lines[:3500]})})))
	size := int64(new(pprofile.ProtoMarshaler).ProfilesSize(message))
	h.consume(message)
	response, body = h.request("/api/download/speedscope?profile=2")
	assert.Equal(t, http.StatusOK, response.StatusCode)
	t.Logf("%d of %d bytes", len(body), 8<<20+128*size)
	assert.LessOrEqual(t, int64(len(body)), 8<<20+128*size)
}

// TestDownloadTakesLittleMemory: a sample of a few bytes is a kilobyte of maps in google/pprof's
// own package.
func TestDownloadTakesLittleMemory(t *testing.T) {
	at := make([]timelinetest.Sample, 100_000)
	for i := range at {
		at[i] = timelinetest.Sample{Thread: int64(i % 7), Stack: "main;f", At: []time.Duration{time.Duration(i) * ms}}
	}
	h := start(t, nil)
	h.addProfile("shop", at...)
	for _, format := range []string{"pprof", "speedscope"} {
		before := totalAlloc()
		response, body := h.request("/api/download/" + format + "?profile=1")
		assert.Equal(t, http.StatusOK, response.StatusCode)
		took := totalAlloc() - before
		t.Logf("%s: %d kB, %d kB allocated", format, len(body)>>10, took>>10)
		assert.Less(t, took, int64(len(at)*1000))
	}
}
