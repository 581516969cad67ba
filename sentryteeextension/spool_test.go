// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"fmt"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/journal/journaltest"
)

func TestRecordOf(t *testing.T) {
	r := &request{Method: "POST", Target: "/api/1/envelope/?a=%20", Header: http.Header{"User-Agent": {""}, "Accept": {"a", "b"}},
		Received: time.Unix(1_700_000_000, 123_456_789).UTC(), Endpoint: "envelope", Project: "1", Key: "k", Body: []byte{0, 0xff, '\n'}}
	record, err := recordOf(r)
	require.NoError(t, err)
	again, err := requestOf(record)
	require.NoError(t, err)
	assert.Equal(t, r, again)
}

// TestDamagedStorage: readable requests are sent, unreadable ones are counted, and those of a later
// version stay in the storage.
func TestDamagedStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &memoryStorage{}
		b := newBench(t, disk).run()
		b.setAnswer(down)
		for n := range 4 {
			b.send("1", fmt.Sprint(n), 10)
		}
		b.close()
		newer := collector.AppendChecksum([]byte{100})
		disk.set(func(values map[string][]byte) { values["2"][7] ^= 1; values["3"] = newer })
		next := newBench(t, disk).run()
		time.Sleep(time.Minute)
		assert.Equal(t, map[string]int{"/0": 1, "/3": 1}, next.sent())
		h := harness{t: t, telemetry: next.telemetry}
		assert.Equal(t, map[string]int64{"load": 2}, h.counts("storage_errors"))
		next.send("1", "new", 10)
		synctest.Wait()
		next.close()
		assert.Equal(t, map[string][]byte{"3": newer, "range": disk.values["range"], "range.newer": disk.values["range.newer"]}, disk.values)

		disk.set(func(values map[string][]byte) { values["range"] = []byte("?") })
		last := newBench(t, disk).run()
		last.send("1", "anew", 10)
		synctest.Wait()
		assert.Len(t, last.sent(), 1)
		last.close()
	})
}

// TestDamageAfterTheStart: damage is detected when the request is read again.
func TestDamageAfterTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &memoryStorage{}
		b := newBench(t, disk).run()
		b.setAnswer(down)
		for n := range 20 {
			b.send("1", fmt.Sprint(n), 10)
		}
		time.Sleep(time.Minute)
		disk.set(func(values map[string][]byte) { values["7"][9] ^= 1; delete(values, "8") })
		b.setAnswer(nil)
		time.Sleep(3 * time.Minute)
		assert.Len(t, b.sent(), 18)
		assert.Equal(t, map[string]int64{"envelope forwarded": 18, "envelope dropped unreadable": 2}, b.counts())
		b.close()
	})
}

// TestFullDisk: requests that cannot be stored are sent from memory, and stored requests are not
// lost.
func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &memoryStorage{}
		b := newBench(t, disk).run()
		b.setAnswer(down)
		for n := range 10 {
			b.send("1", fmt.Sprint(n), 1000)
		}
		time.Sleep(time.Minute)
		disk.mu.Lock()
		disk.most = 1
		disk.mu.Unlock()
		for n := range 10 {
			b.send("1", fmt.Sprint("full", n), 1000)
		}
		assert.Positive(t, b.room.Used())
		b.setAnswer(nil)
		time.Sleep(3 * time.Minute)
		assert.Len(t, b.sent(), 20)
		disk.mu.Lock()
		disk.most = 0
		disk.mu.Unlock()
		b.send("1", "last", 10)
		synctest.Wait()
		assert.Len(t, b.sent(), 21)
		b.close()
	})
}

// TestFairShares: a project that fills the storage loses only its own requests.
func TestFairShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, &memoryStorage{}, func(cfg *Config) { cfg.Spool.MaxBytes = minSpoolBytes }).run()
		b.setAnswer(down)
		for n := range 20 {
			b.send("2", fmt.Sprint("small", n), 1000)
		}
		time.Sleep(time.Minute)
		for n := range 100 {
			b.send("1", fmt.Sprint("flood", n), 1<<20)
			assert.LessOrEqual(t, b.observe().spoolBytes, int64(minSpoolBytes))
			time.Sleep(time.Second)
		}
		b.setAnswer(nil)
		time.Sleep(5 * time.Minute)
		sent := b.sent()
		for n := range 20 {
			assert.Equal(t, 1, sent[fmt.Sprint("/small", n)])
		}
		assert.Equal(t, 1, sent["/flood99"], "the newest of the flood")
		assert.EqualValues(t, 120, b.counts()["envelope forwarded"]+b.counts()["envelope dropped spool_full"])
		b.close()
	})
}

// TestEarlierStorage: the requests and losses that a build of November 2026 stored before it was
// killed are read, and rewritten in the current format.
func TestEarlierStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &memoryStorage{values: journaltest.Read(t, "testdata/stored.txt")}
		losses := `[{"Project":"42","Key":"k","Events":[{"reason":"sample_rate","category":"transaction","quantity":7}]}]`
		disk.values[keyLosses] = collector.AppendChecksum(append([]byte{1}, losses...))
		b := newBench(t, disk)
		b.setAnswer(down)
		b.run()
		synctest.Wait()
		assert.EqualValues(t, 4, b.observe().requests)
		for _, all := range b.reports.all() {
			assert.Len(t, all, 1)
		}
		require.NoError(t, b.stop(t.Context()))
		assert.Equal(t, byte(3), disk.values["4"][0])

		b = newBench(t, disk)
		var bodies []string
		b.answerWith = func(r *request) (int, map[string][]string) {
			bodies = append(bodies, string(r.Body))
			return http.StatusOK, nil
		}
		b.run()
		time.Sleep(time.Minute)
		assert.Equal(t, map[string]int64{"envelope forwarded": 4, "client_report forwarded": 1}, b.close())
		assert.Len(t, bodies, 5)
		for _, name := range []string{"event-python", "all-fields-transaction", "envelope-profile-chunk-ui", "all-fields-spans"} {
			sent, err := os.ReadFile("../testdata/cases/" + name + "/in.envelope")
			require.NoError(t, err)
			assert.Contains(t, bodies, string(sent), name)
		}
	})
}
