// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// minimumDrift is the drift above which Relay corrects the clock of a client (MINIMUM_CLOCK_DRIFT,
// relay-server/src/utils).
const minimumDrift = 55 * time.Minute

var timestampField = regexp.MustCompile(`"timestamp":([0-9.]+)`)

// asRelay returns the timestamp of an event in microseconds, after Relay's correction.
func asRelay(t *testing.T, body []byte, coding string, received time.Time) int64 {
	decoded, err := httpbody.Decoded(body, coding, 1<<20, nil)
	require.NoError(t, err)
	e, err := sentry.ReadEnvelope(decoded.Data)
	require.NoError(t, err)
	seconds, err := strconv.ParseFloat(string(timestampField.FindSubmatch(e.Items[0].Payload)[1]), 64)
	require.NoError(t, err)
	micros := int64(math.Round(seconds * 1e6))
	if drift := received.Sub(e.Header.SentAt); !e.Header.SentAt.IsZero() && (drift >= minimumDrift || drift <= -minimumDrift) {
		micros += drift.Microseconds()
	}
	return micros
}

// TestTimesOfStoredRequests: after three hours in the storage and a restart, Sentry computes the
// same timestamps as without the delay, for clients with a correct clock and for clients whose
// clock is hours off.
func TestTimesOfStoredRequests(t *testing.T) {
	for _, clock := range []time.Duration{0, 123456 * time.Microsecond, -30 * time.Minute, -50 * time.Minute, -2 * time.Hour, 5 * time.Hour} {
		for _, coding := range []string{httpbody.Identity, httpbody.Gzip} {
			synctest.Test(t, func(t *testing.T) {
				disk := &memoryStorage{}
				b := newBench(t, disk).run()
				var mu sync.Mutex
				want, got := map[string]int64{}, map[string]int64{}
				b.setAnswer(down)
				for n := range 20 {
					name := fmt.Sprint(n)
					client := time.Now().Add(clock)
					body := []byte(fmt.Sprintf("{\"sent_at\":%q}\n{\"type\":\"event\"}\n{\"timestamp\":%d.%06d}\n",
						client.UTC().Format("2006-01-02T15:04:05.000000Z"), client.Add(-time.Second).Unix(), n*7919))
					if coding != httpbody.Identity {
						body = compress(body)
					}
					want["/"+name] = asRelay(t, body, coding, time.Now())
					r := &request{Method: "POST", Target: "/" + name, Received: time.Now(), Endpoint: endpointEnvelope, Project: "1", Key: "k", Body: body,
						Header: map[string][]string{"Content-Encoding": {coding}}}
					claim := b.room.Claim(t.Context()).NeverWait()
					e := newEntry(r, claim)
					require.NoError(t, claim.Acquire(e.Weight))
					b.add(e)
					time.Sleep(time.Minute)
				}
				time.Sleep(3*time.Hour - 20*time.Minute)
				b.close()
				b = newBench(t, disk)
				b.answerWith = func(r *request) (int, map[string][]string) {
					mu.Lock()
					defer mu.Unlock()
					got[r.Target] = asRelay(t, r.Body, httpbody.Coding(r.Header["Content-Encoding"]), time.Now())
					return 200, nil
				}
				b.run()
				time.Sleep(time.Minute)
				mu.Lock()
				assert.Equal(t, want, got, "clock %s", clock)
				mu.Unlock()
				b.close()
			})
		}
	}
}
