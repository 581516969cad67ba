//go:build faults

package e2e

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

	"github.com/otelcol-sentry/otelcol-sentry/internal/golden"
)

const faultsHead = `# Faults

Written by ` + "`make faults`" + `: clients send profiles, transactions and logs, something goes wrong at a random moment, and in the end every
item that was acknowledged must have arrived or be accounted for, by its id. Each round has a collector, a directory and a backend of its
own. ` + "`FAULTS=50 make faults`" + ` takes more rounds; the seed draws the moments, but what meets them is up to the machine.

An item is *acknowledged* if its request was answered 200 and ` + "`X-Sentry-Rate-Limits`" + ` does not name its category. All configurations
have a persistent queue (` + "`sending_queue: {storage: file_storage}`" + `) and ` + "`retry_on_failure: {max_elapsed_time: 0}`" + `. *Held* says what
becomes of profiles that wait for their spans in ` + "`profile_transform`" + `: ` + "`link::wait`" + ` is 0s (*nothing held*), or 1s with or without
` + "`storage`" + `. The receiver answers when the queue has the item on disk, or the processor holds it.

| Fault | What happens | What to expect |
|---|---|---|
| kill -9 | one to three times while the backend answers, refuses and breaks off | nothing is lost but what was held in memory; what was on its way comes again |
| kill -9 during the start | with something in the queue, up to five times within a second of the start | likewise, but see *by the queue* |
| SIGTERM | one to three times; the backend as above, or down | nothing is lost: the queue stays on disk, what is held goes into it |
| reload | SIGHUP with another configuration, one to three times | likewise |
| backend down | one to three times, 503 and broken connections, with a queue that is too small at times | what the queue does not take is refused, so that SDKs pause; held profiles wait on |
| backend slow | most answers take 20 or 100 ms, some longer than the exporter waits | nothing is lost; what timed out may come again |
| backend refuses | a third of the requests with 400 | those are dropped, logged and counted in ` + "`otelcol_exporter_send_failed_*`" + ` |
| this message is always refused | the backend refuses one item in 6 to 25 whenever it comes, by 502, 503, a broken connection or a late 504, and accepts all others; restarts in between. Where profiles are held, ` + "`otlp_http`" + ` has no queue | the refused items are dropped after 3 s and counted; all others arrive, see *Isolation* |
| this category is limited for an hour | the backend answers 429 with ` + "`Retry-After: 3600`" + ` to all spans, or with ` + "`X-Sentry-Rate-Limits`" + ` for an hour to the chunks of browsers; after a restart it accepts them | all others arrive during the limit, see *Isolation*; the limited items after the restart |
| disk full | a file system of 8 MB fills up while the backend is down, and has room again after the backend is back | what cannot be stored is refused; held profiles wait on; see *by the queue* |
| restart on a full disk | likewise, with SIGTERM or kill -9 and a start while it is full | likewise; what is held in memory is lost |
| corrupt file | one file of the storage is damaged between two runs; if the collector does not start with it, it is set aside | what was in that file may be lost, nothing else |

- *No answer*: the connection broke. The item may have been taken or not; an SDK does not know either.
- *Delivered meanwhile, after*: before the fault was over, and when the collector was left alone then (it was queued or held).
- *Dropped, counted*: by the exporter; or profiles that were held in memory and that the queue refused at a shutdown, which are in the log, too.
- *Held, lost*: profiles that waited in memory when the collector was killed: at most as many as it said just before
  (` + "`otelcol_processor_profile_transform_held_messages`" + `), those just being handed on, and those acknowledged since.
- *By the queue, lost*: dropped by the collector's own persistent queue, which says so in its log and counts it nowhere. When it starts, it
  deletes what was being sent before it stores it anew (` + "`enqueueNotDispatchedReqs`" + ` in exporterhelper's persistent_queue.go, v0.164.0): a
  full disk or a kill in between loses at most ` + "`num_consumers`" + ` requests of each signal. And to read a request it has to write that it is
  being sent; if the disk has no room for that, it passes over it (` + "`getNextItem`" + `). What helps: a queue that is bounded in bytes well below
  the size of its disk ([operations](operations.md#when-things-break)).
- *In the file, lost*: it was in a file that was damaged.
- *Again*: deliveries of what had been delivered. Backends can tell by the id.

A kill of the process loses nothing that was written; a power cut may, or may damage the file: ` + "`file_storage`" + ` waits for the disk with
` + "`fsync: true`" + ` only. No power was cut here.

A damaged file keeps the collector from starting in most cases that matter: with the error "invalid database", which names the component, or
with a panic of bbolt, the database behind ` + "`file_storage`" + `. All rounds ran with ` + "`file_storage: {recreate: true}`" + `, which is to set such
a file aside, and does in few cases if any (*starts with a new file*): the error is no panic, and bbolt v1.5.0 checks pages in a goroutine of its own
(` + "`freepages`" + ` in db.go), whose panics nobody can recover. Set the file aside by hand.

Damage that the database does not notice: ` + "`sentry_envelope`" + ` and ` + "`profile_transform`" + ` tell each message by a checksum, count it
(` + "`otelcol_exporter_sentry_envelope_unreadable_requests`" + `, ` + "`otelcol_processor_profile_transform_storage_errors`" + `) and go on with the next.
Queues of other exporters have no checksum; what cannot be decoded they drop, and say so at debug level only.
`

// faultsPage is docs/faults.md as it comes about.
type faultsPage struct {
	begin        time.Time
	loadBefore   string
	rounds, seed int

	mu          sync.Mutex
	accounts    map[cell]*account
	latest      map[cell]time.Duration
	done        map[cell]int // rounds
	damaged     map[damaged]*loss
	unexplained []string
}

// cell is a fault and a setup, by their places.
type cell struct{ fault, setup int }

type damaged struct {
	damage string
	ended  ending
}

type loss struct{ rounds, items int }

func newFaultsPage(rounds, seed int) *faultsPage {
	return &faultsPage{
		begin: time.Now(), loadBefore: loadAverage(), rounds: rounds, seed: seed,
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
	p.latest[at] = max(p.latest[at], r.latest)
	for _, i := range unexplained {
		p.unexplained = append(p.unexplained, fmt.Sprintf("- %s, %s: %s %s", faults[f].name, setups[s].name, i.kind, i.id))
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
## What was sent, and what became of it

In items; all numbers are sums over the rounds. *Acknowledged* is the sum of the columns after it, but for the last.

| Fault | Configuration | Rounds | Sent | No answer | Refused | Acknowledged | Delivered meanwhile | Delivered after | Dropped, counted | Held, lost | By the queue, lost | In the file, lost | **Unexplained** | Again |
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
		for s := range setups {
			at := cell{f, s}
			if p.done[at] == 0 {
				row(faults[f].name, setups[s].name, 0, &account{})
				continue
			}
			row(faults[f].name, setups[s].name, p.done[at], p.accounts[at])
			total.add(*p.accounts[at])
			rounds += p.done[at]
		}
	}
	row("**all**", "", rounds, &total)
	return rows.String()
}

const isolationHead = `
## Isolation

*Latest* is the longest time from the acknowledgement of an item that the backend accepts to its arrival, while the backend refused the others.
It includes the second that profiles are held. The test fails above 30 s.

| Fault | Configuration | Rounds | Latest, s |
|---|---|---|---|
`

func (p *faultsPage) isolation() string {
	var rows strings.Builder
	for f := range faults {
		for s := range setups {
			if at := (cell{f, s}); p.latest[at] > 0 {
				fmt.Fprintf(&rows, "| %s | %s | %d | %.1f |\n", faults[f].name, setups[s].name, p.done[at], p.latest[at].Seconds())
			}
		}
	}
	return rows.String()
}

const damageHead = `
## Damaged files

| The file is | and the collector | Rounds | Items in it that were lost |
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

// write writes the page, also when something is unexplained: that is what it is for.
func (p *faultsPage) write(t *testing.T) {
	var page strings.Builder
	page.WriteString(faultsHead)
	fmt.Fprintf(&page, "\n%s, %d cores, %s: `FAULTS=%d FAULTS_SEED=%d make faults`. Load average of a minute before and after: %s, %s. "+
		"The run took %v.\n", p.begin.UTC().Format(time.DateOnly), runtime.NumCPU(), runtime.GOARCH, p.rounds, p.seed,
		p.loadBefore, loadAverage(), time.Since(p.begin).Round(time.Second))
	page.WriteString(ledgerHead + p.ledger())
	page.WriteString(isolationHead + p.isolation())
	page.WriteString(damageHead + p.damage())
	page.WriteString("\n## Unexplained losses\n\n" + or(strings.Join(p.unexplained, "\n"), "None.") + "\n")
	require.NoError(t, os.WriteFile(filepath.Join(golden.Root(t), "docs", "faults.md"), []byte(page.String()), 0o644))
	t.Log("\n" + page.String())
}
