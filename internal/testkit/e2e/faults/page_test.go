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
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

const faultsHead = `# Faults

This page reports how much data the collector loses if it is killed, its disk is full, or its backend fails; ` + "`make faults`" + ` writes it.
Clients send profiles, transactions and logs while a fault happens at a random moment. At the end, every acknowledged item, identified by
its ID, must have arrived or be accounted for. Each round uses its own collector, directory and backend.
` + "`FAULTS=50 make faults`" + ` runs more rounds. The seed determines when the faults happen; which operation they interrupt also depends on the
speed of the machine.

An item is *acknowledged* if its request received a 200 response whose ` + "`X-Sentry-Rate-Limits`" + ` header does not name the item's category. All
configurations use a persistent queue (` + "`sending_queue: {storage: file_storage}`" + `) and, unless stated otherwise,
` + "`retry_on_failure: {max_elapsed_time: 0}`" + `. *Held*
refers to profiles that wait for their spans in ` + "`profile_transform`" + `: ` + "`link::wait`" + ` is either 0s (*nothing
held*) or 1s; with 1s, profiles wait in the configured ` + "`storage`" + ` (*held in storage*) or in memory (*held in memory*). The receiver answers
when the queue has stored the item on disk, or when the processor holds it.

| Fault | What happens | Expected result |
|---|---|---|
| kill -9 | one to three times, while the backend accepts some requests, refuses others and breaks some connections | only profiles held in memory are lost; requests in flight are delivered again |
| kill -9 during the start | with a filled queue, one to five times, each within a second of the start | as above, plus *lost by the queue* |
| SIGTERM | one to three times; the backend behaves as above, or is down | nothing is lost: the queue stays on disk, and held profiles are moved to it |
| reload | SIGHUP with a changed configuration, one to three times | as above |
| backend down | one to three times, with 503 and broken connections; in some rounds the queue is too small | the receiver refuses items that the queue does not accept, so that SDKs pause; held profiles wait |
| backend slow | most answers take 20 or 100 ms, some longer than the exporter's timeout | nothing is lost; requests that timed out may be delivered twice |
| backend refuses | 400 for a third of the requests | refused items are dropped, logged and counted in ` + "`otelcol_exporter_send_failed_*`" + ` |
| one message always refused | the backend always refuses some items (one in *n*, with *n* between 6 and 25) with a 502, a 503, a broken connection or a late 504, and accepts all others; some rounds restart the collector. Because ` + "`otlp_http`" + ` waits for each response, *n* is between 26 and 45 there. With held profiles, ` + "`otlp_http`" + ` has no queue, so that the processor retries | refused items are dropped after a second and counted, or arrive once the backend accepts them; all others arrive: see *Isolation* |
| one category limited for an hour | 429 with ` + "`Retry-After: 3600`" + ` for all spans, or with a one-hour ` + "`X-Sentry-Rate-Limits`" + ` for profile chunks from browsers, until the collector restarts | all others arrive during the limit: see *Isolation*; the limited items arrive after the restart |
| disk full | a file system of 8 MB fills up while the backend is down, and has free space again once the backend is back | the receiver refuses items that cannot be stored; held profiles wait; see *lost by the queue* |
| restart on a full disk | as above; while the disk is full, the collector is stopped with SIGTERM or kill -9 and started again | as above; profiles held in memory are lost |
| corrupt file | one file of the storage is damaged between two runs; if the collector does not start with it, the test moves it away | only items in that file are lost |

- *No answer*: the connection broke. The item may or may not have been accepted; an SDK cannot tell either.
- *Delivered meanwhile*: delivered before the end of the fault. *Delivered after*: delivered later, from the queue or from held profiles.
- *Dropped, counted*: dropped by the exporter, or by the processor. The processor drops profiles that the next component still refuses when
  the retry time ends, or refuses during a shutdown.
- *Held, lost*: profiles that were only in memory when the collector was killed. Their number must not exceed the last value of
  ` + "`otelcol_processor_profile_transform_held_messages`" + ` before the kill, plus the profiles that were being forwarded or were acknowledged
  since.
- *Lost by the queue*: dropped by the collector's own persistent queue, which logs the loss but does not count it. At startup, the queue
  first deletes the requests that were in flight, then stores them again (` + "`enqueueNotDispatchedReqs`" + ` in exporterhelper's
  persistent_queue.go, v0.164.0): a full disk or a kill at that moment loses at most ` + "`num_consumers`" + ` requests per signal. To read a request,
  the queue must first mark it on disk; if the disk is full, it skips the request (` + "`getNextItem`" + `). Keep the queue's limit in bytes well
  below the size of its disk ([operations](operations.md#when-things-break)).
- *In the file, lost*: the item was in the damaged file.
- *Again*: repeated deliveries. Backends can deduplicate by ID.

A killed process loses nothing that it has written. A power cut may lose data or damage the file: ` + "`file_storage`" + ` syncs to disk only with
` + "`fsync: true`" + `. These tests do not simulate power cuts.

With most kinds of damage, the collector does not start: it reports "invalid database" with the name of the component, or bbolt, the
database behind ` + "`file_storage`" + `, panics. You must then move the file away manually. All rounds use ` + "`file_storage: {recreate: true}`" + `, which
should replace such a file but rarely does (*starts with a new file* in [Damaged files](#damaged-files)): it handles only panics that it can
recover from, whereas "invalid database" is an error, and bbolt v1.5.0 panics in its own goroutine (` + "`freepages`" + ` in db.go).

The database does not detect all damage. ` + "`sentry_envelope`" + ` and ` + "`profile_transform`" + ` verify a checksum of each message, count failures
(` + "`otelcol_exporter_sentry_envelope_unreadable_requests`" + `, ` + "`otelcol_processor_profile_transform_storage_errors`" + `) and continue with the next.
The queues of other exporters have no checksums: they drop messages that they cannot decode, and log it at debug level only.
`

// faultsPage collects the results for docs/faults.md.
type faultsPage struct {
	setups       []setup
	begin        time.Time
	loadBefore   string
	rounds, seed int

	mu          sync.Mutex
	accounts    map[cell]*account
	latest      map[cell]time.Duration
	otlp        account      // of the OTLP side of a tee
	done        map[cell]int // number of rounds
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
		accounts: map[cell]*account{}, latest: map[cell]time.Duration{}, done: map[cell]int{}, damaged: map[damaged]*loss{},
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
	p.done[at]++
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
## Results

Numbers are items, summed over the rounds. *Acknowledged* is the sum of the columns to its right, without *Again*.

| Fault | Configuration | Rounds | Sent | No answer | Refused | Acknowledged | Delivered meanwhile | Delivered after | Dropped, counted | Held, lost | Lost by the queue | In the file, lost | **Unexplained** | Again |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
`

func (p *faultsPage) ledger() string {
	var rows strings.Builder
	var total account
	rounds := 0
	row := func(fault, setup string, rounds int, a *account) {
		fmt.Fprintf(&rows, "| %s | %s | %d |", fault, setup, rounds)
		for _, n := range a.numbers() {
			rows.WriteString(" " + strconv.Itoa(*n) + " |")
		}
		rows.WriteString("\n")
	}
	for f := range faults {
		for s := range p.setups {
			at := cell{f, s}
			if p.done[at] == 0 {
				row(faults[f].name, p.setups[s].name, 0, &account{})
				continue
			}
			row(faults[f].name, p.setups[s].name, p.done[at], p.accounts[at])
			total.add(*p.accounts[at])
			rounds += p.done[at]
		}
	}
	row("**all**", "", rounds, &total)
	return rows.String()
}

const isolationHead = `
## Isolation

*Latest* is the longest time between acknowledgement and arrival of an item that the backend accepts while it refuses others. It includes
the one second for which profiles are held. The test fails above 30 s.

| Fault | Configuration | Rounds | Latest, s |
|---|---|---|---|
`

func (p *faultsPage) isolation() string {
	var rows strings.Builder
	for f := range faults {
		for s := range p.setups {
			if at := (cell{f, s}); p.latest[at] > 0 {
				fmt.Fprintf(&rows, "| %s | %s | %d | %.1f |\n", faults[f].name, p.setups[s].name, p.done[at], p.latest[at].Seconds())
			}
		}
	}
	return rows.String()
}

const damageHead = `
## Damaged files

| Damage to the file | Collector | Rounds | Items lost with the file |
|---|---|---|---|
`

func (p *faultsPage) damage() string {
	var rows strings.Builder
	for _, d := range slices.SortedFunc(maps.Keys(p.damaged), func(a, b damaged) int {
		return cmp.Or(cmp.Compare(a.damage, b.damage), cmp.Compare(a.ended, b.ended))
	}) {
		fmt.Fprintf(&rows, "| %s | %s | %d | %d |\n", d.damage, d.ended, p.damaged[d].rounds, p.damaged[d].items)
	}
	return rows.String()
}

// results has the tables of a run, also when something is unexplained: that is what they are for.
func (p *faultsPage) results(command string) string {
	var page strings.Builder
	fmt.Fprintf(&page, "\n%s, %d cores, %s: `FAULTS=%d FAULTS_SEED=%d %s`. One-minute load average before and after: %s, %s. "+
		"The run took %v.\n", p.begin.UTC().Format(time.DateOnly), runtime.NumCPU(), runtime.GOARCH, p.rounds, p.seed, command,
		p.loadBefore, harness.LoadAverage(), time.Since(p.begin).Round(time.Second))
	page.WriteString(ledgerHead + p.ledger())
	page.WriteString(isolationHead + p.isolation())
	page.WriteString(damageHead + p.damage())
	page.WriteString("\n## Unexplained losses\n\n" + cmp.Or(strings.Join(p.unexplained, "\n"), "None.") + "\n")
	return page.String()
}

// teeHeading begins the part of the page that the rounds of the tee write.
const teeHeading = "\n## Tee\n"

// writeExporters writes the page up to the part on the tee.
func (p *faultsPage) writeExporters(t *testing.T) {
	writePage(t, func(_, tee string) string { return faultsHead + p.results("make faults") + tee })
}

// writeTee writes the part on the tee.
func (p *faultsPage) writeTee(t *testing.T) {
	part := teeHead + p.results("go test ./internal/testkit/e2e/faults -tags faults -run TestTee") + p.otlpResults()
	part = strings.ReplaceAll(part, "\n## ", "\n### ")
	writePage(t, func(exporters, _ string) string { return exporters + teeHeading + part })
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
