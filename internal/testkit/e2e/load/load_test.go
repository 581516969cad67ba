// SPDX-License-Identifier: Apache-2.0

//go:build load

package load

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile/pprofileotlp"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestLoad sends profiles at a rising rate, as Sentry envelopes and as OTLP, through the whole
// path, and at twice the capacity. It writes docs/load.md if all parts have run.
func TestLoad(t *testing.T) {
	page := newLoadPage()
	all := mixes(t)
	recorded := all[0]
	most := 0.0 // recorded envelopes per second
	parts := []struct {
		name string
		run  func(*testing.T)
	}{
		{"recorded", func(t *testing.T) { most = rise(t, recorded, page) }},
		{"generated", func(t *testing.T) { rise(t, all[1], page) }},
		{"whole path", func(t *testing.T) { measureWhole(t, []mix{all[0], all[2]}, page) }},
		{"garbage collection", func(t *testing.T) { measureGC(t, []mix{all[0], all[2]}, page) }},
		{"tee", func(t *testing.T) { compareTee(t, recorded, page) }},
		{"overload of the backend", func(t *testing.T) { overloadBackend(t, recorded, page) }},
		{"overload of the collector", func(t *testing.T) { overloadCollector(t, recorded, most, page) }},
	}
	done := 0
	for _, part := range parts {
		t.Run(part.name, func(t *testing.T) {
			part.run(t)
			done++
		})
	}
	switch {
	case done < len(parts):
		t.Log("docs/load.md stays as it is: not everything has run, see above")
	case !t.Failed():
		page.write(t)
	}
}

const (
	stepTime = 3 * time.Second
	maxSteps = 6 // 100 to 3200 requests per second: two kinds of two mixes take 72 s
)

// rise doubles the rate until the OTLP receiver and the Sentry receiver both fall behind. Each has
// its own collector with the same binary and configuration. They alternate, so that other load on
// the machine affects both equally. rise returns the maximum rate of answered envelopes.
func rise(t *testing.T, m mix, page *loadPage) (most float64) {
	sentry, otlp := startLoaded(t, m)
	for step := range maxSteps {
		rate := 100 * float64(int(1)<<step)
		in, twin := sentry.send(t, rate, stepTime), otlp.send(t, rate, stepTime)
		page.step(m, in, twin, sentry.collector.PeakMemory(), otlp.collector.PeakMemory())
		t.Log(page.lastSteps())
		most = max(most, in.answered())
		if in.answered() < 0.9*rate && twin.answered() < 0.9*rate {
			break
		}
	}
	return most
}

// startLoaded starts both collectors. They drop all data, because only the receivers are compared.
func startLoaded(t *testing.T, m mix) (sentry, otlp *sender) {
	config := func(otlp string) harness.Settings {
		return harness.Settings{Config: fmt.Sprintf(`
receivers:
  sentry: {endpoint: ENDPOINT}
  otlp: {protocols: {http: {endpoint: %s}}}
processors:
  memory_limiter: {check_interval: 1s, limit_mib: 1024}
exporters:
  nop:
service:
  pipelines:
    profiles: {receivers: [sentry, otlp], processors: [memory_limiter], exporters: [nop]}
`, otlp)}
	}
	unused, address := harness.FreeAddress(t), harness.FreeAddress(t)
	return sentrySender(harness.Start(t, config(unused)), m), otlpSender(harness.Start(t, config(address)), address, m)
}

const (
	overloadTime = 10 * time.Second
	overloadMiB  = 512 // limit of the memory_limiter
)

// overloadBackend: the backend accepts a profile every 10 ms, and the sender sends twice as many.
// When the queue is full, half of them are refused.
func overloadBackend(t *testing.T, m mix, page *loadPage) {
	const perBackend = 100
	backend := harness.NewSink(t)
	c := startOverloaded(t, backend, time.Second/perBackend, 1)
	result := checkOverload(t, c, backend, sentrySender(c, m), 2*perBackend)
	assert.Greater(t, result.refused, len(result.waits)/4, "half, but for what the queue took")
	page.overload("twice the rate of a backend that accepts 100/s", result, c.PeakMemory())
}

// overloadCollector: the backend is fast. The sender sends twice as much as the collector can
// deliver, and twice as much as the receiver alone can answer (most; 0 if not measured).
func overloadCollector(t *testing.T, m mix, most float64, page *loadPage) {
	capacity := pathCapacity(t, m, page)
	for _, too := range []struct {
		much string
		rate float64
	}{{"twice that capacity", 2 * capacity}, {"twice the highest response rate", 2 * most}} {
		if too.rate == 0 {
			continue
		}
		backend := harness.NewSink(t)
		c := startOverloaded(t, backend, 0, 10)
		result := checkOverload(t, c, backend, sentrySender(c, m), too.rate)
		assert.Greater(t, result.delivered(), capacity/2, "deliveries a second go on")
		page.overload(too.much, result, c.PeakMemory())
		c.Stop(t)
	}
}

// pathCapacity raises the rate until less than half is delivered, and returns the maximum rate of
// delivered profiles.
func pathCapacity(t *testing.T, m mix, page *loadPage) float64 {
	backend := harness.NewSink(t)
	c := startOverloaded(t, backend, 0, 10)
	defer c.Stop(t)
	var best stretch
	for rate := 200.0; rate < 10_000; rate *= 1.5 {
		result := sendAll(t, c, backend, sentrySender(c, m), rate, stepTime)
		if best.drained == 0 || result.delivered() > best.delivered() {
			best = result
		}
		if result.delivered() < rate/2 {
			break
		}
	}
	page.overload("capacity with exporter and backend", best, c.PeakMemory())
	return best.delivered()
}

func startOverloaded(t *testing.T, backend *harness.Sink, pause time.Duration, consumers int) *harness.Collector {
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(pause)
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(slow.Close)
	return harness.Start(t, harness.Settings{Config: fmt.Sprintf(`
receivers:
  sentry: {endpoint: ENDPOINT}
processors:
  memory_limiter: {check_interval: 100ms, limit_mib: %d}
exporters:
  otlp_http:
    endpoint: %s
    sending_queue: {num_consumers: %d, queue_size: 200}
service:
  pipelines:
    profiles: {receivers: [sentry], processors: [memory_limiter], exporters: [otlp_http]}
`, overloadMiB, slow.URL, consumers)})
}

// checkOverload sends too much, and compares answers, deliveries and counters.
func checkOverload(t *testing.T, c *harness.Collector, backend *harness.Sink, s *sender, rate float64) stretch {
	before := c.Scrape(t)
	result := sendAll(t, c, backend, s, rate, overloadTime)
	after := c.Scrape(t)
	counted := func(metric string, labels ...string) int {
		return after.Sum(metric, labels...) - before.Sum(metric, labels...)
	}
	profiles := func(outcome string) (n int) {
		for _, kind := range []string{"profile", "profile_chunk", "profile_chunk_ui"} {
			n += counted("otelcol_receiver_sentry_items", "type="+kind, outcome)
		}
		return n
	}
	assert.Equal(t, len(result.accepted), profiles("outcome=accepted"))
	unread := counted("otelcol_receiver_sentry_requests_rejected", "reason=backpressure") // each has one profile
	assert.Equal(t, result.refused, profiles("outcome=refused")+unread)
	assert.Less(t, result.wait(0.99), time.Second, "answers stay fast")
	assert.Less(t, c.RequirePeakMemory(t), overloadMiB, "MiB at the peak")
	return result
}

// sendAll sends, and waits until all accepted profiles are delivered.
func sendAll(t *testing.T, c *harness.Collector, backend *harness.Sink, s *sender, rate float64, howLong time.Duration) stretch {
	begin := time.Now()
	result := s.send(t, rate, howLong)
	delivered := awaitMessages(t, backend, len(result.accepted))
	result.drained = time.Since(begin)
	assert.True(t, slices.Equal(sorted(ids(t, delivered)), sorted(result.accepted)), "accepted = delivered, by id")
	return result
}

// awaitMessages waits until n messages have arrived, and returns them.
func awaitMessages(t *testing.T, backend *harness.Sink, n int) [][]byte {
	require.Eventually(t, func() bool { return backend.Count(harness.ProfilesPath) >= n }, time.Minute, 10*time.Millisecond,
		"what was accepted is delivered")
	return backend.DrainProfiles()
}

// ids returns the IDs of the profiles in messages.
func ids(t *testing.T, messages [][]byte) (all [][16]byte) {
	for _, message := range messages {
		request := pprofileotlp.NewExportRequest()
		require.NoError(t, request.UnmarshalProto(message))
		all = append(all, harness.OnlyProfile(request.Profiles()).ProfileID())
	}
	return all
}

func sorted(ids [][16]byte) [][16]byte {
	slices.SortFunc(ids, func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
	return ids
}
