// SPDX-License-Identifier: Apache-2.0

//go:build load

package load

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

const loadHead = `# Load

This page reports the throughput of the collector binary, its response times, and its behavior under overload; ` + "`make load`" + ` generates it
in six minutes. Two processes on one machine communicate over loopback: the collector, and a sender that also serves as the backend.
Requests are gzipped, and each has a new profile ID. The sender keeps a fixed rate regardless of the responses (with up to 256 concurrent
requests), and measures response times from the scheduled send time.

- *Recorded*: real SDK profiles of up to 1 MB. V1 profiles, which the receiver links to their transactions, alternate with V2 chunks.
- *Generated*: a chunk with 6060 samples from ten threads, and 300 stacks of 20 frames.
- *Generated, 5 MB*: the same kind of chunk with 57,000 samples, and proportionally more stacks and frames.
- *OTLP*: the same profiles, converted to OTLP by this collector and sent to the ` + "`otlp`" + ` receiver.

The sender and the collector shared the cores of the machine, possibly with other processes: see the load average. Compare figures within
this page, not with figures from another machine. Figures per CPU-second (of the collector's own CPU time) depend far less on other
processes.
`

// loadPage collects the results for docs/load.md.
type loadPage struct {
	begin          time.Time
	loadBefore     string
	rates, tooMuch []string
	whole, gc      []string
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

func wholeColumns() string {
	head, line := "| Profiles | Exporter | CPU time per profile | CPU time per sample |", "|---|---|---|---|"
	for _, part := range append(slices.Clone(cpuParts), cpuPart{name: "rest"}) {
		head, line = head+" "+part.name+" |", line+"---|"
	}
	return head + "\n" + line + "\n"
}

func (p *loadPage) wholePath(m mix, exporter string, s stretch, parts []float64) {
	row := fmt.Sprintf("| %s | %s | %v | %v |", m.name, exporter, perProfile(s.cpu, len(s.accepted)), s.cpu/time.Duration(s.samples))
	for _, share := range parts {
		row += fmt.Sprintf(" %.0f%% |", share)
	}
	p.whole = append(p.whole, row)
}

func (p *loadPage) overload(what string, s stretch, peak int) {
	p.tooMuch = append(p.tooMuch, fmt.Sprintf("| %s | %.0f | %d | %d | %d | %.0f | %.0f | %d | %d | %v | %v | %d of %d |", what, s.offered,
		len(s.waits), s.unsent, len(s.accepted), s.delivered(), float64(len(s.accepted))/s.cpu.Seconds(), s.plainly, s.refused-s.plainly,
		s.wait(0.5), s.wait(0.99), peak, overloadMiB))
}

const (
	ratesHead = `
## Rising rate

The exporter is ` + "`nop`" + `. The two receivers alternate at each rate, each in its own collector. p50 and p99 are response times.

| Profiles | Sent as | Offered/s | Responses/s | Samples/s | Profiles per CPU-second | Samples per CPU-second | p50 | p99 | Peak RSS, MiB | Sentry ÷ OTLP, per CPU-second |
|---|---|---|---|---|---|---|---|---|---|---|
`
	wholeHead = `
## End to end

The collector receives profiles, links them to spans that have already arrived (` + "`link::wait: 0s`" + `), and exports them to a server that accepts
everything. The columns on the right show where the CPU time goes, from a CPU profile of the collector: *encode* is the OTLP or JSON
encoding of the output, *GC* is the garbage collector, and *rest* includes HTTP, gRPC, system calls, scrubbing and the transactions of V1
profiles.

In the *received as OTLP* rows, the same profiles arrive as OTLP and are only forwarded: this cost has nothing to do with Sentry's format,
and only changes to the OpenTelemetry Collector can reduce it.

In the *floor* rows, a small program replaces the collector. It inflates the request with the same library, and then compresses and posts
the OTLP form of the profile, which is prepared in advance and has no links. It does not decode, translate or link, and it has no queue and
no telemetry. A collector in Go that uses these libraries cannot avoid this work.

`
	gcHead = `
## Garbage collection

The same end-to-end path with ` + "`otlp_http`" + ` and zstd, for three values of ` + "`GOGC`" + ` and with ` + "`GOMEMLIMIT=1024MiB`" + `. The three collectors run
alternately.

| Profiles | GOGC | CPU time per profile | p99 of responses | Peak RSS, MiB |
|---|---|---|---|---|
`
	teeHead = `
## Tee

The sender sends recorded profiles at 100 requests per second. It alternates every second between a collector with a
[tee](../sentryteeextension/README.md) (` + "`answer: own`" + `) and one without. The exporter is ` + "`nop`" + `. A server in the sender's process stands in
for Sentry and accepts everything. *Posting alone* is a third process that only posts the same bodies to that server, one at a time, with
Go's HTTP client. Its CPU time is roughly the minimum cost of a second HTTP exchange.

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
with the sender and the collector. The sender has at most 256 requests in flight; clients without that limit were not tested. To measure the
capacity, the sender raises its rate by 50% per step until less than half of the offered rate is delivered. The capacity is the highest
delivery rate in these steps, for the receiver, exporter and backend together.

For 20 ms after a pipeline refuses data, the receiver refuses profiles without decompressing or decoding them. This keeps the delivery rate
high ([operations](operations.md#sizing)).

| | Offered/s | Responses | Not sent: 256 in flight | Accepted = delivered | Delivered/s | Delivered per CPU-second | 429 | 200 with limits | p50 | p99 | Peak RSS, MiB |
|---|---|---|---|---|---|---|---|---|---|---|---|
`
)

func (p *loadPage) write(t *testing.T) {
	var page strings.Builder
	page.WriteString(loadHead)
	fmt.Fprintf(&page, "\n%s, %d cores, %s. One-minute load average before and after: %s, %s. The run took %v.\n",
		p.begin.UTC().Format(time.DateOnly), runtime.NumCPU(), runtime.GOARCH, p.loadBefore, harness.LoadAverage(), time.Since(p.begin).Round(time.Second))
	page.WriteString(ratesHead + strings.Join(p.rates, "\n") + "\n")
	page.WriteString(wholeHead + wholeColumns() + strings.Join(p.whole, "\n") + "\n")
	page.WriteString(gcHead + strings.Join(p.gc, "\n") + "\n")
	page.WriteString(teeHead + p.tee)
	page.WriteString(tooMuchHead + strings.Join(p.tooMuch, "\n") + "\n")
	require.NoError(t, os.WriteFile(filepath.Join(golden.Root(t), "docs", "load.md"), []byte(page.String()), 0o644))
	t.Log("\n" + page.String())
}
