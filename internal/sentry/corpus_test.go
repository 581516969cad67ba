package sentry

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// corpusDir holds requests recorded from real SDKs, of which index.jsonl has one line each. It is not part of the repository.
const corpusDir = "../../../shared/corpus/sentry"

// recording is a line of the index.
type recording struct {
	Path     string   `json:"path"`
	Items    []string `json:"items"`
	Encoding string   `json:"encoding"`
	Header   []string `json:"envelope_header"` // its keys; nil = the body is no envelope
	URLPath  string   `json:"url_path"`

	Query   string      // of the request, without "?"
	Headers [][2]string // of the request
}

// recordings gives what was recorded; without the corpus the test is skipped.
func recordings(t *testing.T) []recording {
	index, err := os.Open(filepath.Join(corpusDir, "index.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no recorded requests at %s: nothing to check against", corpusDir)
	}
	require.NoError(t, err)
	defer index.Close()

	var all []recording
	lines := bufio.NewScanner(index)
	for lines.Scan() {
		var r recording
		require.NoError(t, json.Unmarshal(lines.Bytes(), &r))
		meta, err := os.ReadFile(filepath.Join(corpusDir, r.Path+".meta.json"))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(meta, &struct {
			Query   *string
			Headers *[][2]string
		}{&r.Query, &r.Headers}))
		all = append(all, r)
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, all)
	return all
}

// body is the decoded body of the request.
func (r recording) body(t *testing.T) []byte {
	sent, err := os.ReadFile(filepath.Join(corpusDir, r.Path+".body"))
	require.NoError(t, err)
	var reader io.Reader = bytes.NewReader(sent)
	switch r.Encoding {
	case "gzip":
		reader, err = gzip.NewReader(reader)
		require.NoError(t, err)
	case "br":
		reader = brotli.NewReader(reader)
	case "identity":
	default:
		t.Fatalf("%s: unknown encoding %q", r.Path, r.Encoding)
	}
	body, err := io.ReadAll(reader)
	require.NoError(t, err)
	return body
}

func (r recording) header(name string) string {
	for _, header := range r.Headers {
		if strings.EqualFold(header[0], name) {
			return header[1]
		}
	}
	return ""
}

// Every recorded envelope is framed, names its sender, and survives being written and read again.
func TestRecordedEnvelopes(t *testing.T) {
	envelopes, items := 0, 0
	for _, r := range recordings(t) {
		if r.Header == nil {
			continue // store and security endpoints
		}
		envelopes++
		e, err := ReadEnvelope(r.body(t))
		require.NoError(t, err, r.Path)

		var types []string
		for _, item := range e.Items {
			types = append(types, string(item.Header.Type))
			assert.True(t, item.Header.Type.Known(), "%s: %s", r.Path, item.Header.Type)
			assert.NotEmpty(t, item.Payload, r.Path)
		}
		assert.Equal(t, r.Items, types, r.Path)
		items += len(types)

		h := e.Header
		for key, read := range map[string]bool{
			"event_id": h.EventID != "", "dsn": h.DSN != "", "sdk": h.SDK.Name != "" && h.SDK.Version != "",
			"sent_at": !h.SentAt.IsZero(), "trace": h.Trace != nil && h.Trace.TraceID != "" && h.Trace.PublicKey != "",
		} {
			assert.Equal(t, slices.Contains(r.Header, key), read, "%s: %s", r.Path, key)
		}

		auth, err := Authenticate(r.credentials(h.DSN))
		require.NoError(t, err, r.Path)
		assert.Equal(t, testKey, auth.PublicKey, r.Path)
		assert.Equal(t, "4507", auth.ProjectID, r.Path)

		written, err := AppendEnvelope(nil, e)
		require.NoError(t, err, r.Path)
		again, err := ReadEnvelope(written)
		require.NoError(t, err, r.Path)
		require.Equal(t, e, again, r.Path)
	}
	t.Logf("%d envelopes, %d items", envelopes, items)
}

// credentials are those of the request, and of the envelope's header.
func (r recording) credentials(dsn string) Credentials {
	c := Credentials{
		SentryAuth: r.header("X-Sentry-Auth"), Authorization: r.header("Authorization"),
		RawQuery: strings.TrimPrefix(r.Query, "?"), EnvelopeDSN: dsn,
	}
	if path, ok := strings.CutPrefix(r.URLPath, "/api/"); ok {
		c.ProjectID, _, _ = strings.Cut(path, "/")
	}
	return c
}

// Everything that was not sent through a tunnel, and not by a browser itself (security reports), says who sent it in the request.
func TestRecordedCredentials(t *testing.T) {
	for _, r := range recordings(t) {
		auth, err := Authenticate(r.credentials(""))
		if r.URLPath == "/tunnel" {
			var bad *AuthError
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, ReasonAuthMissing, bad.Reason, r.Path)
			continue
		}
		require.NoError(t, err, r.Path)
		assert.Equal(t, testKey, auth.PublicKey, r.Path)
		assert.Equal(t, "4507", auth.ProjectID, r.Path)
		if !strings.HasPrefix(r.URLPath, "/api/4507/security") {
			assert.Contains(t, auth.Client, "/", r.Path)
		}
	}
}
