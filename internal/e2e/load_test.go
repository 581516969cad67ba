//go:build load

package e2e

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
)

// TestLoad sends profiles at a rising rate, as Sentry's envelopes and the same ones as OTLP, then twice of what can be taken,
// and writes docs/load.md.
func TestLoad(t *testing.T) {
	page := newLoadPage()
	all := mixes(t)
	most := map[string]float64{} // envelopes a second, by mix
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) { most[m.name] = rise(t, m, page) })
	}
	recorded := all[0]
	t.Run("overload of the backend", func(t *testing.T) { overloadBackend(t, recorded, page) })
	t.Run("overload of the collector", func(t *testing.T) { overloadCollector(t, recorded, most[recorded.name], page) })
	if !t.Failed() {
		page.write(t)
	}
}

const (
	stepTime = 3 * time.Second
	maxSteps = 6 // 100 to 3200 requests a second: two kinds of two mixes take 72 s
)

// rise doubles the rate until the OTLP receiver and the Sentry receiver both fall behind. Each has a collector of its own, of
// the same binary and configuration; they take turns, so that whatever else the machine does meets both. It gives the
// most envelopes that were answered in a second.
func rise(t *testing.T, m mix, page *loadPage) (most float64) {
	sentry, otlp := startLoaded(t, m)
	for step := range maxSteps {
		rate := 100 * float64(int(1)<<step)
		in, twin := sentry.send(t, rate, stepTime), otlp.send(t, rate, stepTime)
		page.step(m, in, twin, sentry.collector.peak(), otlp.collector.peak())
		t.Log(page.lastSteps())
		most = max(most, in.answered())
		if in.answered() < 0.9*rate && twin.answered() < 0.9*rate {
			break
		}
	}
	return most
}

// startLoaded starts both collectors. What arrives goes nowhere: the receivers are to be compared.
func startLoaded(t *testing.T, m mix) (sentry, otlp *sender) {
	config := func(otlp string) settings {
		return settings{config: fmt.Sprintf(`
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
	unused, address := freeAddress(t), freeAddress(t)
	return sentrySender(start(t, config(unused)), m), otlpSender(start(t, config(address)), address, m)
}

const (
	overloadTime = 10 * time.Second
	overloadMiB  = 512 // limit of the memory_limiter
)

// overloadBackend: the backend takes a profile every 10 ms, twice as many come. When the queue is full, half is refused.
func overloadBackend(t *testing.T, m mix, page *loadPage) {
	const perBackend = 100
	backend := newSink(t)
	c := startOverloaded(t, backend, time.Second/perBackend, 1)
	result := c.checkOverload(t, backend, sentrySender(c, m), 2*perBackend)
	assert.Greater(t, result.refused, len(result.waits)/4, "half, but for what the queue took")
	page.overload("backend: at most 100 profiles/s", result, c.peak())
}

// overloadCollector: twice as many come as the receiver alone could answer, and the backend is not what holds them up.
func overloadCollector(t *testing.T, m mix, most float64, page *loadPage) {
	backend := newSink(t)
	c := startOverloaded(t, backend, 0, 10)
	page.overload(fmt.Sprintf("collector: %.0f profiles/s", most), c.checkOverload(t, backend, sentrySender(c, m), 2*most), c.peak())
}

func startOverloaded(t *testing.T, backend *sink, pause time.Duration, consumers int) *collector {
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(pause)
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(slow.Close)
	return start(t, settings{config: fmt.Sprintf(`
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

// checkOverload sends too much and holds what was answered against what arrived and what was counted.
func (c *collector) checkOverload(t *testing.T, backend *sink, s *sender, rate float64) stretch {
	before := c.scrape(t)
	result := s.send(t, rate, overloadTime)
	delivered := backend.wait(t, len(result.accepted))
	assert.True(t, slices.Equal(sorted(ids(t, delivered)), sorted(result.accepted)), "accepted = delivered, by id")
	counted := func(outcome string) int {
		const items = "otelcol_receiver_sentry_items"
		after := c.scrape(t)
		profiles := 0
		for _, kind := range []string{"profile", "profile_chunk", "profile_chunk_ui"} {
			profiles += after.sum(items, "type="+kind, outcome) - before.sum(items, "type="+kind, outcome)
		}
		return profiles
	}
	assert.Equal(t, len(result.accepted), counted("outcome=accepted"))
	assert.Equal(t, result.refused, counted("outcome=refused"))
	assert.Less(t, result.wait(0.99), time.Second, "answers stay fast")
	assert.Less(t, c.peakMemory(t), overloadMiB, "MiB at the peak")
	return result
}

// wait waits until so many messages have come, and takes them.
func (s *sink) wait(t *testing.T, n int) [][]byte {
	require.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.messages[profilesPath]) >= n
	}, time.Minute, 10*time.Millisecond, "what was accepted is delivered")
	return s.take()
}

// ids are those of the profiles in messages.
func ids(t *testing.T, messages [][]byte) (all [][16]byte) {
	for _, message := range messages {
		request := pprofileotlp.NewExportRequest()
		require.NoError(t, request.UnmarshalProto(message))
		all = append(all, onlyProfile(request.Profiles()).ProfileID())
	}
	return all
}

func sorted(ids [][16]byte) [][16]byte {
	slices.SortFunc(ids, func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
	return ids
}
