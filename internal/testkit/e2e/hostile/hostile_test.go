// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestHostile: after each attack the collector lives, has not had more memory than stated, and does its work: a valid profile
// comes out. Attacks that take more than one request are in hostile_connections_test.go.
func TestHostile(t *testing.T) {
	for _, attacks := range [][]attack{bombAttacks, envelopeAttacks, profileAttacks, androidAttacks, smallestAttacks, itemAttacks} {
		for _, a := range attacks {
			t.Run(a.name, a.run)
		}
	}
}

// attack is one way to hurt a collector with a request, and the outcome that is safe.
type attack struct {
	name    string
	request func() harness.Request // made when its turn comes: some have 50 MB

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

// attackLimit is how many MiB of data the kernel allows a collector under an attack, unless the attack may take more.
const attackLimit = 1024

// limitFor returns the limit under an attack that may take so many MiB; 0 = the harness's own.
func limitFor(memory int) int {
	if memory > attackLimit {
		return 0
	}
	return attackLimit
}

// run has a collector of its own, so that the peak of its memory is this attack's.
func (a attack) run(t *testing.T) {
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{Sink: backend, Signals: a.signals, MemoryLimit: limitFor(a.memory)})
	hostile := a.request()

	begin := time.Now()
	got := c.Send(t, hostile)
	took := time.Since(begin)
	assert.Equal(t, a.status, got.Status, got.Body)
	assert.Equal(t, a.observations, harness.CountObservations(t, backend.DrainProfiles()))
	if a.reason != "" {
		metrics, reason := c.Scrape(t), "reason="+a.reason
		assert.Positive(t, metrics.Sum("otelcol_receiver_sentry_items", reason)+
			metrics.Sum("otelcol_receiver_sentry_samples_discarded", reason)+
			metrics.Sum("otelcol_receiver_sentry_requests_rejected", reason), "counted with reason %s", a.reason)
	}
	checkServing(t, c, backend)
	harness.CheckLog(t, c, harness.TestKey, "forged")
	checkCardinality(t, c.Scrape(t))
	reportAttack(t, c, len(hostile.Body), got.Status, took, a.memory)
}

// reportAttack checks the memory that an attack has taken, in MiB, and logs the line that attacks.awk reads.
func reportAttack(t testing.TB, c *harness.Collector, sent, status int, took time.Duration, memory int) {
	t.Helper()
	peak := c.RequirePeakMemory(t)
	assert.Less(t, peak, memory, "MiB of memory at the peak")
	t.Logf("%d bytes, answered %d in %s, peak memory %d of %d MiB", sent, status, took.Round(time.Millisecond), peak, memory)
}

// checkCardinality: no client can make up attributes of metrics.
func checkCardinality(t testing.TB, metrics harness.Metrics) {
	t.Helper()
	n := 0
	for _, p := range metrics {
		if strings.HasPrefix(p.Name, "otelcol_receiver_sentry_") {
			n++
		}
	}
	assert.Less(t, n, 20, "points of the receiver's own metrics")
}

// checkServing: a valid profile still comes out.
func checkServing(t testing.TB, c *harness.Collector, backend *harness.Sink) {
	t.Helper()
	require.True(t, c.Running(), "the collector lives")
	got := c.Send(t, harness.Chunk{}.Request())
	require.Equal(t, http.StatusOK, got.Status, got.Body)
	require.Equal(t, 1, harness.CountObservations(t, backend.DrainProfiles()), "observations of a valid profile")
}
