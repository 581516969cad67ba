// SPDX-License-Identifier: Apache-2.0

// Command record writes recorded requests into testdata/corpus: decoded, without lines of source
// code and without the paths of the recording machine, and compressed.
//
//	go run ./internal/testkit/corpus/record FOLDER
//
// testdata/corpus/README.md describes the form of FOLDER.
package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/corpus"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: record FOLDER, at the root of the repository")
		os.Exit(2)
	}
	if err := record(os.Args[1], corpus.Public(".")); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

// record writes an archive for each scenario, and the index.
func record(from, to string) error {
	requests, err := corpus.ReadShared(from)
	if err != nil {
		return err
	}
	var index bytes.Buffer
	scenarios := map[string][]file{}
	for _, r := range requests {
		body, packed, err := decode(r)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
		line, err := json.Marshal(corpus.Line{
			Name: r.Name, Items: r.Items, Header: r.EnvelopeKeys, Method: r.Method, Path: r.Path, Query: r.Query,
			Headers: withoutLength(r.Headers), Packed: packed,
		})
		if err != nil {
			return err
		}
		index.Write(append(line, '\n'))
		scenario, extension := path.Dir(r.Name), ".json"
		if r.EnvelopeKeys != nil {
			extension = ".envelope"
		}
		scenarios[scenario] = append(scenarios[scenario], file{path.Base(r.Name) + extension, corpus.Clean(body)})
	}
	for scenario, files := range scenarios {
		if err := write(corpus.Archive(to, scenario), files); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(to, "index.jsonl"), index.Bytes(), 0o644)
}

// file is a member of an archive.
type file struct {
	name string
	body []byte
}

func decode(r corpus.Request) ([]byte, bool, error) {
	if strings.HasSuffix(r.Path, "/store/") {
		return r.DecodeEvent()
	}
	body, err := r.Decode()
	return body, false, err
}

// withoutLength removes Content-Length, because the bodies are stored in another encoding.
func withoutLength(headers [][2]string) (rest [][2]string) {
	for _, h := range headers {
		if !strings.EqualFold(h[0], "Content-Length") {
			rest = append(rest, h)
		}
	}
	return rest
}

// window is the maximum that the tool accepts.
const window = 8 << 20

func write(name string, files []file) error {
	var packed bytes.Buffer
	compressed, err := zstd.NewWriter(&packed, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	for _, f := range files {
		if err := archive.WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.body))}); err != nil {
			return err
		}
		if _, err := archive.Write(f.body); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	if err := compressed.Close(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, packed.Bytes(), 0o644)
}
