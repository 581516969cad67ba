// SPDX-License-Identifier: Apache-2.0

//go:build load

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

const loadHead = `# Load

Written by ` + "`make load`" + ` in one run of under three minutes: the sender, which is also the backend, and the built collector are two
processes on one machine, over loopback. Requests are gzipped and each has a fresh profile id. They are sent at their rate whatever
the answers (at most 256 at once), and waited for from when they were due.

- *Recorded*: profiles of real SDKs of up to 1 MB, V1 (with its transaction, which the receiver links it with) and V2, in turns.
- *Generated*: a chunk of 6060 samples of ten threads, 300 stacks of 20 frames.
- *OTLP*: the same profiles in the form that this collector gives them, sent to its ` + "`otlp`" + ` receiver.

**Times and rates are of a machine that did other work, too** (see its load average), and sender and collector shared its cores: compare
columns, not machines. What the collector did for each second of its own CPU time depends on that far less.
`

// loadPage is docs/load.md as it comes about.
type loadPage struct {
	begin          time.Time
	loadBefore     string
	rates, tooMuch []string
}

func newLoadPage() *loadPage { return &loadPage{begin: time.Now(), loadBefore: loadAverage()} }

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

The exporter is ` + "`nop`" + `; the two receivers take turns at each rate, in a collector each. p50 and p99 are of the wait for an answer.

| Profiles | as | Offered/s | Answered/s | Samples/s | Profiles per CPU-second | Samples per CPU-second | p50 | p99 | Peak RSS, MiB | Sentry ÷ OTLP, per CPU-second |
|---|---|---|---|---|---|---|---|---|---|---|
`
	tooMuchHead = `
## Twice too much

Recorded profiles for ten seconds (for the capacity, three), with a queue of 200 before an OTLP backend and a ` + "`memory_limiter`" + `. Every
profile that was accepted was delivered, compared by id; every other one was refused with ` + "`X-Sentry-Rate-Limits`" + ` (429, or 200 where
a transaction came with it) and counted as that, as an item or, where it was not even decompressed, as a request. The run fails
otherwise, if one of 100 answers takes a second, or if less is delivered in a second than half of the capacity.

The first backend takes one profile after the other, 10 ms each. The others are quick, but sender, collector and backend share the
cores, and the sender has no more than 256 requests waiting: clients without that bound were not tried. The capacity is the most that
was delivered in a second, exporter and backend included, at rates that rise by half until not half of it is.

What keeps deliveries up is that a pipeline that has refused something is not asked again for 20 ms: until then profiles are refused
before they are decompressed and decoded ([operations](operations.md#sizing)).

| | Offered/s | Answered | Not sent: 256 waiting | Accepted = delivered | Delivered/s | Delivered per CPU-second | 429 | 200 with limits | p50 | p99 | Peak RSS, MiB |
|---|---|---|---|---|---|---|---|---|---|---|---|
`
)

func (p *loadPage) write(t *testing.T) {
	var page strings.Builder
	page.WriteString(loadHead)
	fmt.Fprintf(&page, "\n%s, %d cores, %s. Load average of a minute before and after: %s, %s. The run took %v.\n",
		p.begin.UTC().Format(time.DateOnly), runtime.NumCPU(), runtime.GOARCH, p.loadBefore, loadAverage(), time.Since(p.begin).Round(time.Second))
	page.WriteString(ratesHead + strings.Join(p.rates, "\n") + "\n")
	page.WriteString(tooMuchHead + strings.Join(p.tooMuch, "\n") + "\n")
	require.NoError(t, os.WriteFile(filepath.Join(golden.Root(t), "docs", "load.md"), []byte(page.String()), 0o644))
	t.Log("\n" + page.String())
}
