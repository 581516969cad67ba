// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// latest returns the longest time from the reception of an accepted request to its arrival.
// received are the times of reception.
func (b *bench) latest(received map[string]time.Time) (latest time.Duration, arrived int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.attempts {
		if at, good := received[a.target]; good && a.status == http.StatusOK {
			latest = max(latest, a.at.Sub(at))
			arrived++
		}
	}
	return latest, arrived
}

// sendNoting sends a request and notes its time.
func (b *bench) sendNoting(received map[string]time.Time, project, name string) {
	received["/"+name] = time.Now()
	b.send(project, name, 10)
}

func isBad(r *request) bool { return strings.HasPrefix(r.Target, "/bad") }

// refuseBad is a Sentry that never accepts some requests.
func refuseBad(r *request) int {
	if isBad(r) {
		return http.StatusInternalServerError
	}
	return http.StatusOK
}

// TestRetriesWaitForTheirOwnPause: a request that failed once is not behind others that failed
// often and wait for a minute.
func TestRetriesWaitForTheirOwnPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, &memoryStorage{}).run()
		b.setAnswer(refuseBad)
		for n := range 9 {
			b.send("1", fmt.Sprint("bad", n), 10)
		}
		time.Sleep(65 * time.Second) // their pauses are long now
		b.setAnswer(func(*request) int { return http.StatusBadGateway })
		received := map[string]time.Time{}
		b.sendNoting(received, "1", "good")
		synctest.Wait()
		b.setAnswer(refuseBad)
		time.Sleep(2 * time.Minute)
		latest, arrived := b.latest(received)
		assert.Equal(t, 1, arrived)
		assert.Less(t, latest, 3*time.Second)
		b.close()
	})
}

// TestRetriesOccupyNotAllConsumers: requests to which Sentry never replies occupy a consumer for
// the timeout each, again and again.
func TestRetriesOccupyNotAllConsumers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, &memoryStorage{}, func(cfg *Config) { cfg.NumConsumers = 4 }).run()
		b.setAnswer(func(r *request) int {
			if isBad(r) {
				time.Sleep(30 * time.Second)
				return 0
			}
			return http.StatusOK
		})
		for n := range 40 {
			b.send("1", fmt.Sprint("bad", n), 10)
			time.Sleep(15 * time.Second)
			b.send("1", fmt.Sprint("between", n), 10) // so that these failures are not an outage
		}
		time.Sleep(time.Minute)
		received := map[string]time.Time{}
		for n := range 300 {
			b.sendNoting(received, "1", fmt.Sprint("good", n))
			time.Sleep(time.Second)
		}
		latest, arrived := b.latest(received)
		assert.Equal(t, 300, arrived)
		assert.Less(t, latest, time.Second)
		b.close()
	})
}

// TestRefusedRequestsOfAnEarlierRun: a restart forgets which requests Sentry has refused. They do
// not keep forwarding paused.
func TestRefusedRequestsOfAnEarlierRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &memoryStorage{}
		b := newBench(t, disk).run()
		b.setAnswer(refuseBad)
		for n := range 40 {
			b.send("1", fmt.Sprint("bad", n), 10)
			b.send("1", fmt.Sprint("before", n), 10)
		}
		time.Sleep(30 * time.Second)
		b.setAnswer(down)
		received := map[string]time.Time{}
		for n := range 5 {
			b.sendNoting(received, "1", fmt.Sprint("stored", n))
		}
		synctest.Wait()
		b.close()

		restarted := time.Now()
		for name := range received {
			received[name] = restarted
		}
		next := newBench(t, disk)
		next.setAnswer(refuseBad)
		next.run()
		for n := range 20 {
			time.Sleep(time.Second)
			next.sendNoting(received, "1", fmt.Sprint("new", n))
		}
		time.Sleep(5 * time.Minute)
		latest, arrived := next.latest(received)
		assert.Equal(t, 25, arrived)
		assert.Less(t, latest, 10*time.Second)
		next.close()
	})
}

// TestRefusedProjectPausesNoOther: Sentry accepts nothing of a project that sends most requests.
func TestRefusedProjectPausesNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, &memoryStorage{}).run()
		b.setAnswer(refuseBad)
		received := map[string]time.Time{}
		for n := range 600 {
			b.send("1", fmt.Sprint("bad", n), 10)
			if n%20 == 0 {
				b.sendNoting(received, "2", fmt.Sprint("good", n))
			}
			time.Sleep(50 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		latest, arrived := b.latest(received)
		assert.Equal(t, 30, arrived)
		assert.Less(t, latest, 10*time.Second)
		b.close()
	})
}
