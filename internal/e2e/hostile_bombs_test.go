package e2e

import (
	"bytes"
	"compress/gzip"
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
	{name: "gzip that says it is 4 GiB", status: 400, reason: "body_undecodable", memory: memorySmall,
		request: func() request { return envelope(gzipLie()).encoded("gzip") }},
	{name: "zstd that asks for a window of 3.75 TiB", status: 400, reason: "body_undecodable", memory: memorySmall,
		request: func() request { return envelope(zstdLie()).encoded("zstd") }},
	{name: "gzip cut short", status: 400, reason: "body_undecodable", memory: memorySmall,
		request: func() request {
			b := zipped(chunk{}.request().body)
			return envelope(b[:len(b)/2]).encoded("gzip")
		}},
	{name: "a bomb in a bomb", status: 415, reason: "unsupported_encoding", memory: memorySmall,
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
