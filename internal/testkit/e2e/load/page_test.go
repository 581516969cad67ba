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

This page shows how many profiles a collector handles per second and core, its memory use, and its behavior under overload. ` + "`make load`" + `
writes this page in six minutes.

- *Recorded*: profiles of up to 1 MB, recorded from real SDKs. V1 profiles, which the receiver links to their transactions, alternate with
  chunks of continuous profiles (V2).
- *Generated*: a chunk with 6060 samples from ten threads, and 300 stacks of 20 frames. *Generated, 5 MB*: the same kind of chunk with
  57,000 samples, and proportionally more stacks and frames.
- *OTLP*: the same profiles, converted to OTLP by this collector and sent to the ` + "`otlp`" + ` receiver.

One process is both the client and the backend. It sends gzipped requests over loopback, at a fixed rate and with up to 256 concurrent
requests, and shares the cores with the collector. Response times are measured from the scheduled send time. Figures per core use only the
collector's own CPU time; compare all other figures within this page only.
`

// loadPage collects the results for docs/load.md.
type loadPage struct {
	begin        time.Time
	loadBefore   string
	rates        []rate
	whole, parts []string
	gc, tooMuch  []string
	tee          string
}

// rate is a row about one receiver at one rate.
type rate struct {
	of       string // profiles and receiver
	answered float64
	row      string
}

func newLoadPage() *loadPage { return &loadPage{begin: time.Now(), loadBefore: harness.LoadAverage()} }

func (p *loadPage) step(m mix, in, twin stretch, inPeak, twinPeak int) {
	for _, s := range []struct {
		name string
		stretch
		peak int
	}{{"Sentry", in, inPeak}, {"OTLP", twin, twinPeak}} {
		of := fmt.Sprintf("| %s | %s |", m.name, s.name)
		p.rates = append(p.rates, rate{of, s.answered(), of + fmt.Sprintf(" %.0f | %.0f | %.0f | %.0f | %v | %d |", s.offered,
			s.answered(), float64(s.samples)/s.took.Seconds(), float64(len(s.accepted))/s.cpu.Seconds(), s.wait(0.99), s.peak)})
	}
}

func (p *loadPage) lastSteps() string {
	return "\n" + p.rates[len(p.rates)-2].row + "\n" + p.rates[len(p.rates)-1].row
}

// most returns the rows of the most responses, for each receiver.
func (p *loadPage) most() (rows []string) {
	for i, first := range p.rates {
		if slices.ContainsFunc(p.rates[:i], func(r rate) bool { return r.of == first.of }) {
			continue
		}
		most := first
		for _, r := range p.rates[i:] {
			if r.of == first.of && r.answered > most.answered {
				most = r
			}
		}
		rows = append(rows, most.row)
	}
	return rows
}

// partColumns is the head of the shares of CPU time, which are in the log only.
func partColumns() string {
	head := "| Profiles | Exporter |"
	for _, part := range append(slices.Clone(cpuParts), cpuPart{name: "rest"}) {
		head += " " + part.name + " |"
	}
	return head + "\n"
}

func (p *loadPage) wholePath(m mix, exporter string, s stretch, parts []float64) {
	of := fmt.Sprintf("| %s | %s |", m.name, exporter)
	p.whole = append(p.whole, of+fmt.Sprintf(" %.0f | %v |", float64(len(s.accepted))/s.cpu.Seconds(),
		s.cpu/time.Duration(s.samples)))
	for _, share := range parts {
		of += fmt.Sprintf(" %.0f%% |", share)
	}
	p.parts = append(p.parts, of)
}

func (p *loadPage) overload(what string, s stretch, peak int) {
	p.tooMuch = append(p.tooMuch, fmt.Sprintf("| %s | %.0f | %.0f | %.0f | %v | %d of %d |", what, s.offered,
		s.delivered(), float64(len(s.accepted))/s.cpu.Seconds(), s.wait(0.99), peak, overloadMiB))
}

const (
	wholeHead = `
## End to end

The collector receives profiles, links them to spans that have already arrived (` + "`link::wait: 0s`" + `), and exports them to a server that accepts
everything.

| Profiles | Exporter | Profiles per second and core | CPU time per sample |
|---|---|---|---|
`
	floorText = `
*Received as OTLP*: the same profiles arrive as OTLP and are only forwarded. *Floor*: a small program decompresses the request with the same
library, and compresses and posts a prepared result. With gzip, compression takes more CPU time than any other step.
`
	tooMuchHead = `
## Overload

A collector with a ` + "`memory_limiter`" + `, and a ` + "`sending_queue`" + ` of 200 requests (one profile each) in front of an OTLP backend, receives recorded
profiles for ten seconds. Every accepted profile was delivered; the test compares IDs. All others were refused with
` + "`X-Sentry-Rate-Limits`" + ` and counted ([operations](operations.md#overload)). The test fails otherwise, if the 99th percentile of the response
times reaches one second, or if the delivery rate falls to half of the capacity.

In the first row, the backend accepts one profile every 10 ms; in the others, it is fast. The capacity is the highest delivery rate while the
test raises the rate by 50% every three seconds.

| | Offered/s | Delivered/s | Delivered per CPU-second | p99 | Peak RSS, MiB |
|---|---|---|---|---|---|
`
	ratesHead = `
## Rising rate

The collector receives profiles without exporting them (` + "`nop`" + `). The table shows the rate with the most responses per second.

| Profiles | Sent as | Offered/s | Responses/s | Samples/s | Profiles per CPU-second | p99 | Peak RSS, MiB |
|---|---|---|---|---|---|---|---|
`
	gcHead = `
## Garbage collection

The same path as in [End to end](#end-to-end), with ` + "`otlp_http`" + `, zstd and ` + "`GOMEMLIMIT=1024MiB`" + `.

| Profiles | GOGC | CPU time per profile | p99 of responses | Peak RSS, MiB |
|---|---|---|---|---|
`
	teeHead = `
## Tee

Two collectors, one with a [tee](../sentryteeextension/README.md) (` + "`answer: own`" + `) and one without, alternately receive recorded profiles for
one second at 100 per second, without exporting them. *Posting alone*: a third process only posts the same bodies, which is about the minimum
cost of a second HTTP exchange.

| Collector | Requests | CPU time per request | p50 | p90 | p99 |
|---|---|---|---|---|---|
`
)

func (p *loadPage) write(t *testing.T) {
	var page strings.Builder
	page.WriteString(loadHead)
	fmt.Fprintf(&page, "\n%s, %d cores, %s. One-minute load average before and after: %s, %s. The run took %v.\n",
		p.begin.UTC().Format(time.DateOnly), runtime.NumCPU(), runtime.GOARCH, p.loadBefore, harness.LoadAverage(), time.Since(p.begin).Round(time.Second))
	page.WriteString(wholeHead + strings.Join(p.whole, "\n") + "\n" + floorText)
	page.WriteString(tooMuchHead + strings.Join(p.tooMuch, "\n") + "\n")
	page.WriteString(ratesHead + strings.Join(p.most(), "\n") + "\n")
	page.WriteString(gcHead + strings.Join(p.gc, "\n") + "\n")
	page.WriteString(teeHead + p.tee)
	require.NoError(t, os.WriteFile(filepath.Join(golden.Root(t), "docs", "load.md"), []byte(page.String()), 0o644))
	t.Log("\n" + page.String())
}
