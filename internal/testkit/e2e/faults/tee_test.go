// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

// teeSetups: the faults are those of Sentry and of the tee's storage. In all rounds, the OTLP
// backend has a bad day.
var teeSetups = []setup{{name: "`sentry_tee`", sentry: true, tee: true}}

// badDay is what a backend does while the collector ends and starts. A tee omits data that Sentry
// limits: with a limit on everything, it would forward next to nothing.
func (s setup) badDay() mood {
	if !s.tee {
		return badDay
	}
	limit := map[string]string{"X-Sentry-Rate-Limits": "1:transaction:key"}
	return append(slices.Clone(badDay[:len(badDay)-1]), fakesentry.Answer{Status: http.StatusTooManyRequests, Header: limit})
}

// otlpSide is what a collector with a tee exports. Its exporter has no queue, so that what it
// acknowledges has arrived.
type otlpSide struct {
	backend *backend
	ledger  *ledger
	account account // at the end of the round
}

func newOTLPSide(t testing.TB, seed uint64) *otlpSide {
	o := &otlpSide{backend: newBackend(t, setup{}, seed), ledger: &ledger{entries: map[sentItem]entry{}}}
	o.backend.be(badDay)
	return o
}

// ledgers are those of all outputs.
func (r *rig) ledgers() []*ledger {
	if r.otlp == nil {
		return []*ledger{r.ledger}
	}
	return []*ledger{r.ledger, r.otlp.ledger}
}

func (r *rig) settingsOfTee() harness.Settings {
	return harness.Settings{Config: fmt.Sprintf(`
receivers:
  sentry: {endpoint: ENDPOINT, middlewares: [{id: sentry_tee}]}
exporters:
  otlp_http:
    %s
    timeout: %s
    retry_on_failure: {enabled: false}
    sending_queue: {enabled: false}
extensions:
  file_storage: {directory: '%s', recreate: true}
  sentry_tee:
    %s
    storage: file_storage
    num_consumers: %d
    timeout: %s
    spool: {drain_rate: 10000}
service:
  extensions: [file_storage, sentry_tee]
  telemetry: {logs: {level: debug, sampling: {enabled: false}}}
  pipelines:
    profiles: {receivers: [sentry], exporters: [otlp_http]}
    traces: {receivers: [sentry], exporters: [otlp_http]}
    logs: {receivers: [sentry], exporters: [otlp_http]}
`, r.otlp.backend.address, exporterTimeout, r.directory, r.backend.address, r.consumers, exporterTimeout)}
}

var allKinds = []kind{aProfile, aSpan, aLog}

// countedByTee returns the losses by the tee's own count of requests, each of which has at most one
// item of a kind. For those of a shutdown see lostAtShutdown.
func countedByTee(metrics harness.Metrics) map[kind]int {
	const requests = "otelcol_extension_sentry_tee_requests"
	dropped := metrics.Sum(requests, "outcome=dropped") - metrics.Sum(requests, "outcome=dropped", "reason=shutdown")
	counted := map[kind]int{}
	for _, k := range allKinds {
		counted[k] = dropped
	}
	return counted
}

// countInMemory notes, before a crash, how many requests the storage did not accept: only memory
// may have them.
func (r *rig) countInMemory() {
	if metrics, err := r.collector.Load().TryScrape(); err == nil { // else it has not started
		r.inMemory += metrics.Sum("otelcol_extension_sentry_tee_storage_errors", "operation=store")
	}
}

var lostAtShutdown = regexp.MustCompile(`Requests lost because they were only in memory.*"requests": (\d+)`)

// addLossesOfTee explains what did not arrive at Sentry: Sentry rejected it or has it in a client
// report, or it was in memory only when the collector ended.
func (r *rig) addLossesOfTee(known *losses) {
	atShutdown := 0
	for _, c := range r.all {
		for _, match := range lostAtShutdown.FindAllStringSubmatch(c.Log.String(), -1) {
			n, _ := strconv.Atoi(match[1]) // digits
			atShutdown += n
		}
	}
	r.backend.mu.Lock()
	defer r.backend.mu.Unlock()
	known.rejected = maps.Clone(r.backend.rejected)
	for _, k := range allKinds {
		known.dropped[k] += r.backend.reported[k] + atShutdown
		known.held[k] += r.inMemory
	}
}

// awaitReports waits until Sentry has the client reports, which the tee sends every ten seconds.
// What remains unexplained fails the round later.
func (r *rig) awaitReports() {
	for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(50 * time.Millisecond) {
		arrived := r.backend.arrivals(r.t)
		if _, unexplained := r.ledger.settle(arrived, arrived, r.knownLosses()); len(unexplained) == 0 {
			return
		}
	}
}

// settle adds up what was acknowledged, all of which has arrived.
func (o *otlpSide) settle(t testing.TB) (unexplained []sentItem) {
	arrived := o.backend.arrivals(t)
	never := func(sentItem, time.Time) bool { return false }
	o.account, unexplained = o.ledger.settle(arrived, arrived, losses{wasHeld: never, wasInFile: never,
		held: map[kind]int{}, dropped: map[kind]int{}, byQueue: map[kind]int{}})
	return unexplained
}

// otlpResults returns the totals of the OTLP side.
func (p *faultsPage) otlpResults() string {
	a := &p.otlp
	return fmt.Sprintf("\nOTLP output of the collectors with a tee: %d items acknowledged, %d delivered, %d unexplained, %d again; %d refused.\n",
		a.acknowledged, a.delivered, a.unexplained, a.again, a.refused)
}
