// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/gzip"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/corpus"
)

// recordings are the large recordings of the corpus, and one in which most stacks are unreferenced.
var recordings = []struct{ name, path string }{
	{"rec-node-34MB", "sentry.javascript.node-10.75.3/stress-continuous-manual/025"},
	{"rec-nodeV1-25MB", "sentry.javascript.node-10.75.3/stress-txn-legacy/001"},
	{"rec-py-3.6MB", "sentry.python-2.68.0/continuous-manual/074"},
	{"rec-java-1.7MB", "sentry.java-8.53.0/continuous-manual/037"},
	{"rec-browser-0.1MB", "sentry.javascript.browser-11.12.0/ui-profiling-trace/020"},
}

// Recorded returns the profiles of the large recorded requests.
func Recorded() ([]Source, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	requests, err := corpus.Read(root)
	if err != nil {
		return nil, err
	}
	var all []Source
	for _, recording := range recordings {
		i := slices.IndexFunc(requests, func(r corpus.Request) bool { return r.Name == recording.path })
		if i < 0 {
			return nil, fmt.Errorf("there is no recording %s", recording.path)
		}
		all = append(all, Source{recording.name, func() (Payload, error) {
			p, err := readRecording(requests[i])
			if err != nil {
				return Payload{}, fmt.Errorf("cannot read the recording %s: %w", recording.path, err)
			}
			p.Name = recording.name
			return p, nil
		}})
	}
	return all, nil
}

func readRecording(request corpus.Request) (Payload, error) {
	body, err := request.Decode()
	if err != nil {
		return Payload{}, err
	}
	envelope, err := sentry.ReadEnvelope(body)
	if err != nil {
		return Payload{}, err
	}
	for _, item := range envelope.Items {
		p := Payload{V1: item.Header.Type == sentry.ItemProfile, JSON: bytes.Clone(item.Payload)}
		if !p.V1 && item.Header.Type != sentry.ItemProfileChunk {
			continue
		}
		p.Samples, err = countSamples(p)
		return p, err
	}
	return Payload{}, errors.New("no profile in it")
}

func countSamples(p Payload) (int, error) {
	d := profile.AcquireDecoder()
	defer d.Release()
	if p.V1 {
		profile, err := d.Profile(p.JSON)
		if err != nil {
			return 0, err
		}
		return profile.Samples.Len(), nil
	}
	chunk, err := d.Chunk(p.JSON)
	if err != nil {
		return 0, err
	}
	return chunk.Samples.Len(), nil
}

// Zip compresses at the default level, as SDKs do.
func Zip(data []byte) []byte {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write(data) // writes to a buffer cannot fail
	_ = w.Close()
	return zipped.Bytes()
}

// Unzip is the inverse of Zip.
func Unzip(zipped []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Envelope returns a request with the payload in the form of the Python SDK: an empty header, and
// one item with its length.
func (p Payload) Envelope() []byte {
	kind := sentry.ItemProfileChunk
	if p.V1 {
		kind = sentry.ItemProfile
	}
	header := fmt.Sprintf("{}\n{\"type\":%q,\"content_type\":\"application/json\",\"length\":%d}\n", kind, len(p.JSON))
	return append([]byte(header), p.JSON...)
}

// Root returns the root of the repository: the nearest parent directory that contains this module.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "internal", "testkit", "bench", "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("not inside the repository")
		}
		dir = parent
	}
}
