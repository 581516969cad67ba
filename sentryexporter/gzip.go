// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"bytes"
	"sync"

	"github.com/klauspost/compress/gzip"
	"go.opentelemetry.io/collector/config/configcompression"
	"go.opentelemetry.io/collector/config/confighttp"
)

// gzipper compresses envelopes. confighttp uses the standard library, which takes two to three
// times as long for the same size (internal/testkit/bench).
type gzipper struct{ writers sync.Pool }

// takeGzip returns a gzipper with the level of a client, and turns off the client's own. It returns
// nil for other encodings.
func takeGzip(client *confighttp.ClientConfig) *gzipper {
	if client.Compression != configcompression.TypeGzip {
		return nil
	}
	client.Compression = ""
	level := int(client.CompressionParams.Level)
	if level == 0 {
		level = configcompression.DefaultCompressionLevel
	}
	return &gzipper{writers: sync.Pool{New: func() any {
		w, err := gzip.NewWriterLevel(nil, level)
		if err != nil {
			panic(err) // Validate checks the level
		}
		return w
	}}}
}

// compress compresses a body.
func (g *gzipper) compress(body []byte) ([]byte, error) {
	w := g.writers.Get().(*gzip.Writer)
	defer func() {
		w.Reset(nil) // drops the body
		g.writers.Put(w)
	}()
	var out bytes.Buffer
	out.Grow(len(body) / expectedRatio)
	w.Reset(&out)
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

// expectedRatio is that of recorded chunks, at least.
const expectedRatio = 8
