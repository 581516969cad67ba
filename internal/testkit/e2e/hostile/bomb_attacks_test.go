// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// Bodies that are small only on the wire. The receiver decodes them up to max_request_body_size,
// 100 MiB.
var bombAttacks = []attack{
	{name: "gzip: 1 MB that decompresses to 1 GiB", status: 413, reason: "body_too_large", memory: memoryLimit,
		request: func() harness.Request { return harness.EnvelopeRequest(gzipBomb()).WithEncoding("gzip") }},
	{name: "deflate: 1 MB that decompresses to 1 GiB", status: 413, reason: "body_too_large", memory: memoryLimit,
		request: func() harness.Request { return harness.EnvelopeRequest(deflateBomb()).WithEncoding("deflate") }},
	{name: "br: 14 kB that decompresses to 4 GiB", status: 413, reason: "body_too_large", memory: memoryLimit,
		request: func() harness.Request { return harness.EnvelopeRequest(brotliBomb()).WithEncoding("br") }},
	{name: "zstd: 100 kB that decompresses to 3 GiB", status: 413, reason: "body_too_large", memory: memoryLimit,
		request: func() harness.Request { return harness.EnvelopeRequest(zstdBomb()).WithEncoding("zstd") }},
	{name: "zstd: 100 kB that decompresses to 3 GiB, with chunked transfer encoding", status: 413, reason: "body_too_large", memory: memoryLimit,
		request: func() harness.Request {
			r := harness.EnvelopeRequest(zstdBomb()).WithEncoding("zstd")
			r.Chunked = true
			return r
		}},
	{name: "gzip: a trailer that states a length of 4 GiB", status: 400, reason: "body_undecodable", memory: memorySmall,
		request: func() harness.Request { return harness.EnvelopeRequest(gzipLie()).WithEncoding("gzip") }},
	{name: "zstd: a window of 3.75 TiB", status: 400, reason: "body_undecodable", memory: memorySmall,
		request: func() harness.Request { return harness.EnvelopeRequest(zstdLie()).WithEncoding("zstd") }},
	{name: "gzip: a truncated body", status: 400, reason: "body_undecodable", memory: memorySmall,
		request: func() harness.Request {
			b := zipped(harness.Chunk{}.Request().Body)
			return harness.EnvelopeRequest(b[:len(b)/2]).WithEncoding("gzip")
		}},
	{name: "a body compressed twice with gzip", status: 415, reason: "unsupported_encoding", memory: memorySmall,
		request: func() harness.Request { return harness.EnvelopeRequest(zipped(gzipBomb())).WithEncoding("gzip, gzip") }},
	{name: "an uncompressed body above the limit", status: 413, reason: "body_too_large", memory: memoryLimit,
		request: func() harness.Request { return harness.EnvelopeRequest(bytes.Repeat([]byte{' '}, 101<<20)) }},
	{name: "an uncompressed body above the limit, with chunked transfer encoding", status: 413, reason: "body_too_large", memory: memoryLimit,
		request: func() harness.Request {
			r := harness.EnvelopeRequest(bytes.Repeat([]byte{' '}, 101<<20))
			r.Chunked = true
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

// memoryAtOnce is the bound for many concurrent bodies, in MiB: max_bytes_in_flight (320 MiB), the
// same amount of garbage that was not collected yet, and the memory of an idle collector. Without
// max_bytes_in_flight, these bombs took 1.4 GiB.
const memoryAtOnce = 1000

// bombsAtOnce: the collector decodes as many bombs as fit, up to their limit, and makes the others
// wait.
func bombsAtOnce(t *testing.T) {
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{MemoryLimit: attackLimit, Sink: backend})
	bomb := harness.EnvelopeRequest(brotliBomb()).WithEncoding("br")
	const bombs = 8
	begin := time.Now()
	answers, errs := make([]harness.Response, bombs), make([]error, bombs)
	var all sync.WaitGroup
	for i := range bombs {
		all.Go(func() { answers[i], errs[i] = c.TrySend(bomb) })
	}
	all.Wait()
	statuses := map[int]int{}
	for i, got := range answers {
		assert.NoError(t, errs[i])
		statuses[got.Status]++
		if got.Status == http.StatusTooManyRequests {
			assert.Contains(t, got.Header.Get("X-Sentry-Rate-Limits"), ":key:bytes_in_flight")
		}
	}
	refused := statuses[http.StatusTooManyRequests]
	assert.Equal(t, bombs, statuses[http.StatusRequestEntityTooLarge]+refused, "%v", statuses)
	assert.Positive(t, statuses[http.StatusRequestEntityTooLarge], "%v", statuses)
	metrics := c.Scrape(t)
	assert.Equal(t, refused, metrics.Sum("otelcol_receiver_sentry_requests_rejected", "reason=bytes_in_flight"))
	assert.Zero(t, metrics.Sum("otelcol_receiver_sentry_bytes_in_flight"))
	checkServing(t, c, backend)
	reportAttack(t, c, bombs*len(bomb.Body), http.StatusRequestEntityTooLarge, time.Since(begin), memoryAtOnce)
}
