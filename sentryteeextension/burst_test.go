// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/journal"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/omit"
)

// front is the HTTP handler of a tee in front of a receiver that accepts everything.
func (b *bench) front() http.Handler {
	t := &tee{cfg: b.cfg, logger: zap.NewNop(), telemetry: b.forwarder.telemetry, forwarder: b.forwarder, via: product + "test"}
	handler, _ := t.wrap(b.t.Context(), http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		_, _ = io.WriteString(w, "{}")
	}))
	return handler
}

// burst sends requests of a size by concurrent clients, each as fast as it receives responses. It
// returns the number of responses by status, and the longest time to a response.
func burst(handler http.Handler, project string, requests, clients, size int) (statuses map[int]int, slowest time.Duration) {
	var mu sync.Mutex
	var sending sync.WaitGroup
	statuses = map[int]int{}
	body := bytes.Repeat([]byte("x"), size)
	for client := range clients {
		sending.Go(func() {
			for n := client; n < requests; n += clients {
				path := fmt.Sprintf("/api/%s/envelope/?n=%d&sentry_key=%s", project, n, testKey)
				w, begin := httptest.NewRecorder(), time.Now()
				handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body)))
				mu.Lock()
				statuses[w.Code]++
				slowest = max(slowest, time.Since(begin))
				mu.Unlock()
			}
		})
	}
	sending.Wait()
	return statuses, slowest
}

// TestBurst: a burst that is larger than the memory, to a healthy Sentry that accepts 480 requests
// per second. Everything arrives that was answered with 200; clients wait instead, but less than
// they time out.
func TestBurst(t *testing.T) {
	requests, clients := 2400, []int{16, 64}
	if !testsize.Full() {
		requests, clients = 1200, clients[:1]
	}
	for name, newDisk := range map[string]func() *memoryStorage{
		"in memory": func() *memoryStorage { return nil }, "stored": func() *memoryStorage { return &memoryStorage{} },
		"on a slow disk": func() *memoryStorage { return &memoryStorage{rate: 5_000_000} },
	} {
		for _, clients := range clients {
			t.Run(fmt.Sprint(name, " ", clients), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBench(t, newDisk()).run()
					b.setAnswer(func(*request) int { time.Sleep(time.Second * defaultNumConsumers / 480); return http.StatusOK })
					statuses, slowest := burst(b.front(), "1", requests, clients, 64_000)
					time.Sleep(time.Minute)
					t.Logf("slowest response: %s", slowest)
					assert.Equal(t, map[int]int{http.StatusOK: requests}, statuses)
					assert.Len(t, b.sent(), requests)
					assert.Equal(t, map[string]int64{"envelope forwarded": int64(requests)}, b.counts())
					assert.LessOrEqual(t, slowest, maxStoreWait+maxRoomWait)
					b.close()
				})
			})
		}
	}
}

// TestBurstInAnOutage: without storage, the memory has the latest requests of an outage. Clients do
// not wait, and a project that sends little loses nothing.
func TestBurstInAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil).run()
		b.setAnswer(down)
		_, _ = burst(b.front(), "3", 20, 1, 10) // the outage is noticed
		synctest.Wait()
		_, _ = burst(b.front(), "2", 20, 1, 10)
		statuses, slowest := burst(b.front(), "1", 1200, 1, 64_000)
		assert.Equal(t, map[int]int{http.StatusOK: 1200}, statuses)
		assert.Zero(t, slowest)
		kept := b.observe().requests
		b.setAnswer(nil)
		time.Sleep(5 * time.Minute)
		counts := b.counts()
		assert.Equal(t, map[string]int64{"envelope forwarded": kept, "envelope dropped no_room": 1240 - kept}, counts)
		of := map[string]int{}
		for target := range b.sent() {
			of[strings.Split(target, "/")[2]]++
		}
		assert.Equal(t, 20, of["2"])
		assert.Greater(t, kept, int64(700))
		assert.Equal(t, 1, b.sent()["/api/1/envelope/?n=1199&sentry_key="+testKey], "the latest")
		b.close()
	})
}

// TestHangingDisk: clients wait for a disk that does not respond, but not for ever, and their
// requests are sent from memory. Nor does a shutdown wait.
func TestHangingDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &memoryStorage{}
		b := newBench(t, disk).run()
		synctest.Wait()
		disk.delay = time.Hour
		statuses, slowest := burst(b.front(), "1", 10, 1, 100)
		assert.Equal(t, map[int]int{http.StatusOK: 10}, statuses)
		assert.Equal(t, maxStoreWait, slowest)
		synctest.Wait()
		assert.Len(t, b.sent(), 10)
		h := harness{t: t, telemetry: b.telemetry}
		assert.Equal(t, map[string]int64{"store": 10}, h.counts("storage_errors"))
		assert.ErrorIs(t, b.stop(t.Context()), journal.ErrSlow)
		time.Sleep(100 * time.Hour)
	})
}

// TestShutdownWithHangingDisk: a shutdown waits neither for a report that is being stored, nor for
// a request that is being read.
func TestShutdownWithHangingDisk(t *testing.T) {
	for name, prepare := range map[string]func(*bench){
		"report": func(b *bench) {
			b.reports.add(key{"1", testKey}, omit.Losses{{Outcome: "filtered", Reason: "x", Category: "span"}: 1}, 1)
		},
		"request": func(b *bench) {
			b.setAnswer(down)
			_, _ = burst(b.front(), "1", 50, 1, 100)
			b.setAnswer(nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				disk := &memoryStorage{}
				b := newBench(t, disk).run()
				prepare(b)
				synctest.Wait()
				disk.set(func(map[string][]byte) { disk.delay = time.Hour })
				time.Sleep(time.Minute)
				begin := time.Now()
				_ = b.stop(t.Context())
				assert.LessOrEqual(t, time.Since(begin), 4*stopGrace)
				time.Sleep(100 * time.Hour)
			})
		})
	}
}
