// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHostile: after each attack the collector lives, has not had more memory than stated, and does its work: a valid profile
// comes out. Attacks that take more than one request are in hostile_connections_test.go.
func TestHostile(t *testing.T) {
	for _, attacks := range [][]attack{bombAttacks, envelopeAttacks, profileAttacks, smallestAttacks, itemAttacks} {
		for _, a := range attacks {
			t.Run(a.name, a.run)
		}
	}
}

// attack is one way to hurt a collector with a request, and the outcome that is safe.
type attack struct {
	name    string
	request func() request // made when its turn comes: some have 50 MB

	status       int
	reason       string   // the counter of items, samples or requests has it; "" = nothing is lost
	observations int      // timestamps that come out
	memory       int      // MiB, at the peak
	signals      []string // with pipelines, beside profiles
}

// Memory that the collector may have had at its peak, in MiB. Idle it has 65.
const (
	memorySmall = 160  // nothing much larger than the request is made of it
	memoryLimit = 400  // a body of max_request_body_size, 100 MiB, that grows as it comes
	memoryLarge = 1024 // a payload of 50 MB that is valid: decoded, translated, and marshalled by the exporter
)

// run has a collector of its own, so that the peak of its memory is this attack's.
func (a attack) run(t *testing.T) {
	backend := newSink(t)
	c := start(t, settings{sink: backend, signals: a.signals, limit: limitFor(a.memory)})
	hostile := a.request()

	begin := time.Now()
	got := c.send(t, hostile)
	took := time.Since(begin)
	assert.Equal(t, a.status, got.status, got.body)
	assert.Equal(t, a.observations, observations(t, backend.take()))
	if a.reason != "" {
		metrics, reason := c.scrape(t), "reason="+a.reason
		assert.Positive(t, metrics.sum("otelcol_receiver_sentry_items", reason)+
			metrics.sum("otelcol_receiver_sentry_samples_discarded", reason)+
			metrics.sum("otelcol_receiver_sentry_requests_rejected", reason), "counted with reason %s", a.reason)
	}
	c.checkServing(t, backend)
	checkLog(t, c, testKey, "forged")
	checkCardinality(t, c.scrape(t))
	c.report(t, len(hostile.body), got.status, took, a.memory)
}

// report checks the memory that an attack has taken, in MiB, and logs what attacks.awk makes a row of.
func (c *collector) report(t testing.TB, sent, status int, took time.Duration, memory int) {
	t.Helper()
	peak := c.peakMemory(t)
	assert.Less(t, peak, memory, "MiB of memory at the peak")
	t.Logf("%d bytes, answered %d in %s, peak memory %d of %d MiB", sent, status, took.Round(time.Millisecond), peak, memory)
}

// observations decodes and checks whatever came out, and counts the timestamps in it.
func observations(t testing.TB, messages [][]byte) (n int) {
	t.Helper()
	for _, message := range messages {
		profiles, err := decode(message)
		require.NoError(t, err)
		for _, sample := range onlyProfile(profiles).Samples().All() {
			n += sample.TimestampsUnixNano().Len()
		}
	}
	return n
}

// checkCardinality: no client can make up attributes of metrics.
func checkCardinality(t testing.TB, metrics points) {
	t.Helper()
	n := 0
	for _, p := range metrics {
		if strings.HasPrefix(p.name, "otelcol_receiver_sentry_") {
			n++
		}
	}
	assert.Less(t, n, 20, "points of the receiver's own metrics")
}

// checkServing: a valid profile still comes out.
func (c *collector) checkServing(t testing.TB, backend *sink) {
	t.Helper()
	require.True(t, c.running(), "the collector lives")
	got := c.send(t, chunk{}.request())
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Equal(t, 1, observations(t, backend.take()), "observations of a valid profile")
}
