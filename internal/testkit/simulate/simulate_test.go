// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"flag"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

var spans = flag.Int64("spans", 0, "spans to simulate in TestSimulate; 0 = those of 100 seconds")

var small = Workload{Spans: 60_000, Rate: 100, Sessions: 60, Skew: 1, Delay: 3, MaxDelay: 90, Seed: 1}

// compare runs the same events with counters and with the real index.
func compare(t *testing.T, tier Tier, w Workload) (model, real Result) {
	t.Helper()
	record := func(newCollector func(*workload) collector) Result {
		work := newWorkload(w)
		r := newRun(tier, work, func() collector { return newCollector(work) })
		r.record = true
		return r.run()
	}
	model = record(func(w *workload) collector { return newCounters(w, tier.MaxSpans) })
	real = record(func(w *workload) collector { return newIndexed(w, tier) })
	t.Logf("%v", model)
	require.NotZero(t, model.Observations)
	assert.Equal(t, real, model)
	return model, real
}

// TestModel: the counters agree with the real index on every chunk, on memory and on evictions: if
// there is room, if spans are evicted or expire, if collectors crash, and if others take over.
func TestModel(t *testing.T) {
	tier := Tier{Collectors: 3, Partitions: 12, MaxSpans: 100_000, KeepSpans: 300, Wait: 30}
	for name, c := range map[string]struct {
		edit  func(*Tier)
		check func(t *testing.T, r Result)
	}{
		"room": {func(*Tier) {}, func(t *testing.T, r Result) {
			assert.Greater(t, r.LinkRate(), 0.999)
			assert.Zero(t, r.Evicted)
		}},
		"full": {func(t *Tier) { t.MaxSpans = 2_000 }, func(t *testing.T, r Result) {
			assert.Less(t, r.LinkRate(), 0.9)
			assert.NotZero(t, r.Evicted)
		}},
		"forgetful": {func(t *Tier) { t.KeepSpans = 60 }, func(t *testing.T, r Result) {
			assert.Less(t, r.LinkRate(), 0.9)
			assert.Zero(t, r.Evicted)
		}},
		"restart":  {func(t *Tier) { t.Crashes = []Crash{{1, 200, 205}} }, lossy},
		"takeover": {func(t *Tier) { t.Crashes = []Crash{{1, 200, 260}, {0, 400, 402}} }, lossy},
		"one key": {func(t *Tier) { t.ByProject = true }, func(t *testing.T, r Result) {
			assert.InDelta(t, 3, r.Imbalance(), 1e-9, "one collector has all the work")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tier := tier
			c.edit(&tier)
			model, _ := compare(t, tier, small)
			c.check(t, model)
		})
	}
}

func lossy(t *testing.T, r Result) {
	assert.Less(t, r.LinkRate(), 0.99)
	assert.Greater(t, r.LinkRate(), 0.5)
}

// TestSimulate runs a large tier: `make simulate`. Its memory does not depend on the number of
// spans.
func TestSimulate(t *testing.T) {
	rate, sessions := 50_000, 20_000
	if !testsize.Full() {
		rate, sessions = rate/10, sessions/10
	}
	count := *spans
	if count == 0 {
		count = int64(100 * rate)
	}
	work := Workload{Spans: count, Rate: rate, Sessions: sessions, Skew: 0.7, Delay: 3, MaxDelay: 90, Seed: 1}
	seconds := int(count) / rate
	tiers := []struct {
		name string
		Tier
	}{
		{"16 collectors, key: session", Tier{Collectors: 16, MaxSpans: 2_000_000}},
		{"the same, with crashes", Tier{Collectors: 16, MaxSpans: 2_000_000, Crashes: crashes(16, seconds)}},
		{"16 collectors, key: project", Tier{Collectors: 16, MaxSpans: 2_000_000, ByProject: true}},
	}
	for _, c := range tiers {
		c.Partitions, c.KeepSpans, c.Wait = 16*8, 300, 30
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			result := Run(c.Tier, work)
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			t.Logf("%v (%d MiB for all tiers so far)", result, m.Sys>>20)
			assert.InEpsilon(t, count, result.Spans, 0.01)
			assert.Less(t, m.Sys, uint64(2<<30), "bytes of memory")
		})
	}
}

// crashes stops one collector after the other: half of them return before others take over.
func crashes(collectors, seconds int) (all []Crash) {
	for i, at := 0, 60; at < seconds; i, at = i+1, at+600 {
		all = append(all, Crash{i % collectors, at, at + 5 + i%2*60})
	}
	return all
}
