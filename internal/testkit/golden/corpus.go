// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/stretchr/testify/require"
)

// Request is a recorded request of a real SDK.
type Request struct {
	Name         string // sdk/scenario/number
	Items        []string
	EnvelopeKeys []string // of its header; nil = the body is no envelope
	Method       string
	Path         string
	Query        string
	Headers      [][2]string
	Body         []byte // as sent, still content-encoded
	Encoding     string
}

// Corpus returns the recorded requests, in the order of their index. The recordings are not part of
// the repository: it skips tests without them.
func Corpus(t testing.TB) []Request {
	t.Helper()
	root := filepath.Join(Root(t), "..", "shared", "corpus", "sentry")
	index, err := os.Open(filepath.Join(root, "index.jsonl"))
	if os.IsNotExist(err) {
		t.Skip("the corpus of recorded SDK requests is not here: beside the repository, shared/corpus/sentry")
	}
	require.NoError(t, err)
	defer index.Close()

	var requests []Request
	lines := bufio.NewScanner(index)
	for lines.Scan() {
		var line struct {
			Path   string   `json:"path"`
			Items  []string `json:"items"`
			Header []string `json:"envelope_header"`
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &line))
		request := readRequest(t, root, line.Path)
		request.Items, request.EnvelopeKeys = line.Items, line.Header
		requests = append(requests, request)
	}
	require.NoError(t, lines.Err())
	return requests
}

func readRequest(t testing.TB, root, name string) Request {
	var meta struct {
		Method  string      `json:"method"`
		Path    string      `json:"path"`
		Query   string      `json:"query"`
		Headers [][2]string `json:"headers"`
	}
	text, err := os.ReadFile(filepath.Join(root, name+".meta.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &meta))
	body, err := os.ReadFile(filepath.Join(root, name+".body"))
	require.NoError(t, err)
	r := Request{Name: name, Method: meta.Method, Path: meta.Path, Query: meta.Query, Headers: meta.Headers, Body: body}
	r.Encoding = r.Header("Content-Encoding")
	return r
}

// Header returns a header; the case of its name does not matter.
func (r Request) Header(name string) string {
	for _, h := range r.Headers {
		if bytes.EqualFold([]byte(h[0]), []byte(name)) {
			return h[1]
		}
	}
	return ""
}

// Decoded is the body without its content encoding.
func (r Request) Decoded(t testing.TB) []byte {
	var reader io.Reader = bytes.NewReader(r.Body)
	switch r.Encoding {
	case "gzip":
		unzip, err := gzip.NewReader(reader)
		require.NoError(t, err)
		reader = unzip
	case "br":
		reader = brotli.NewReader(reader)
	}
	decoded, err := io.ReadAll(reader)
	require.NoError(t, err)
	return decoded
}

// Event returns the body of a request to the store endpoint: JSON, or its encoding by raven SDKs,
// zlib in base64.
func (r Request) Event(t testing.TB) []byte {
	body := r.Decoded(t)
	if body[0] == '{' {
		return body
	}
	packed, err := base64.StdEncoding.DecodeString(string(body))
	require.NoError(t, err)
	reader, err := zlib.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	event, err := io.ReadAll(reader)
	require.NoError(t, err)
	return event
}

// Root is the root of the repository.
func Root(t testing.TB) string {
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		require.NotEqual(t, parent, dir, "no go.mod above the test")
		dir = parent
	}
}
