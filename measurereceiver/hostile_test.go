package measurereceiver

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/httpbody"
)

// begin sends the head of a batch and half of its body.
func (h *harness) begin() net.Conn {
	h.t.Helper()
	conn, err := net.Dial("tcp", h.shared.server.Listener.Addr().String())
	require.NoError(h.t, err)
	h.t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "PUT /events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nmsr-req-id: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		testKey, batchID, len(goodBatch), goodBatch[:len(goodBatch)/2])
	require.NoError(h.t, err)
	return conn
}

// TestBrokenBodies: of a body that stops or comes too slowly nothing is taken, and the SDK is not told to delete the batch.
func TestBrokenBodies(t *testing.T) {
	h := start(t, nopHost, func(c *Config) { c.HTTP.ReadTimeout = 300 * time.Millisecond })
	unreadable := func(n int64) func() bool {
		return func() bool {
			return h.counts("requests_rejected")["reason=body_unreadable"] == n && h.shared.inFlight.Used() == 0
		}
	}
	conn := h.begin()
	require.Eventually(t, func() bool { return h.shared.inFlight.Used() > 0 }, time.Second, time.Millisecond)
	require.NoError(t, conn.Close())
	require.Eventually(t, unreadable(1), 2*time.Second, time.Millisecond, "abandoned")

	answer, err := io.ReadAll(h.begin())
	require.NoError(t, err)
	assert.Contains(t, string(answer), "HTTP/1.1 503 ", "slow")
	require.Eventually(t, unreadable(2), 2*time.Second, time.Millisecond)

	assert.Zero(t, h.sink.records)
	require.Equal(t, 200, h.events(batchID, goodBatch).status, "it comes again, whole")
	assert.Equal(t, 1, h.sink.records)
}

// TestGzipBomb: a body that inflates to 50 times the limit costs the memory of one at the limit.
func TestGzipBomb(t *testing.T) {
	h := start(t, nopHost, nil)
	send := func(body []byte) reply {
		return h.send(http.MethodPut, "/events", body, "Authorization", "Bearer "+testKey, "msr-req-id", uuid.NewString(), "Content-Type", "application/json", "Content-Encoding", "gzip")
	}
	var bomb, good bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&bomb, gzip.BestSpeed)
	for range 50 * defaultMaxRequestBodySize >> 20 {
		_, _ = zip.Write(bytes.Repeat([]byte(" "), 1<<20))
	}
	_ = zip.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := send(bomb.Bytes())
	runtime.ReadMemStats(&after)
	assert.Equal(t, 400, got.status, got.text)
	assert.Equal(t, map[string]int64{"reason=body_too_large": 1}, h.counts("requests_rejected"))
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(10*defaultMaxRequestBodySize))
	assert.Zero(t, h.shared.inFlight.Used())

	zip.Reset(&good)
	_, _ = zip.Write([]byte(goodBatch))
	_ = zip.Close()
	assert.Equal(t, 200, send(good.Bytes()).status)
	got = send(good.Bytes()[:good.Len()-10])
	assert.Equal(t, 400, got.status, "it came whole, and would come so for ever: %s", got.text)
}

// TestShutdownInMidRequest: a batch that is with a pipeline is finished and answered, and none is taken after.
func TestShutdownInMidRequest(t *testing.T) {
	h := start(t, nopHost, nil)
	hold := make(chan struct{})
	h.sink.hold = hold
	first, stopped := make(chan reply, 1), make(chan struct{})
	go func() { first <- h.events(batchID, goodBatch) }()
	require.Eventually(t, func() bool {
		h.shared.batches.mu.Lock()
		defer h.shared.batches.mu.Unlock()
		return len(h.shared.batches.running) == 1
	}, 5*time.Second, time.Millisecond)
	go func() { h.stop(); close(stopped) }()
	require.Eventually(t, h.shared.server.Stopping.Load, time.Second, time.Millisecond)
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", h.shared.server.Listener.Addr().String())
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, time.Second, time.Millisecond, "no new ones")
	select {
	case <-stopped:
		t.Fatal("the shutdown has not waited")
	case <-time.After(20 * time.Millisecond):
	}
	close(hold)
	assert.Equal(t, 200, (<-first).status)
	<-stopped
	assert.Equal(t, []int{1, 1, 1}, []int{h.sink.records, h.sink.spans, h.sink.points})
}

// TestManyLargeBatches: eight batches of 20 MiB at once, and room for three. The others come again, and all arrive once.
func TestManyLargeBatches(t *testing.T) {
	clients, limit := 8, httpbody.NeedOfOne(defaultMaxRequestBodySize)
	h := start(t, nopHost, func(c *Config) { c.MaxBytesInFlight = limit })
	hold := make(chan struct{})
	h.sink.hold = hold
	body := strings.Replace(goodBatch, "{", "{"+strings.Repeat(" ", defaultMaxRequestBodySize-len(goodBatch)), 1)
	var all sync.WaitGroup
	var refused atomic.Int64
	for range clients {
		all.Go(func() {
			id := uuid.NewString()
			for {
				got, err := h.try(id, body)
				switch {
				case err == nil && got == 200:
					return
				case err == nil && got != 503:
					t.Errorf("status %d", got)
					return
				}
				refused.Add(1)
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
	require.Eventually(t, func() bool { return refused.Load() >= int64(clients-3) }, 20*time.Second, time.Millisecond)
	h.shared.batches.mu.Lock()
	assert.LessOrEqual(t, len(h.shared.batches.running), 3)
	h.shared.batches.mu.Unlock()
	close(hold)
	all.Wait()
	assert.Equal(t, clients, h.sink.records)
	assert.NotZero(t, h.counts("requests_rejected")["reason=bytes_in_flight"])
	assert.Eventually(t, func() bool { return h.shared.inFlight.Used() == 0 }, time.Second, time.Millisecond)
}

// try sends a batch whose connection may be closed before all of it is sent, as when it is refused.
func (h *harness) try(id, body string) (status int, err error) {
	req, err := http.NewRequest(http.MethodPut, h.url+"/events", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + testKey, "msr-req-id": id, "Content-Type": "application/json"} {
		req.Header.Set(name, value)
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, errors.Join(err, resp.Body.Close())
}
