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

func TestHostileBombs(t *testing.T) {
	varies(t, "small bodies that decompress to large ones, and stated sizes of bodies")
	runAttacks(t, bombAttacks)
}

func TestHostileEnvelopes(t *testing.T) {
	varies(t, "lengths, headers and number of items")
	runAttacks(t, envelopeAttacks)
}

func TestHostileProfiles(t *testing.T) {
	varies(t, "number of each element, indices, numbers, nesting and text of profiles")
	runAttacks(t, profileAttacks)
}

func TestHostileART(t *testing.T) {
	varies(t, "threads, events, times and names of Android's ART traces")
	runAttacks(t, artAttacks)
}

func TestHostilePerfetto(t *testing.T) {
	varies(t, "interned text, sequences and call stacks of Perfetto traces")
	runAttacks(t, perfettoAttacks)
}

func TestHostileSmallest(t *testing.T) {
	varies(t, "lists of the smallest elements that JSON permits")
	runAttacks(t, smallestAttacks)
}

func TestHostileItems(t *testing.T) {
	varies(t, "items other than profiles; the OTLP, store, minidump and security endpoints; paths and project IDs")
	runAttacks(t, itemAttacks)
}

// varies logs what a class of attacks varies, for its row in docs/attacks.md.
func varies(t *testing.T, what string) {
	t.Helper()
	t.Log("varies " + what)
}

// runAttacks sends attacks of one request each. After each, the collector still runs, has used no
// more memory than its bound, and delivers a valid profile.
func runAttacks(t *testing.T, attacks []attack) {
	for _, a := range attacks {
		t.Run(a.name, parallel(a.run))
	}
}

// parallel lets attacks run at the same time. Each has a collector of its own, and its bounds are
// those of this collector: memory, CPU time, bytes.
func parallel(run func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		run(t)
	}
}

// hang is the time after which a request of an instant, or a timeout of a second, counts as one
// that does not end.
const hang = 20 * time.Second

// attack is an attack by one request, with its safe outcome.
type attack struct {
	name    string
	request func() harness.Request // created on demand, because some have 50 MB

	status       int
	reason       string   // reason in the metrics of items, samples or requests; "" = nothing is lost
	observations int      // number of timestamps in the output
	memory       int      // MiB, maximum at the peak
	signals      []string // with pipelines, in addition to profiles
}

// Bounds of the collector's peak memory, in MiB. An idle collector uses 65.
const (
	memorySmall = 160  // no allocation much larger than the request
	memoryLimit = 400  // a body of max_request_body_size, 100 MiB, in a growing buffer
	memoryLarge = 1024 // a valid payload of 50 MB: decoded, translated, and marshalled by the exporter
)

// attackLimit is the limit, in MiB, that the kernel sets on the data of an attacked collector,
// unless the attack has a higher bound.
const attackLimit = 1024

// limitFor returns the kernel's limit for an attack with this bound, in MiB; 0 means the limit of
// the harness.
func limitFor(memory int) int {
	if memory > attackLimit {
		return 0
	}
	return attackLimit
}

// run uses a separate collector, so that its peak memory is that of the attack.
func (a attack) run(t *testing.T) {
	backend := harness.NewSink(t)
	backend.Check(harness.CheckOTLP)
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

// reportAttack checks the memory that an attack used, in MiB, and logs the line that attacks.awk
// reads, with the CPU time of the attack and the checks after it.
func reportAttack(t testing.TB, c *harness.Collector, sent, status int, took time.Duration, memory int) {
	t.Helper()
	peak := c.RequirePeakMemory(t)
	assert.Less(t, peak, memory, "MiB of memory at the peak")
	t.Logf("%d bytes, answered %d in %s, peak memory %d of %d MiB, %s of CPU", sent, status, took.Round(time.Millisecond), peak, memory, c.Worked(t))
}

// checkCardinality checks that clients cannot create arbitrary metric attributes.
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

// checkServing checks that the collector still delivers a valid profile.
func checkServing(t testing.TB, c *harness.Collector, backend *harness.Sink) {
	t.Helper()
	require.True(t, c.Running(), "the collector lives")
	got := c.Send(t, harness.Chunk{}.Request())
	require.Equal(t, http.StatusOK, got.Status, got.Body)
	require.Equal(t, 1, harness.CountObservations(t, backend.DrainProfiles()), "observations of a valid profile")
}
