// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
)

// stressChunk translates the largest recorded profile: a minute of node under load, 34 MB of JSON.
func stressChunk(t testing.TB) pprofile.Profiles {
	t.Helper()
	for _, request := range golden.Corpus(t) {
		if !strings.HasSuffix(request.Name, "stress-continuous-manual/025") {
			continue
		}
		envelope, err := sentry.ReadEnvelope(request.Decoded(t))
		require.NoError(t, err)
		decoder := profile.AcquireDecoder()
		defer decoder.Release()
		chunk, err := decoder.Chunk(envelope.Items[0].Payload)
		require.NoError(t, err)
		return fromsentry.ChunkToProfiles(chunk, fromsentry.Source{ProjectID: "1", PeriodType: "wall"})
	}
	t.Fatal("not in the corpus")
	return pprofile.Profiles{}
}

// TestStress pushes half an hour of the busiest recording through a small store, and opens it.
func TestStress(t *testing.T) {
	testsize.NeedFull(t)
	const limit = 16 << 20
	chunk := stressChunk(t)
	h := start(t, func(c *Config) { c.MaxBytes = limit })
	before := heap()
	var size int64
	for i := range 30 {
		copied := pprofile.NewProfiles()
		chunk.CopyTo(copied)
		h.consume(copied)
		if i == 0 {
			size = h.viewer.store.Stats().Bytes
		}
	}
	kept := h.viewer.store.Stats()
	grown := heap() - before
	runtime.KeepAlive(chunk)
	t.Logf("a chunk of 34 MB JSON is kept as %d kB; %d messages of %d, %d kB by our count, %d kB of heap; limit %d kB",
		size>>10, kept.Messages, kept.Messages+int(kept.Evicted), kept.Bytes>>10, grown>>10, limit>>10)
	require.Positive(t, kept.Evicted)
	assert.LessOrEqual(t, kept.Bytes, int64(limit))
	assert.Less(t, grown, int64(limit))

	id := get[overviewAnswer](h, "overview").Profiles[0].ID
	for _, path := range []string{"profiles/" + id, "flame?profile=" + id, "ordered?profile=" + id + "&thread=0",
		"frame?profile=" + id + "&frame=5", "download/pprof?profile=" + id, "download/speedscope?profile=" + id} {
		before := totalAlloc()
		response, body := h.request("/api/" + path)
		allocated := totalAlloc() - before
		require.Equal(t, http.StatusOK, response.StatusCode, "%s: %s", path, body)
		t.Logf("%-40s %6d kB, %d kB allocated", path, len(body)>>10, allocated>>10)
		assert.Less(t, allocated, int64(128<<20), "%s: the largest download needs half of it", path)
	}
	h.viewer.releaseDecoded(time.Now().Add(2 * keepDecoded))
	assert.Less(t, heap()-before, int64(limit+h.viewer.graphs.bytes), "decoded messages are released; graphs count as what they use")
}

// TestOpenViews: the memory of open views of a profile of a million samples is bounded. Each view
// has a stream of changes; all share the cache of graphs and the last decoded message.
func TestOpenViews(t *testing.T) {
	testsize.NeedFull(t)
	const views, perView = 10, 64 << 10
	h := start(t, nil)
	h.consume(timelinetest.Large("shop", 1_000_000))
	before := heap()
	largest := 0
	for i := range views {
		h.listen(t).next()
		of := fmt.Sprintf("?profile=1&thread=%d&from=%d&pixels=1440", 1+i%2*i, i*int(ms)) // every second one of thread 1
		for _, path := range []string{"flame" + of, "ordered" + of, "flame" + of + "&q=f1", "ordered" + of + "&left=1000000000&right=2000000000"} {
			response, body := h.request("/api/" + path)
			require.Equal(t, http.StatusOK, response.StatusCode, "%s: %s", path, body)
			largest = max(largest, len(body))
		}
	}
	withMessage := heap() - before
	h.viewer.releaseDecoded(time.Now().Add(2 * keepDecoded))
	grown := heap() - before
	t.Logf("a decoded message of %d kB, and %d views: %d kB of heap, of which %d kB are graphs; largest response %d kB",
		(withMessage-grown)>>10, views, grown>>10, h.viewer.graphs.bytes>>10, largest>>10)
	assert.LessOrEqual(t, h.viewer.graphs.bytes, maxGraphs)
	assert.Greater(t, h.viewer.graphs.bytes, maxGraphs/2, "the views fill the cache")
	assert.Less(t, grown, int64(maxGraphs+views*perView))
	assert.LessOrEqual(t, largest, answer.MaxResponse)
}

// heap returns the number of bytes in use after a garbage collection.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// totalAlloc returns the number of bytes allocated so far.
func totalAlloc() int64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.TotalAlloc)
}

// TestOpenPages: each open page has one stream of change notices.
func TestOpenPages(t *testing.T) {
	const pages = 500
	h := start(t, nil)
	address := strings.TrimPrefix(h.base, "http://")
	use := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	before := use()
	for range pages {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer conn.Close()
		_, err = fmt.Fprintf(conn, "GET /api/changes HTTP/1.1\r\nHost: localhost\r\n\r\n")
		require.NoError(t, err)
		_, err = conn.Read(make([]byte, 4096))
		require.NoError(t, err)
	}
	each := int64(use()-before) / pages
	t.Logf("%.1f KiB per page", float64(each)/1024)
	assert.LessOrEqual(t, each, int64(40<<10), "as README.md states")
}
