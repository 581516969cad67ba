// SPDX-License-Identifier: Apache-2.0

// Package corpus reads the recorded requests of real Sentry SDKs. The public ones are in
// testdata/corpus, decoded and compressed. Original recordings in ../shared/corpus, next to the
// repository, replace the public ones, because they have the bytes that the SDKs sent.
//
// testdata/corpus/README.md describes the recordings. Command record, below, adds more.
package corpus

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
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
	Body         []byte // content-encoded; as sent, or as another encoder writes it
	Encoding     string
}

// Line is a line of the index of the public recordings.
type Line struct {
	Name    string      `json:"name"`
	Items   []string    `json:"items"`
	Header  []string    `json:"envelope_header"`
	Method  string      `json:"method"`
	Path    string      `json:"path"`
	Query   string      `json:"query,omitempty"`
	Headers [][2]string `json:"headers"`
	Packed  bool        `json:"packed,omitempty"` // an event, compressed by zlib and in base64
}

// Public returns the folder of the public recordings.
func Public(root string) string { return filepath.Join(root, "testdata", "corpus", "sentry") }

// Shared returns the folder of the original recordings, which need not exist.
func Shared(root string) string { return filepath.Join(root, "..", "shared", "corpus", "sentry") }

// Read returns the recorded requests, in the order of the public index.
func Read(root string) ([]Request, error) {
	var originals []Request
	if os.Getenv("CORPUS") != "public" {
		var err error
		if originals, err = ReadShared(Shared(root)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	return readPublic(Public(root), originals)
}

// ReadPublic returns the public recordings.
func ReadPublic(folder string) ([]Request, error) { return readPublic(folder, nil) }

// readPublic returns the public recordings, or the originals of those that have one.
func readPublic(folder string, originals []Request) (all []Request, err error) {
	bodies, original := map[string][]byte{}, map[string]Request{}
	for _, r := range originals {
		original[r.Name] = r
	}
	err = eachLine(folder, func(text []byte) error {
		var line Line
		if err := json.Unmarshal(text, &line); err != nil {
			return err
		}
		if r, ok := original[line.Name]; ok {
			all = append(all, r)
			return nil
		}
		if bodies[line.Name] == nil {
			if err := readArchive(folder, path.Dir(line.Name), bodies); err != nil {
				return err
			}
		}
		r := Request{
			Name: line.Name, Items: line.Items, EnvelopeKeys: line.Header, Method: line.Method, Path: line.Path, Query: line.Query,
			Headers: line.Headers,
		}
		r.Encoding = r.Header("Content-Encoding")
		r.Body, err = encode(bodies[line.Name], r.Encoding, line.Packed)
		all = append(all, r)
		return err
	})
	return all, err
}

// eachLine visits the lines of the index of a folder.
func eachLine(folder string, visit func([]byte) error) error {
	index, err := os.Open(filepath.Join(folder, "index.jsonl"))
	if err != nil {
		return err
	}
	defer index.Close()
	lines := bufio.NewScanner(index)
	for lines.Scan() {
		if err := visit(lines.Bytes()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// Archive returns the file with the bodies of a scenario.
func Archive(folder, scenario string) string {
	return filepath.Join(folder, filepath.FromSlash(scenario)+".tar.zst")
}

// readArchive reads the bodies of a scenario, by name.
func readArchive(folder, scenario string, bodies map[string][]byte) error {
	files, err := Files(Archive(folder, scenario))
	for name, body := range files {
		bodies[scenario+"/"+strings.TrimSuffix(name, path.Ext(name))] = body
	}
	return err
}

// Files returns the files of an archive, by name.
func Files(archive string) (map[string][]byte, error) {
	file, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	plain, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	files := map[string][]byte{}
	for members := tar.NewReader(plain); ; {
		header, err := members.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		} else if err != nil {
			return nil, err
		}
		if files[header.Name], err = io.ReadAll(members); err != nil {
			return nil, err
		}
	}
}

// encode is the inverse of decode.
func encode(body []byte, encoding string, packed bool) ([]byte, error) {
	var out bytes.Buffer
	if packed {
		w := zlib.NewWriter(&out)
		_, _ = w.Write(body) // writes to a buffer cannot fail
		_ = w.Close()
		return []byte(base64.StdEncoding.EncodeToString(out.Bytes())), nil
	}
	var w io.WriteCloser
	switch encoding {
	case "gzip":
		w, _ = gzip.NewWriterLevel(&out, gzip.DefaultCompression)
	case "br":
		w = brotli.NewWriterLevel(&out, brotli.BestSpeed)
	case "":
		return body, nil
	default:
		return nil, fmt.Errorf("unknown content encoding %q", encoding)
	}
	_, _ = w.Write(body)
	err := w.Close()
	return out.Bytes(), err
}

// ReadShared returns the original recordings of a folder.
func ReadShared(folder string) (all []Request, err error) {
	err = eachLine(folder, func(text []byte) error {
		var line struct {
			Path   string   `json:"path"`
			Items  []string `json:"items"`
			Header []string `json:"envelope_header"`
		}
		if err := json.Unmarshal(text, &line); err != nil {
			return err
		}
		r, err := readRecording(filepath.Join(folder, filepath.FromSlash(line.Path)))
		r.Name, r.Items, r.EnvelopeKeys = line.Path, line.Items, line.Header
		all = append(all, r)
		return err
	})
	return all, err
}

func readRecording(file string) (r Request, err error) {
	meta, err := os.ReadFile(file + ".meta.json")
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(meta, &r); err != nil {
		return r, err
	}
	r.Encoding = r.Header("Content-Encoding")
	r.Body, err = os.ReadFile(file + ".body")
	return r, err
}

// Header returns a header; the case of its name does not matter.
func (r Request) Header(name string) string {
	for _, h := range r.Headers {
		if strings.EqualFold(h[0], name) {
			return h[1]
		}
	}
	return ""
}

// Decode returns the body without its content encoding.
func (r Request) Decode() ([]byte, error) {
	var reader io.Reader = bytes.NewReader(r.Body)
	switch r.Encoding {
	case "gzip":
		unzip, err := gzip.NewReader(reader)
		if err != nil {
			return nil, err
		}
		reader = unzip
	case "br":
		reader = brotli.NewReader(reader)
	}
	return io.ReadAll(reader)
}

// DecodeEvent returns the body of a request to the store endpoint: JSON, or its encoding by raven
// SDKs, zlib in base64.
func (r Request) DecodeEvent() (event []byte, packed bool, err error) {
	body, err := r.Decode()
	if err != nil || bytes.HasPrefix(body, []byte("{")) {
		return body, false, err
	}
	compressed, err := base64.StdEncoding.DecodeString(string(body))
	if err != nil {
		return nil, false, err
	}
	reader, err := zlib.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, false, err
	}
	event, err = io.ReadAll(reader)
	return event, true, err
}

// Decoded is Decode for tests.
func (r Request) Decoded(t testing.TB) []byte {
	decoded, err := r.Decode()
	require.NoError(t, err)
	return decoded
}

// Event is DecodeEvent for tests.
func (r Request) Event(t testing.TB) []byte {
	event, _, err := r.DecodeEvent()
	require.NoError(t, err)
	return event
}
