// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Bodies that are small on the wire only. They are decoded up to max_request_body_size, 100 MiB, and no further.
var bombAttacks = []attack{
	{name: "gzip: 1 MB for 1 GiB", status: 413, reason: "body_too_large", memory: memoryLimit,
		request: func() request { return envelope(gzipBomb()).encoded("gzip") }},
	{name: "deflate: 1 MB for 1 GiB", status: 413, reason: "body_too_large", memory: memoryLimit,
		request: func() request { return envelope(deflateBomb()).encoded("deflate") }},
	{name: "br: 14 kB for 4 GiB", status: 413, reason: "body_too_large", memory: memoryLimit,
		request: func() request { return envelope(brotliBomb()).encoded("br") }},
	{name: "zstd: 100 kB for 3 GiB", status: 413, reason: "body_too_large", memory: memoryLimit,
		request: func() request { return envelope(zstdBomb()).encoded("zstd") }},
	{name: "zstd, chunked", status: 413, reason: "body_too_large", memory: memoryLimit,
		request: func() request {
			r := envelope(zstdBomb()).encoded("zstd")
			r.chunked = true
			return r
		}},
	{name: "gzip with a stated length of 4 GiB", status: 400, reason: "body_undecodable", memory: memorySmall,
		request: func() request { return envelope(gzipLie()).encoded("gzip") }},
	{name: "zstd with a window of 3.75 TiB", status: 400, reason: "body_undecodable", memory: memorySmall,
		request: func() request { return envelope(zstdLie()).encoded("zstd") }},
	{name: "truncated gzip", status: 400, reason: "body_undecodable", memory: memorySmall,
		request: func() request {
			b := zipped(chunk{}.request().body)
			return envelope(b[:len(b)/2]).encoded("gzip")
		}},
	{name: "nested compression", status: 415, reason: "unsupported_encoding", memory: memorySmall,
		request: func() request { return envelope(zipped(gzipBomb())).encoded("gzip, gzip") }},
	{name: "plain body beyond the limit", status: 413, reason: "body_too_large", memory: memoryLimit,
		request: func() request { return envelope(bytes.Repeat([]byte{' '}, 101<<20)) }},
	{name: "plain body beyond the limit, chunked", status: 413, reason: "body_too_large", memory: memoryLimit,
		request: func() request {
			r := envelope(bytes.Repeat([]byte{' '}, 101<<20))
			r.chunked = true
			return r
		}},
}

func zipped(body []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(body)
	w.Close()
	return b.Bytes()
}

// memoryAtOnce is what many bodies may take together, in MiB: max_bytes_in_flight, 320 MiB, as much again that the garbage
// collector has not taken back, and what the collector has idle. Without the bound, these bombs took 1.4 GiB.
const memoryAtOnce = 1000

// bombsAtOnce: as many as there is room for are decoded to their limit; the others are told to wait.
func bombsAtOnce(t *testing.T) {
	backend := newSink(t)
	c := start(t, settings{limit: attackLimit, sink: backend})
	bomb := envelope(brotliBomb()).encoded("br")
	const bombs = 8
	begin := time.Now()
	answers, errs := make([]answer, bombs), make([]error, bombs)
	var all sync.WaitGroup
	for i := range bombs {
		all.Go(func() { answers[i], errs[i] = c.trySend(bomb) })
	}
	all.Wait()
	statuses := map[int]int{}
	for i, got := range answers {
		assert.NoError(t, errs[i])
		statuses[got.status]++
		if got.status == http.StatusTooManyRequests {
			assert.Contains(t, got.header.Get("X-Sentry-Rate-Limits"), ":key:bytes_in_flight")
		}
	}
	refused := statuses[http.StatusTooManyRequests]
	assert.Equal(t, bombs, statuses[http.StatusRequestEntityTooLarge]+refused, "%v", statuses)
	assert.Positive(t, statuses[http.StatusRequestEntityTooLarge], "%v", statuses)
	metrics := c.scrape(t)
	assert.Equal(t, refused, metrics.sum("otelcol_receiver_sentry_requests_rejected", "reason=bytes_in_flight"))
	assert.Zero(t, metrics.sum("otelcol_receiver_sentry_bytes_in_flight"))
	c.checkServing(t, backend)
	c.report(t, bombs*len(bomb.body), http.StatusRequestEntityTooLarge, time.Since(begin), memoryAtOnce)
}
