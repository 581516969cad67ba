// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.uber.org/zap"
)

// bench is a forwarder with a fake clock and without a network.
type bench struct {
	*forwarder
	t         *testing.T
	telemetry *componenttest.Telemetry

	mu     sync.Mutex
	answer func(*request) int // returns a status, 0 = no response; nil = always 200
	// answerWith also returns headers. It processes one request at a time.
	answerWith func(*request) (int, map[string][]string)
	// postWith replaces both, and processes requests concurrently.
	postWith func(*bench, *request) (int, map[string][]string)
	attempts []attempt
}

type attempt struct {
	at     time.Time
	target string
	status int
}

func newBench(t *testing.T, disk *memoryStorage, edit ...func(*Config)) *bench {
	if disk == nil {
		return newBenchOn(t, nil, edit...)
	}
	return newBenchOn(t, disk, edit...)
}

// newBenchOn uses a storage extension; nil = none.
func newBenchOn(t *testing.T, disk component.Component, edit ...func(*Config)) *bench {
	b := &bench{t: t, telemetry: componenttest.NewTelemetry()}
	cfg := testConfig("https://sentry.example", edit...)
	extensions := map[component.ID]component.Component{}
	if disk != nil {
		cfg.Storage = &storageID
		extensions[storageID] = disk
	}
	telemetry, err := newTelemetry(b.telemetry.NewTelemetrySettings())
	require.NoError(t, err)
	b.forwarder = newForwarder(cfg, zap.NewNop(), telemetry)
	telemetry.observe(b.observe)
	if disk != nil {
		require.NoError(t, b.openSpool(t.Context(), host{componenttest.NewNopHost(), extensions}, component.NewID(componentType)))
	}
	return b
}

func (b *bench) run() *bench { b.start(b.fakePost); return b }

func (b *bench) fakePost(ctx context.Context, r *request) (reply, time.Duration) {
	if b.postWith != nil {
		status, header := b.postWith(b, r)
		if status == 0 {
			return reply{verdict: failed, reason: reasonNetwork, err: errors.New("connection refused")}, 0
		}
		answered := replyOf(status)
		answered.header, answered.body = header, []byte("{}")
		return answered, 0
	}
	b.mu.Lock()
	answer := b.answer
	b.mu.Unlock()
	status := http.StatusOK
	if answer != nil {
		status = answer(r)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var header map[string][]string
	if b.answerWith != nil {
		status, header = b.answerWith(r)
	}
	b.attempts = append(b.attempts, attempt{time.Now(), r.Target, status})
	if status == 0 {
		return reply{verdict: failed, reason: reasonNetwork, err: errors.New("connection refused")}, 0
	}
	answered := replyOf(status)
	answered.header = header
	return answered, 0
}

func (b *bench) setAnswer(answer func(*request) int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answer = answer
}

// send adds a request of a project.
func (b *bench) send(project, name string, size int) {
	b.sendBody(project, name, strings.Repeat("x", size))
}

func (b *bench) sendBody(project, name, body string) {
	r := &request{Method: "POST", Target: "/" + name, Received: time.Now(), Endpoint: endpointEnvelope, Project: project, Key: "k", Body: []byte(body)}
	claim := b.room.Claim(b.t.Context()).NeverWait()
	claim.SetTenant(project)
	e := newEntry(r, claim)
	require.NoError(b.t, claim.Acquire(e.Weight))
	b.add(e)
}

// sent returns how often Sentry accepted each request.
func (b *bench) sent() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	sent := map[string]int{}
	for _, a := range b.attempts {
		if a.status == http.StatusOK {
			sent[a.target]++
		}
	}
	return sent
}

func (b *bench) counts() map[string]int64 {
	h := harness{t: b.t, telemetry: b.telemetry}
	return h.counts("requests")
}

// close stops the forwarder and returns its counters.
func (b *bench) close() map[string]int64 {
	b.t.Helper()
	require.NoError(b.t, b.stop(context.Background()))
	assert.Zero(b.t, b.room.Used(), "memory that nobody gave back")
	counts := b.counts()
	require.NoError(b.t, b.telemetry.Shutdown(context.Background()))
	return counts
}

func down(*request) int { return 0 }

// TestOutage: requests from an outage of Sentry arrive afterwards, exactly once, at a limited rate,
// after few failed attempts.
func TestOutage(t *testing.T) {
	for _, disk := range []*memoryStorage{nil, {}} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, disk).run()
			b.setAnswer(down)
			for n := range 1000 {
				b.send("1", fmt.Sprint(n), 100)
				time.Sleep(time.Second)
			}
			synctest.Wait()
			assert.Less(t, len(b.attempts), 60)
			assert.EqualValues(t, 1000, b.observe().requests)
			assert.InDelta(t, 1000, b.observe().oldest.Seconds(), 60)
			if disk != nil {
				assert.Zero(t, b.room.Used(), "what waits is on the disk only")
			}
			b.setAnswer(nil)
			back := time.Now()
			require.Eventually(t, func() bool { return b.observe().requests == 0 }, 10*time.Minute, 100*time.Millisecond)
			for name, times := range b.sent() {
				assert.Equal(t, 1, times, name)
			}
			assert.Len(t, b.sent(), 1000)
			if disk != nil {
				assert.GreaterOrEqual(t, time.Since(back), 9*time.Second, "a hundred per second")
			}
			b.send("1", "live", 100)
			synctest.Wait()
			assert.Equal(t, 1, b.sent()["/live"])
			assert.Equal(t, map[string]int64{"envelope forwarded": 1001}, b.counts())
			b.close()
			if disk != nil {
				assert.Len(t, disk.values, 1, "the range")
			}
		})
	}
}

// TestNoRequestStopsAnother: Sentry never accepts one request in five. It is dropped after ten
// refusals, and delays no other request by a minute.
func TestNoRequestStopsAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, &memoryStorage{}).run()
		b.setAnswer(func(r *request) int {
			if strings.HasPrefix(r.Target, "/bad") {
				return http.StatusInternalServerError
			}
			return http.StatusOK
		})
		for n := range 500 {
			b.send("1", fmt.Sprint(n), 10)
			if n%5 == 0 {
				b.send("2", fmt.Sprint("bad", n), 10)
			}
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		assert.Len(t, b.sent(), 500)
		for n := range 600 { // Sentry accepts others, so the refusals count
			b.send("1", fmt.Sprint("more", n), 10)
			time.Sleep(time.Second)
		}
		synctest.Wait()
		assert.Equal(t, map[string]int64{"envelope forwarded": 1100, "envelope dropped retries_exhausted": 100}, b.counts())
		b.close()
	})
}

// TestSilentServer: the server of a project never responds. The requests of other projects do not
// wait for its timeouts.
func TestSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, &memoryStorage{}).run()
		b.setAnswer(func(r *request) int {
			if strings.HasPrefix(r.Target, "/silent") {
				time.Sleep(defaultTimeout)
				return 0
			}
			return http.StatusOK
		})
		for n := range 200 {
			b.send("1", fmt.Sprint("silent", n), 10)
		}
		for n := range 100 {
			b.send("2", fmt.Sprint(n), 10)
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		assert.Len(t, b.sent(), 100, "before the first timeout")
		b.close()
	})
}

// TestRetriesOfOutagesAreNoRefusals: while all requests fail, none is dropped for failing.
func TestRetriesOfOutagesAreNoRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil).run()
		b.setAnswer(func(*request) int { return http.StatusBadGateway })
		b.send("1", "a", 10)
		time.Sleep(20 * time.Hour)
		synctest.Wait()
		assert.Greater(t, len(b.attempts), 100)
		b.setAnswer(nil)
		time.Sleep(2 * time.Minute)
		assert.Equal(t, map[string]int{"/a": 1}, b.sent())
		b.close()
	})
}

func TestTooOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &memoryStorage{}
		b := newBench(t, disk).run()
		b.setAnswer(down)
		b.send("1", "old", 10)
		time.Sleep(12 * time.Hour)
		b.send("1", "young", 10)
		time.Sleep(12*time.Hour + time.Minute)
		synctest.Wait()
		assert.Equal(t, map[string]int64{"envelope dropped too_old": 1}, b.counts())
		b.setAnswer(nil)
		time.Sleep(2 * time.Minute)
		assert.Equal(t, map[string]int{"/young": 1}, b.sent())
		b.close()
	})
}

// TestShutdown: without a storage, waiting requests are sent or counted; with one, the next run
// sends them.
func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil, func(cfg *Config) { cfg.NumConsumers = 1 }).run()
		b.setAnswer(func(*request) int { time.Sleep(time.Second); return http.StatusOK })
		for n := range 10 {
			b.send("1", fmt.Sprint(n), 10)
		}
		begin := time.Now()
		counts := b.close()
		t.Logf("%s, %d requests", time.Since(begin), len(b.sent()))
		assert.LessOrEqual(t, time.Since(begin), stopGrace+time.Second, "the request under way has another second")
		assert.GreaterOrEqual(t, len(b.sent()), 4)
		assert.EqualValues(t, 10, counts["envelope forwarded"]+counts["envelope dropped shutdown"], "%v", counts)
	})
	synctest.Test(t, func(t *testing.T) {
		disk := &memoryStorage{}
		b := newBench(t, disk).run()
		b.setAnswer(down)
		for n := range 10 {
			b.send("1", fmt.Sprint(n), 10)
		}
		time.Sleep(time.Minute)
		assert.Empty(t, b.close())
		next := newBench(t, disk)
		assert.EqualValues(t, 10, next.observe().requests)
		next.run()
		time.Sleep(time.Minute)
		assert.Len(t, next.sent(), 10)
		next.close()
	})
}

// TestKill: after a kill, the disk has every request that add accepted. Only requests of the last
// writes are sent twice.
func TestKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &memoryStorage{delay: time.Millisecond}
		b := newBench(t, disk).run()
		b.setAnswer(down)
		var senders sync.WaitGroup
		for n := range 100 {
			senders.Go(func() { b.send("1", fmt.Sprint(n), 10) })
		}
		senders.Wait()
		synctest.Wait()
		copied := &memoryStorage{values: maps.Clone(disk.values)} // the disk at the time of the kill
		next := newBench(t, copied).run()
		time.Sleep(time.Minute)
		assert.Len(t, next.sent(), 100)
		next.close()
		synctest.Wait()
		assert.Less(t, disk.batches, 100, "requests share transactions")
		b.close()
	})
}
