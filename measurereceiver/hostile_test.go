// SPDX-License-Identifier: Apache-2.0

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

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
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

// TestBrokenBodies: of a body that stops or comes too slowly nothing is taken, and the SDK is not
// told to delete the batch.
func TestBrokenBodies(t *testing.T) {
	h := start(t, nopHost, func(c *Config) { c.HTTP.ReadTimeout = 300 * time.Millisecond })
	unreadable := func(n int64) func() bool {
		return func() bool {
			return h.counts("requests_rejected")["reason=body_unreadable"] == n && h.shared.inFlight.Used() == 0
		}
	}
	conn := h.begin()
	require.Eventually(t, func() bool { return h.shared.inFlight.Used() > 0 }, 30*time.Second, time.Millisecond)
	require.NoError(t, conn.Close())
	require.Eventually(t, unreadable(1), 30*time.Second, time.Millisecond, "abandoned")

	answer, err := io.ReadAll(h.begin())
	require.NoError(t, err)
	assert.Contains(t, string(answer), "HTTP/1.1 503 ", "slow")
	require.Eventually(t, unreadable(2), 30*time.Second, time.Millisecond)

	assert.Zero(t, h.sink.records)
	require.Equal(t, 200, h.events(batchID, goodBatch).status, "it comes again, whole")
	assert.Equal(t, 1, h.sink.records)
}

// TestGzipBomb: a body that inflates to 50 times the limit costs the memory of one at the limit.
func TestGzipBomb(t *testing.T) {
	limit := int64(2 << 20)
	if testsize.Full() {
		limit = defaultMaxRequestBodySize
	}
	h := start(t, nopHost, func(c *Config) { c.HTTP.MaxRequestBodySize = limit })
	send := func(body []byte) reply {
		return h.send(http.MethodPut, "/events", body, "Authorization", "Bearer "+testKey, "msr-req-id", uuid.NewString(), "Content-Type", "application/json", "Content-Encoding", "gzip")
	}
	var bomb, good bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&bomb, gzip.BestSpeed)
	for range 50 * limit >> 20 {
		_, _ = zip.Write(bytes.Repeat([]byte(" "), 1<<20))
	}
	_ = zip.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := send(bomb.Bytes())
	runtime.ReadMemStats(&after)
	assert.Equal(t, 400, got.status, got.text)
	assert.Equal(t, map[string]int64{"reason=body_too_large": 1}, h.counts("requests_rejected"))
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(10*limit))
	assert.Zero(t, h.shared.inFlight.Used())

	zip.Reset(&good)
	_, _ = zip.Write([]byte(goodBatch))
	_ = zip.Close()
	assert.Equal(t, 200, send(good.Bytes()).status)
	got = send(good.Bytes()[:good.Len()-10])
	assert.Equal(t, 400, got.status, "it came whole, and would come so for ever: %s", got.text)
}

// TestShutdownInMidRequest: a batch that is with a pipeline is finished and answered, and none is
// taken after.
func TestShutdownInMidRequest(t *testing.T) {
	h := start(t, nopHost, nil)
	hold := make(chan struct{})
	h.sink.hold = hold
	first, stopped := make(chan reply, 1), make(chan struct{})
	go func() { first <- h.events(batchID, goodBatch) }()
	require.Eventually(t, func() bool { return h.shared.batches.Pending() == 1 }, 30*time.Second, time.Millisecond)
	go func() { h.stop(); close(stopped) }()
	require.Eventually(t, h.shared.server.Stopping.Load, 30*time.Second, time.Millisecond)
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", h.shared.server.Listener.Addr().String())
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, 30*time.Second, time.Millisecond, "no new ones")
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

// TestManyLargeBatches: eight batches of 20 MiB at once, and room for three. The others come again,
// and all arrive once.
func TestManyLargeBatches(t *testing.T) {
	clients, limit := 8, httpbody.MaxPerRequest(defaultMaxRequestBodySize)
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
	require.Eventually(t, func() bool { return refused.Load() >= int64(clients-3) }, 30*time.Second, time.Millisecond)
	assert.LessOrEqual(t, h.shared.batches.Pending(), 3)
	close(hold)
	all.Wait()
	assert.Equal(t, clients, h.sink.records)
	assert.NotZero(t, h.counts("requests_rejected")["reason=bytes_in_flight"])
	assert.Eventually(t, func() bool { return h.shared.inFlight.Used() == 0 }, 30*time.Second, time.Millisecond)
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

// maxAnswerRatio is how many times the size of a batch its answer may have: an address for each
// attachment. The answer to a build may have half a megabyte: 512 mapping files at most.
const maxAnswerRatio = 10

// TestLongHost: the Host header stands in the address of each of many files, so it may have the
// length of a name only.
func TestLongHost(t *testing.T) {
	h := start(t, nopHost, func(c *Config) {
		c.Attachments.Directory, c.Builds.Enabled, c.Builds.Directory = t.TempDir(), true, t.TempDir()
	})
	var items []string
	for i := range 300 {
		var files []string
		for j := range 5 {
			files = append(files, fmt.Sprintf(`{"id":"7d0c2c0e-8a4b-4f0e-9a35-%012d","type":"screenshot","name":"a"}`, 5*i+j))
		}
		items = append(items, fmt.Sprintf(`{"id":"3c0a4e1e-7d51-4d7f-8f3e-%012d%s,"type":"session_start","attachments":[%s]}`, i, eventTail, strings.Join(files, ",")))
	}
	files := strings.Repeat(`{"type":"proguard","filename":"x"},`, 100)
	for path, body := range map[string]string{
		"/events": `{"events":[` + strings.Join(items, ",") + `]}`,
		"/builds": `{"version_name":"1","version_code":"1","build_type":"apk","build_size":1,"mappings":[` + files[:len(files)-1] + `]}`,
	} {
		for length, want := range map[int]int{maxHost: 200, maxHost + 1: 400, 60_000: 400} {
			req, err := http.NewRequest(http.MethodPut, h.url+path, strings.NewReader(body))
			require.NoError(t, err)
			req.Host = strings.Repeat("x", length)
			for name, value := range map[string]string{"Authorization": "Bearer " + testKey, "msr-req-id": uuid.NewString(), "Content-Type": "application/json"} {
				req.Header.Set(name, value)
			}
			resp, err := h.client.Do(req)
			require.NoError(t, err)
			answer, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			assert.Equal(t, want, resp.StatusCode, path)
			assert.LessOrEqual(t, len(answer), maxAnswerRatio*len(body)+512<<10, path)
		}
	}
	assert.Equal(t, map[string]int64{"reason=host": 4}, h.counts("requests_rejected"))
}

// TestMadeOfABody: what becomes of a body counts as bytes in flight until it is delivered, and
// never more than one request may have.
func TestMadeOfABody(t *testing.T) {
	const limit = 1 << 20
	h := start(t, nopHost, func(c *Config) { c.HTTP.MaxRequestBodySize, c.MaxBytesInFlight = limit, httpbody.MaxPerRequest(limit) })
	used := func(body string) (held int64) {
		hold, done := make(chan struct{}), make(chan reply, 1)
		h.sink.mu.Lock()
		h.sink.hold = hold
		h.sink.mu.Unlock()
		id := uuid.NewString()
		go func() { done <- h.events(id, body) }()
		require.Eventually(t, func() bool { return h.shared.batches.Pending() == 1 }, 30*time.Second, time.Millisecond)
		held = h.shared.inFlight.Used()
		close(hold)
		assert.Equal(t, 200, (<-done).status)
		return held
	}
	frames := func(n int) string {
		return eventHead + `7` + eventTail + `,"type":"exception","exception":{"framework":"js","exceptions":[{"frames":[` + strings.Repeat(`{},`, n) + `{}]}]}}`
	}
	heavy := `{"events":[` + frames(10_000) + `]}`
	assert.Greater(t, used(heavy), int64(10_000*300), "of %d bytes", len(heavy))
	heaviest := `{"events":[` + frames(19_000)
	for i := range 8 {
		heaviest += "," + strings.Replace(frames(19_000), eventHead+`7`, eventHead+fmt.Sprint(i), 1)
	}
	assert.LessOrEqual(t, used(heaviest+`]}`), httpbody.MaxPerRequest(limit))
	require.Eventually(t, func() bool { return h.shared.inFlight.Used() == 0 }, 30*time.Second, time.Millisecond)
}

// TestResponseIsBounded: the response repeats the name of each file, escaped, in the file name and
// in a header.
func TestResponseIsBounded(t *testing.T) {
	h := start(t, nopHost, func(c *Config) {
		c.Attachments.Directory, c.Attachments.TokenSecret = t.TempDir(), "secret"
	})
	const longestHeader, filesOfAnEvent = 256, 5
	var events []string
	for range 100 {
		var files []string
		for range filesOfAnEvent {
			files = append(files, `{"id":"`+uuid.NewString()+`","type":"screenshot","name":"`+strings.Repeat("<", longestHeader)+`"}`)
		}
		events = append(events, `{"id":"`+uuid.NewString()+`","session_id":"`+batchID+`","timestamp":"2026-08-01T10:00:00Z",`+
			`"attribute":{"installation_id":"`+batchID+`","app_version":"1","app_build":"1","app_unique_id":"a","measure_sdk_version":"1","os_name":"android",`+
			`"network_type":"vpn","network_generation":"2g"},"type":"screen_view","screen_view":{"name":"c"},"attachments":[`+strings.Join(files, ",")+`]}`)
	}
	body := `{"events":[` + strings.Join(events, ",") + `]}`
	got := h.events(batchID, body)
	require.Equal(t, 200, got.status, got.text)
	ratio := float64(len(got.text)) / float64(len(body))
	t.Logf("%.1f times the batch", ratio)
	assert.LessOrEqual(t, ratio, 10.0, "as docs/measure.md states")
	assert.Greater(t, ratio, 8.0)
}
