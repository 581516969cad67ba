// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// faultsPage collects the results for docs/faults.md.
type faultsPage struct {
	setups       []setup
	begin        time.Time
	loadBefore   string
	rounds, seed int

	mu          sync.Mutex
	accounts    map[cell]*account
	latest      map[cell]time.Duration
	otlp        account // of the OTLP side of a tee
	damaged     map[damaged]*loss
	unexplained []string
}

// cell is a combination of fault and setup, by index.
type cell struct{ fault, setup int }

type damaged struct {
	damage string
	ended  ending
}

type loss struct{ rounds, items int }

func newFaultsPage(setups []setup, rounds, seed int) *faultsPage {
	return &faultsPage{
		setups: setups, begin: time.Now(), loadBefore: harness.LoadAverage(), rounds: rounds, seed: seed,
		accounts: map[cell]*account{}, latest: map[cell]time.Duration{}, damaged: map[damaged]*loss{},
	}
}

func (p *faultsPage) round(f, s int, r *rig, result account, unexplained []sentItem) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := cell{f, s}
	if p.accounts[at] == nil {
		p.accounts[at] = &account{}
	}
	p.accounts[at].add(result)
	if r.otlp != nil {
		p.otlp.add(r.otlp.account)
	}
	p.latest[at] = max(p.latest[at], r.latest)
	for _, i := range unexplained {
		p.unexplained = append(p.unexplained, fmt.Sprintf("- %s, %s: %s %s", faults[f].name, p.setups[s].name, i.kind, i.id))
	}
	if r.damage != "" {
		d := damaged{r.damage, r.ended}
		if p.damaged[d] == nil {
			p.damaged[d] = &loss{}
		}
		p.damaged[d].rounds++
		p.damaged[d].items += result.damaged
	}
}

const ledgerHead = `
Items, summed over the rounds of all configurations:

| Fault | Acknowledged | Not delivered | Again |
|---|---|---|---|
`

func (p *faultsPage) ledger() string {
	var rows strings.Builder
	var total account
	row := func(fault string, a *account) {
		fmt.Fprintf(&rows, "| %s | %d | %s | %d |\n", fault, a.acknowledged, a.undelivered(), a.again)
	}
	for f := range faults {
		var one account
		for s := range p.setups {
			if a := p.accounts[cell{f, s}]; a != nil {
				one.add(*a)
			}
		}
		row(faults[f].name, &one)
		total.add(one)
	}
	row("**all**", &total)
	return rows.String()
}

// undelivered returns the numbers of items that were not delivered, by cause.
func (a *account) undelivered() string {
	var causes []string
	for _, cause := range []struct {
		items int
		name  string
	}{{a.dropped, "dropped"}, {a.held, "held"}, {a.byQueue, "queue"}, {a.damaged, "file"}, {a.unexplained, "**unexplained**"}} {
		if cause.items > 0 {
			causes = append(causes, fmt.Sprint(cause.items, " ", cause.name))
		}
	}
	return cmp.Or(strings.Join(causes, ", "), "none")
}

const isolationHead = "\nLongest time until an item arrives that the backend accepts while it refuses others (limit: 30 s): "

func (p *faultsPage) isolation() string {
	var times []string
	for f := range faults {
		var latest time.Duration
		for s := range p.setups {
			latest = max(latest, p.latest[cell{f, s}])
		}
		if latest > 0 {
			times = append(times, fmt.Sprintf("%.1f s (%s)", latest.Seconds(), faults[f].name))
		}
	}
	return isolationHead + strings.Join(times, ", ") + ".\n"
}

const damageHead = `
| Damage to the file | Rounds | Collector does not start | Starts with a new file | Items lost with the file |
|---|---|---|---|---|
`

func (p *faultsPage) damages() string {
	type row struct{ rounds, stopped, renewed, items int }
	rows := map[string]row{}
	for d, l := range p.damaged {
		r := rows[d.damage]
		r.rounds += l.rounds
		r.items += l.items
		switch d.ended {
		case endsNot:
		case endsNotAnew:
			r.renewed += l.rounds
		default:
			r.stopped += l.rounds
		}
		rows[d.damage] = r
	}
	var text strings.Builder
	text.WriteString(damageHead)
	for _, damage := range slices.Sorted(maps.Keys(rows)) {
		r := rows[damage]
		fmt.Fprintf(&text, "| %s | %d | %d | %d | %d |\n", damage, r.rounds, r.stopped, r.renewed, r.items)
	}
	return text.String()
}

// results returns the results of a run, and what is unexplained.
func (p *faultsPage) results(command, more string) string {
	var page strings.Builder
	fmt.Fprintf(&page, "\n## Results\n\n%s, %d cores, %s: `FAULTS=%d FAULTS_SEED=%d %s`. One-minute load average before and after: %s, %s. "+
		"The run took %v.\n", p.begin.UTC().Format(time.DateOnly), runtime.NumCPU(), runtime.GOARCH, p.rounds, p.seed, command,
		p.loadBefore, harness.LoadAverage(), time.Since(p.begin).Round(time.Second))
	page.WriteString(ledgerHead + p.ledger())
	page.WriteString(p.isolation())
	page.WriteString(more)
	if len(p.unexplained) > 0 {
		page.WriteString("\n## Unexplained losses\n\n" + strings.Join(p.unexplained, "\n") + "\n")
	}
	return page.String()
}

// teeHeading begins the part of the page on the tee. Each part has a text, which people edit, and
// the results, which the tests replace.
const teeHeading = "\n## Tee\n"

func (p *faultsPage) writeExporters(t *testing.T) {
	writePage(t, func(exporters, tee string) string {
		text, _, _ := strings.Cut(exporters, "\n## Results\n")
		return text + p.results("make faults", p.damages()) + tee
	})
}

func (p *faultsPage) writeTee(t *testing.T) {
	results := p.results("go test ./internal/testkit/e2e/faults -tags faults -run TestTee", p.otlpResults())
	writePage(t, func(exporters, tee string) string {
		text, _, _ := strings.Cut(tee, "\n### Results\n")
		return exporters + text + strings.ReplaceAll(results, "\n## ", "\n### ")
	})
}

func writePage(t *testing.T, edit func(exporters, tee string) string) {
	path := filepath.Join(golden.Root(t), "docs", "faults.md")
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	exporters, tee, found := strings.Cut(string(before), teeHeading)
	if found {
		tee = teeHeading + tee
	}
	page := edit(exporters, tee)
	require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
	t.Log("\n" + page)
}
