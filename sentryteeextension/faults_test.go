// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/journal/journaltest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// defaultFaultRounds take a few seconds. The environment variable FAULTS sets another number.
const defaultFaultRounds = 400

// TestFaultRounds: in each round, Sentry fails, hangs, limits and recovers at random moments, the
// disk fills up, and the tee is restarted and killed. Afterwards, each item is exactly once
// accepted by Sentry, rate limited by Sentry, in a client report, or in a counter of the tee.
// Exceptions: a kill repeats some items, and loses those that were only in memory.
func TestFaultRounds(t *testing.T) {
	rounds := defaultFaultRounds
	if !testsize.Full() {
		rounds = 24
	}
	if n, err := strconv.Atoi(os.Getenv("FAULTS")); err == nil {
		rounds = n
	}
	seed := uint64(rand.IntN(1e6))
	if n, err := strconv.Atoi(os.Getenv("FAULTS_SEED")); err == nil {
		seed = uint64(n)
	}
	var total account
	var mu sync.Mutex // of total
	const groups = 4  // rounds of a group have the same kinds of faults
	t.Run("rounds", func(t *testing.T) {
		for group := range groups {
			t.Run(fmt.Sprint(group), func(t *testing.T) {
				t.Parallel()
				for round := group; round < rounds; round += groups {
					synctest.Test(t, func(t *testing.T) {
						r := &faultRound{t: t, random: rand.New(rand.NewPCG(seed, uint64(round))), kills: round%2 == 1, fullDisk: round%4 >= 2, disk: &memoryStorage{}, dropped: map[string]int64{}}
						r.run()
						settled := r.settle()
						mu.Lock()
						defer mu.Unlock()
						total.add(settled)
					})
					if t.Failed() {
						t.Fatalf("round %d of seed %d", round, seed)
					}
				}
			})
		}
	})
	t.Logf("%d rounds of seed %d: %+v", rounds, seed, total)
	assert.Positive(t, total.Reported)
	assert.Positive(t, total.LimitedBySentry)
	assert.Positive(t, total.Again)
	assert.Positive(t, total.InMemory)
}

// account has numbers of items by their end.
type account struct {
	Sent, Accepted, LimitedBySentry, Reported, Dropped int64
	InMemory                                           int64 // only in memory when the tee was killed, or restarted on a full disk
	Again                                              int64 // accepted or counted more than once
	Kills                                              int64
}

func (a *account) add(b account) {
	a.Sent += b.Sent
	a.Accepted += b.Accepted
	a.LimitedBySentry += b.LimitedBySentry
	a.Reported += b.Reported
	a.Dropped += b.Dropped
	a.InMemory += b.InMemory
	a.Again += b.Again
	a.Kills += b.Kills
}

// faultRound is one round: a tee between clients and a Sentry.
type faultRound struct {
	t        *testing.T
	random   *rand.Rand
	kills    bool
	fullDisk bool

	disk    *memoryStorage
	bench   *bench
	process *mortal          // the storage of the current process
	dropped map[string]int64 // as counted by earlier tees

	mu       sync.Mutex
	mood     mood
	limit    string // header value
	until    time.Time
	outcomes map[string]string // the first outcome of each item
	again    int64
	reported int64
	sent     int64
	killed   int64
	inMemory int64
	repeated int64 // maximum of losses that are reported again
}

// mood is the behavior of Sentry.
type mood int

const (
	well mood = iota
	failing
	unreachable
	slow // responds late, with 200
	limiting
	moods
)

// mortal is the storage of one process: once the process is killed, nothing more is written.
type mortal struct {
	*memoryStorage
	mu   sync.Mutex
	dead bool
}

var errKilled = errors.New("the process is dead")

func (m *mortal) GetClient(context.Context, component.Kind, component.ID, string) (storage.Client, error) {
	return journaltest.Client{Batches: m}, nil
}

func (m *mortal) Batch(ctx context.Context, ops ...*storage.Operation) error {
	time.Sleep(time.Millisecond)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errKilled
	}
	return m.memoryStorage.Batch(ctx, ops...)
}

func (r *faultRound) start() {
	r.process = &mortal{memoryStorage: r.disk}
	next := newBenchOn(r.t, r.process, func(cfg *Config) {
		cfg.NumConsumers = 4
		cfg.Forward = map[string]float64{"transaction": 0.5}
	})
	next.postWith = r.sentry
	r.mu.Lock()
	r.bench = next
	r.mu.Unlock()
	next.run()
}

// sentry responds to a request.
func (r *faultRound) sentry(b *bench, req *request) (int, map[string][]string) {
	time.Sleep(time.Duration(1+len(req.Target)%7) * time.Millisecond)
	r.mu.Lock()
	if b != r.bench {
		r.mu.Unlock()
		return 0, nil // of a killed process
	}
	now, mood := time.Now(), r.mood
	var header map[string][]string
	limits := &sentry.ActiveLimits{}
	if left := r.until.Sub(now); left > 0 {
		header = map[string][]string{sentry.HeaderRateLimits: {fmt.Sprintf("%d:%s:key", int(left.Seconds())+1, r.limit)}}
		limits.Learn(200, header, now)
	}
	status := 200
	switch mood {
	case failing:
		status = 503
	case unreachable:
		status = 0
	default:
		if !r.take(req, limits, now) {
			status = 429
		}
	}
	r.mu.Unlock()
	if mood == slow {
		time.Sleep(300 * time.Millisecond)
	}
	return status, header
}

// take records the outcomes of a request's items, and reports whether any was accepted.
func (r *faultRound) take(req *request, limits *sentry.ActiveLimits, now time.Time) (some bool) {
	e, err := sentry.ReadEnvelope(req.Body)
	require.NoError(r.t, err)
	for i := range e.Items {
		item := &e.Items[i]
		if item.Header.Type == sentry.ItemClientReport {
			report, err := event.DecodeClientReport(item.Payload)
			require.NoError(r.t, err)
			for _, lost := range report.Events {
				if lost.Category == "error" || lost.Category == "transaction" {
					r.reported += lost.Quantity
				}
			}
			some = true
			continue
		}
		outcome := "accepted"
		if wait, _ := limits.Of(sentry.LimitedBy(&item.Header), now); wait > 0 {
			outcome = "limited"
		} else {
			some = true
		}
		if r.outcomes[string(item.Payload)] != "" {
			r.again++
		} else {
			r.outcomes[string(item.Payload)] = outcome
		}
	}
	return some
}

func (r *faultRound) run() {
	r.outcomes = map[string]string{}
	r.start()
	for n := range 60 {
		r.send(n)
		time.Sleep(time.Duration(r.random.IntN(500)) * time.Millisecond)
		switch r.random.IntN(12) {
		case 0, 1, 2:
			r.mu.Lock()
			r.mood = mood(r.random.IntN(int(moods)))
			if r.mood == limiting {
				r.limit = []string{"error", "transaction", ""}[r.random.IntN(3)]
				r.until = time.Now().Add(time.Duration(1+r.random.IntN(30)) * time.Second)
			}
			r.mu.Unlock()
		case 3:
			r.restart()
		case 4:
			if r.kills {
				r.kill()
			}
		case 5:
			if !r.fullDisk {
				continue
			}
			r.disk.mu.Lock()
			r.disk.most = r.random.IntN(2) * (1 + r.random.IntN(4000)) // 0 = free space
			r.disk.mu.Unlock()
		}
	}
}

// send sends a request with an error and a transaction.
func (r *faultRound) send(n int) {
	r.sent += 2
	trace := fmt.Sprintf("%016x%016x", r.random.Uint64(), n)
	r.bench.sendBody("1", fmt.Sprint(n), envelopeOf(traceHeader(trace), `{"type":"event"}`, fmt.Sprintf(`{"n":"e%d"}`, n), `{"type":"transaction"}`, fmt.Sprintf(`{"n":"t%d"}`, n)))
}

func (r *faultRound) restart() {
	r.mu.Lock()
	old := r.bench
	r.mu.Unlock()
	for reason, count := range old.close() {
		r.dropped[reason] += count
	}
	r.inMemory += max(0, reportable(old.reports)-reportable(r.stored())) // lost on a full disk
	r.start()
}

// stored returns the losses that the storage has.
func (r *faultRound) stored() *reports {
	known := &reports{}
	if losses := r.disk.copied()[keyLosses]; losses != nil {
		value, err := collector.VerifyChecksum(losses)
		require.NoError(r.t, err)
		require.NoError(r.t, known.decode(value[1:]))
	}
	return known
}

// kill ends the tee without a shutdown. Requests that are only in memory are lost, with the losses
// to be reported for them.
func (r *faultRound) kill() {
	r.mu.Lock()
	old := r.bench
	r.bench = nil
	r.killed++
	r.process.mu.Lock()
	r.process.dead = true
	r.process.mu.Unlock()
	for reason, count := range old.counts() {
		r.dropped[reason] += count
	}
	stored := reportable(r.stored())
	r.inMemory += old.lostByKill()
	r.repeated += stored // Sentry may have the report already
	r.mu.Unlock()
	require.NoError(r.t, old.stop(context.Background()))
	r.inMemory += max(0, reportable(old.reports)-stored) // losses of requests that were in memory
	require.NoError(r.t, old.telemetry.Shutdown(context.Background()))
	r.start()
}

func (r *faultRound) settle() account {
	r.mu.Lock()
	r.mood, r.until = well, time.Time{}
	r.mu.Unlock()
	r.disk.mu.Lock()
	r.disk.most = 0
	r.disk.mu.Unlock()
	time.Sleep(5 * time.Minute)
	for reason, count := range r.bench.close() {
		r.dropped[reason] += count
	}
	a := account{Sent: r.sent, Reported: r.reported, Again: r.again, InMemory: r.inMemory, Kills: r.killed}
	for _, outcome := range r.outcomes {
		if outcome == "accepted" {
			a.Accepted++
		} else {
			a.LimitedBySentry++
		}
	}
	for key, requests := range r.dropped {
		if strings.HasPrefix(key, "envelope dropped") {
			a.Dropped += 2 * requests
		}
	}
	found := a.Accepted + a.LimitedBySentry + a.Reported + a.Dropped
	assert.LessOrEqual(r.t, a.Sent, found+a.InMemory, "%+v %v", a, r.dropped)
	if r.fullDisk {
		return a // requests that were not deleted are sent again
	}
	const underWay = 2 * 4 // items that the consumers process at each kill
	assert.LessOrEqual(r.t, found+a.Again, a.Sent+r.killed*underWay+r.repeated, "%+v %v", a, r.dropped)
	assert.LessOrEqual(r.t, a.InMemory, 2*r.killed*underWay) // with losses of requests that are also on the disk
	return a
}

// lostByKill returns the maximum number of items that are lost with the requests in the memory of a
// tee.
func (b *bench) lostByKill() (items int64) {
	b.forwarder.mu.Lock()
	defer b.forwarder.mu.Unlock()
	items = 2 * int64(b.schedule.UnderWay())
	for e := range b.schedule.All() {
		if e.number == 0 {
			items += 2
		}
	}
	return items
}

func reportable(r *reports) (items int64) {
	for _, losses := range r.all() {
		for l, quantity := range losses {
			if l.Category == sentry.CategoryError || l.Category == sentry.CategoryTransaction {
				items += quantity
			}
		}
	}
	return items
}

func (s *memoryStorage) copied() map[string][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.values)
}
