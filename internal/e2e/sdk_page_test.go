// SPDX-License-Identifier: Apache-2.0

//go:build sdks

package e2e

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// row is what one run showed.
type row struct {
	sdk      sdk
	missing  string // why there was no run
	scenario string
	said     report
	spans    map[string]string // names by trace and id
	profiles int
	samples  int64
	shares   []share
	links    links
}

var scenarioNames = map[string]string{
	unprofiled: "none", byTransaction: "V1", byHand: "V2, manual", byTrace: "V2, trace", streamed: "V2, trace; spans streamed",
}

const pageHead = `# Compatibility

Real SDKs, installed from their registries at these versions, against the built collector. A run of all takes four minutes and
writes this page:

` + "```sh" + `
make sdks
` + "```" + `

Each line is one run of the workload in [internal/e2e/sdks](../internal/e2e/sdks) that passed: nested spans, busy functions under
spans of known names, on two threads where the SDK has threads, an error, a log. The run fails unless

- every span, profile, error and log that the SDK says it has sent comes out of the collector, and of everything that was on the wire
  nothing is lost, doubled or changed, sample by sample;
- each busy function has its share of its thread's time in the flame graph: within four standard deviations of a binomial
  distribution, at least five points. *Share* is the largest deviation, and what was allowed;
- the samples of busy functions are linked to the spans that they ran under: 95 %, for a sampler stamps a sample a moment before or
  after it is taken. *Linked* is how many were;
- the ` + "`sentry_envelope`" + ` exporter gives a stand-in for Sentry all spans under their parents, and all samples with their threads, times
  and stacks, as the SDK sent them.

| SDK | Version | Profiling | Spans | Errors | Logs | Profiles | Samples | Share | Linked | Dropped by the SDK |
|---|---|---|---|---|---|---|---|---|---|---|
`

const pageNotes = `
What to know of them:

- Browser: the SDK hangs all spans of a page below its root, unless it is told otherwise (` + "`parentSpanIsAlwaysRootSpan: false`" + `, as
  here). Which of several that ran at the same time had the thread is then unknown, and samples are linked to the root.
- Node: worker threads are not sampled, whatever their own SDK is told.
- Node 11.12.0 and Java 8.62.0 are the newest; 11.1.0 and 8.43.0 are those that Sentry's profilers for them were last published for.
- Node and browser 11 have no V1 profiles; Go 0.27.0 has, 0.50.0 has no profiles at all.
- Ruby: the version is that of Debian 12, older than profiles and logs; Rust has no profiles.
- Native: the version is that of an unofficial crate, of 2021 and older than spans and logs. One of its errors is a crash, which the
  next start of the program sends.
`

// writeCompatibility writes the page of all runs.
func writeCompatibility(t *testing.T, rows []row) {
	var page strings.Builder
	page.WriteString(pageHead)
	var missing []string
	for _, r := range rows {
		if r.missing != "" {
			missing = append(missing, fmt.Sprintf("- %s %s: %s\n", r.sdk.name, r.sdk.version, r.missing))
			continue
		}
		page.WriteString(r.line())
	}
	page.WriteString(pageNotes)
	if len(missing) > 0 {
		page.WriteString("\nNot run:\n\n" + strings.Join(missing, ""))
	}
	require.NoError(t, os.WriteFile(filepath.Join(golden.Root(t), "docs", "compatibility.md"), []byte(page.String()), 0o644))
}

func (r row) line() string {
	cells := []any{r.sdk.name, r.sdk.version, scenarioNames[r.scenario], orNone(len(r.said.Spans)), len(r.said.Errors), orNone(len(r.said.Logs)),
		orNone(r.profiles), orNone(int(r.samples)), r.worstShare(), r.links, r.dropped()}
	line := "|"
	for _, cell := range cells {
		line += fmt.Sprintf(" %v |", cell)
	}
	return line + "\n"
}

// worstShare is the one that came closest to what is allowed.
func (r row) worstShare() string {
	if len(r.shares) == 0 {
		return "–"
	}
	s := slices.MaxFunc(r.shares, func(a, b share) int {
		return cmp.Compare(math.Abs(a.got-a.want)/a.allowed, math.Abs(b.got-b.want)/b.allowed)
	})
	return fmt.Sprintf("%.1f of ±%.1f", 100*math.Abs(s.got-s.want), 100*s.allowed)
}

func (l links) String() string {
	if l.all() == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(l.right)/float64(l.all()))
}

// dropped is what the SDK says it has not sent.
func (r row) dropped() string {
	if r.said.Dropped == nil {
		return "does not tell"
	}
	var list []string
	for what, count := range r.said.Dropped {
		list = append(list, fmt.Sprintf("%d %s", count, what))
	}
	slices.Sort(list)
	return cmp.Or(strings.Join(list, ", "), "nothing")
}

func orNone(n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}
