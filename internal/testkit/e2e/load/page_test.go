// SPDX-License-Identifier: Apache-2.0

//go:build load

package load

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

const loadHead = `# Load

This page reports the throughput of the built collector, its response times, and its behavior under overload; ` + "`make load`" + ` writes it in under
three minutes. The sender, which is also the backend, and the collector are two processes on one machine, connected over loopback. Requests are gzipped, and each has a new profile ID. The sender keeps its rate regardless of the
responses (up to 256 concurrent requests) and measures response times from the scheduled send time.

- *Recorded*: real SDK profiles up to 1 MB. V1 profiles, which the receiver links to their transactions, alternate with V2 chunks.
- *Generated*: a chunk of 6060 samples of ten threads, with 300 stacks of 20 frames.
- *OTLP*: the same profiles in the form of this collector's OTLP output, sent to the ` + "`otlp`" + ` receiver.

The sender and the collector shared the cores of the machine, possibly with other processes: see the load average. Compare figures within
this page, not with figures from another machine. Figures per CPU-second (of the collector's own CPU time) depend far less on other
processes.
`

// loadPage collects the results for docs/load.md.
type loadPage struct {
	begin          time.Time
	loadBefore     string
	rates, tooMuch []string
	tee            string
}

func newLoadPage() *loadPage { return &loadPage{begin: time.Now(), loadBefore: harness.LoadAverage()} }

func (p *loadPage) step(m mix, in, twin stretch, inPeak, twinPeak int) {
	perCPU := func(s stretch) float64 { return float64(len(s.accepted)) / s.cpu.Seconds() }
	for _, s := range []struct {
		name string
		stretch
		peak int
	}{{"Sentry", in, inPeak}, {"OTLP", twin, twinPeak}} {
		p.rates = append(p.rates, fmt.Sprintf("| %s | %s | %.0f | %.0f | %.0f | %.0f | %.0f | %v | %v | %d |", m.name, s.name, s.offered,
			s.answered(), float64(s.samples)/s.took.Seconds(), perCPU(s.stretch), float64(s.samples)/s.cpu.Seconds(),
			s.wait(0.5), s.wait(0.99), s.peak))
	}
	p.rates[len(p.rates)-2] += fmt.Sprintf(" %.2f |", perCPU(in)/perCPU(twin))
	p.rates[len(p.rates)-1] += " |"
}

func (p *loadPage) lastSteps() string { return "\n" + strings.Join(p.rates[len(p.rates)-2:], "\n") }

func (p *loadPage) overload(what string, s stretch, peak int) {
	p.tooMuch = append(p.tooMuch, fmt.Sprintf("| %s | %.0f | %d | %d | %d | %.0f | %.0f | %d | %d | %v | %v | %d of %d |", what, s.offered,
		len(s.waits), s.unsent, len(s.accepted), s.delivered(), float64(len(s.accepted))/s.cpu.Seconds(), s.plainly, s.refused-s.plainly,
		s.wait(0.5), s.wait(0.99), peak, overloadMiB))
}

const (
	ratesHead = `
## Rising rate

The exporter is ` + "`nop`" + `. The two receivers alternate at each rate, each in its own collector. p50 and p99 are response times.

| Profiles | Sent as | Offered/s | Answered/s | Samples/s | Profiles per CPU-second | Samples per CPU-second | p50 | p99 | Peak RSS, MiB | Sentry ÷ OTLP, per CPU-second |
|---|---|---|---|---|---|---|---|---|---|---|
`
	teeHead = `
## Tee

The sender sends recorded profiles at 100 requests per second. It alternates every second between a collector with a
[tee](../sentryteeextension/README.md) (` + "`answer: own`" + `) and one without. The exporter is ` + "`nop`" + `. A server in the sender's process stands in
for Sentry and accepts everything. *Posting alone* is a third process, which only posts the same bodies to that server with Go's HTTP
client, one after the other. Its CPU time is about the minimum cost of a second HTTP exchange.

| Collector | Requests | CPU time per request | p50 | p90 | p99 |
|---|---|---|---|---|---|
`
	tooMuchHead = `
## Overload

The sender sends recorded profiles for ten seconds (three seconds per step when it measures the capacity). The collector has a
` + "`memory_limiter`" + `, and a ` + "`sending_queue`" + ` of 200 requests (one profile each) in front of an OTLP backend. A comparison by ID shows that every
accepted profile was delivered. All remaining profiles were refused with ` + "`X-Sentry-Rate-Limits`" + ` (429, or 200 if the transaction was
accepted); each was counted as an item or, if it was not decompressed, as a request. The run fails if any profile is unaccounted for, if 1%
or more of the responses take a second or longer, or if the delivery rate drops below half of the capacity.

In the first row of the table, the backend accepts one profile every 10 ms. In the other rows, the backend is fast, but it shares the cores
with the sender and the collector. The sender has at most 256 open requests; clients without that limit were not tested. To measure the
capacity, the sender raises its rate by 50% per step until less than half of the offered rate is delivered. The capacity is the highest
delivery rate in these steps, for the receiver, exporter and backend together.

For 20 ms after a pipeline refuses data, the receiver refuses profiles without decompressing or decoding them. This keeps the delivery rate
high ([operations](operations.md#sizing)).

| | Offered/s | Answered | Not sent: 256 waiting | Accepted = delivered | Delivered/s | Delivered per CPU-second | 429 | 200 with limits | p50 | p99 | Peak RSS, MiB |
|---|---|---|---|---|---|---|---|---|---|---|---|
`
)

func (p *loadPage) write(t *testing.T) {
	var page strings.Builder
	page.WriteString(loadHead)
	fmt.Fprintf(&page, "\n%s, %d cores, %s. One-minute load average before and after: %s, %s. The run took %v.\n",
		p.begin.UTC().Format(time.DateOnly), runtime.NumCPU(), runtime.GOARCH, p.loadBefore, harness.LoadAverage(), time.Since(p.begin).Round(time.Second))
	page.WriteString(ratesHead + strings.Join(p.rates, "\n") + "\n")
	page.WriteString(teeHead + p.tee)
	page.WriteString(tooMuchHead + strings.Join(p.tooMuch, "\n") + "\n")
	require.NoError(t, os.WriteFile(filepath.Join(golden.Root(t), "docs", "load.md"), []byte(page.String()), 0o644))
	t.Log("\n" + page.String())
}
