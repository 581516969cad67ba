// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// setup is a configuration whose exporter has a persistent queue.
type setup struct {
	name   string
	sentry bool          // exports to Sentry, otherwise OTLP
	wait   time.Duration // how long profiles wait for their spans
	stored bool          // held profiles are stored
	tee    bool          // in front of the receiver, to Sentry; the exporter is otlp_http
	mark   marking
}

const (
	waitForSpans    = time.Second // long enough that profiles are held when the fault happens
	exporterTimeout = 500 * time.Millisecond
)

var setups = []setup{
	{name: "`otlp_http`, nothing held"},
	{name: "`otlp_http`, held in memory", wait: waitForSpans},
	{name: "`otlp_http`, held in storage", wait: waitForSpans, stored: true},
	{name: "`sentry_envelope`, nothing held", sentry: true},
	{name: "`sentry_envelope`, held in storage", sentry: true, wait: waitForSpans, stored: true},
}

// rig is a collector between clients and a backend, during one round.
type rig struct {
	t       *testing.T
	setup   setup
	random  *rand.Rand // of the test; each client has its own
	backend *backend
	ledger  *ledger
	otlp    *otlpSide // of a tee; nil = there is none

	directory string // of the storage
	queueSize int    // requests
	consumers int
	collector atomic.Pointer[harness.Collector] // the current one
	all       []*harness.Collector

	noQueue bool          // of an OTLP exporter: the processor receives the backend's refusals
	giveUp  time.Duration // time after which a refused message is dropped; 0 = never
	latest  time.Duration // longest time from the acknowledgement of an unmarked item to its arrival

	crashes     []crash
	dropped     map[kind]int // counted by earlier collectors before they stopped
	diskWasFull bool
	inMemory    int       // requests that a tee could not store before a crash
	damagedAt   time.Time // while no collector ran
	damagedKind kind
	ended       ending // result of starting the collector with the damaged file
	damage      string
}

func newRig(t *testing.T, s setup, seed uint64) *rig {
	r := &rig{
		t: t, setup: s, random: rand.New(rand.NewPCG(seed, 1)), backend: newBackend(t, s, seed),
		ledger:    &ledger{entries: map[sentItem]entry{}, ofTee: s.tee},
		directory: t.TempDir(), queueSize: 10000, consumers: 4, dropped: map[kind]int{},
	}
	if s.tee {
		r.otlp = newOTLPSide(t, seed)
	}
	return r
}

// settings returns the configuration of the collector. It logs at debug level, because the queue
// logs dropped requests there.
func (r *rig) settings() harness.Settings {
	if r.setup.tee {
		return r.settingsOfTee()
	}
	exporter, storage, logs := "otlp_http", "", "logs: {receivers: [sentry], exporters: [otlp_http]}"
	if r.setup.sentry {
		exporter, logs = "sentry_envelope", "" // does not support logs
	}
	if r.setup.stored {
		storage = "storage: file_storage, "
	}
	delivery := fmt.Sprintf(`retry_on_failure: {initial_interval: 10ms, max_interval: 50ms, max_elapsed_time: %s}
    sending_queue: {storage: file_storage, sizer: requests, queue_size: %d, num_consumers: %d}`, r.giveUp, r.queueSize, r.consumers)
	if r.noQueue {
		delivery = "retry_on_failure: {enabled: false}\n    sending_queue: {enabled: false}"
	}
	return harness.Settings{Config: fmt.Sprintf(`
receivers:
  sentry: {endpoint: ENDPOINT}
processors:
  profile_transform: {%[1]slink: {wait: %[2]s}, retry_on_failure: {max_elapsed_time: %[3]s}}
exporters:
  %[4]s:
    %[5]s
    timeout: %[6]s
    %[7]s
extensions:
  file_storage: {directory: '%[8]s', recreate: true}
service:
  extensions: [file_storage]
  telemetry: {logs: {level: debug, sampling: {enabled: false}}}
  pipelines:
    profiles: {receivers: [sentry], processors: [profile_transform], exporters: [%[4]s]}
    traces: {receivers: [sentry], processors: [profile_transform], exporters: [%[4]s]}
    %[9]s
`, storage, r.setup.wait, r.giveUp, exporter, r.backend.address, exporterTimeout, delivery, r.directory, logs)}
}

// start starts the collector, which replaces the previous one.
func (r *rig) start() {
	r.t.Helper()
	r.use(harness.Start(r.t, r.settings()))
}

func (r *rig) use(c *harness.Collector) {
	if n := len(r.crashes); n > 0 && r.crashes[n-1].until.IsZero() {
		r.crashes[n-1].until = time.Now()
	}
	r.all = append(r.all, c)
	r.collector.Store(c)
	r.t.Cleanup(c.Kill) // in case the test ends before
}

// crash is the end of a killed collector.
type crash struct {
	held        int       // number of profiles in memory
	from, until time.Time // from the time when they were counted until the start of the next collector
}

// crash kills the collector without a shutdown.
func (r *rig) Crash() {
	c := crash{from: time.Now()}
	if r.setup.tee {
		r.countInMemory()
	}
	if metrics, err := r.collector.Load().TryScrape(); err == nil && r.setup.wait > 0 && !r.setup.stored { // otherwise, it has not started yet
		const handedOn = clients + 1 // profiles in transit: one for each client, and one in the processor
		c.held = metrics.Sum("otelcol_processor_profile_transform_held_messages") + handedOn
	}
	r.crashes = append(r.crashes, c)
	r.collector.Load().Kill()
}

// stop stops the collector as an orchestrator does, and records its last counts.
func (r *rig) Stop() {
	r.t.Helper()
	last, gone := r.note(), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			metrics, err := r.collector.Load().TryScrape()
			if err != nil {
				return
			}
			last = r.counted(metrics)
		}
	}()
	r.collector.Load().Stop(r.t)
	<-gone
	r.add(last)
}

// reload makes the collector load changed settings.
func (r *rig) Reload() {
	r.t.Helper()
	r.add(r.note())
	reload(r.t, r.collector.Load(), r.settings())
}

// reload makes the collector load another configuration, at the same address.
func reload(t testing.TB, c *harness.Collector, s harness.Settings) {
	t.Helper()
	const ready = "Everything is ready"
	before := strings.Count(c.Log.String(), ready)
	c.Configure(t, s)
	c.Reload(t)
	require.Eventually(t, func() bool { return !c.Running() || strings.Count(c.Log.String(), ready) > before },
		harness.StartTimeout, 10*time.Millisecond, "reloaded")
	require.True(t, c.Running(), "the collector outlives a reload\n%s", c.Log.Tail())
}

// note returns the losses that the collector has counted since its start.
func (r *rig) note() map[kind]int {
	r.t.Helper()
	return r.counted(r.collector.Load().Scrape(r.t))
}

// add adds the counts of a collector that is stopped or reloaded.
func (r *rig) add(counted map[kind]int) {
	for kind, n := range counted {
		r.dropped[kind] += n
	}
}

// drainTimeout is long, because the machine may be busy.
const drainTimeout = 2 * time.Minute

// drain waits until everything has arrived, or until the collector has nothing to send or has
// ended.
func (r *rig) drain() (arrived map[sentItem]int) {
	r.t.Helper()
	c, idle := r.collector.Load(), 0
	require.Eventually(r.t, func() bool {
		arrived = r.backend.arrivals(r.t)
		if !c.Running() {
			return true
		}
		metrics, err := c.TryScrape()
		switch {
		case err != nil:
			return false
		case metrics.Sum("otelcol_exporter_queue_size")+metrics.Sum("otelcol_processor_profile_transform_held_messages")+
			metrics.Sum("otelcol_extension_sentry_tee_waiting_requests") == 0:
			idle++ // several times, because a profile that is moved to the queue is in neither for a moment
		default:
			idle = 0
		}
		return idle > 3 || len(r.ledger.undelivered(arrived)) == 0
	}, drainTimeout, 50*time.Millisecond, "the queue runs empty")
	return arrived
}

// settle ends a round after the fault.
func (r *rig) settle() (account, []sentItem) {
	r.t.Helper()
	during := r.backend.arrivals(r.t)
	r.backend.be(well)
	r.backend.beForMarked(nil)
	atEnd := r.drain()
	if r.setup.tee {
		r.awaitReports()
	}
	r.Stop()
	if r.setup.mark != (marking{}) {
		for i := range r.ledger.undelivered(atEnd) {
			assert.True(r.t, i.marked(), "the backend accepts %v, and it did not arrive", i)
		}
	}
	return r.ledger.settle(during, atEnd, r.knownLosses())
}
