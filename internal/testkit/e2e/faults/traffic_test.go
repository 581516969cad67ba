// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// clients is the number of concurrent clients. Each sends one request after the other.
const clients = 4

// send starts the clients. stop ends them and waits for their last answers.
func (r *rig) send() (stop func()) {
	over := make(chan struct{})
	var sending sync.WaitGroup
	for range clients {
		random := rand.New(rand.NewPCG(r.random.Uint64(), r.random.Uint64()))
		sending.Go(func() {
			for {
				select {
				case <-over:
					return
				case <-time.After(time.Duration(random.IntN(4)) * time.Millisecond):
					r.sendOne(random)
				}
			}
		})
	}
	stop = sync.OnceFunc(func() {
		close(over)
		sending.Wait()
	})
	r.t.Cleanup(stop) // in case the test ends before
	return stop
}

func (r *rig) sendOne(random *rand.Rand) {
	request, items := r.setup.request(random)
	for _, l := range r.ledgers() {
		l.sent(items)
	}
	got, err := r.collector.Load().TrySend(request)
	switch nobody := (*net.OpError)(nil); {
	case errors.As(err, &nobody) && nobody.Op == "dial", got.Status == http.StatusNotFound: // or another process has the address of a killed collector
		for _, l := range r.ledgers() {
			l.unsent(items)
		}
		time.Sleep(5 * time.Millisecond)
	case err == nil:
		for _, l := range r.ledgers() {
			l.answered(items, got)
		}
		assert.Contains(r.t, []int{http.StatusOK, http.StatusTooManyRequests, http.StatusServiceUnavailable}, got.Status, got.Body)
	}
}

// awaitAnswers waits until this number of requests was answered, or the collector has ended.
func (r *rig) awaitAnswers(n int) {
	r.t.Helper()
	c := r.collector.Load()
	n += r.ledger.answersSoFar()
	require.Eventually(r.t, func() bool { return r.ledger.answersSoFar() >= n || !c.Running() }, time.Minute, time.Millisecond, "answers")
}

// request returns a request as SDKs send it: a V2 chunk, a transaction, both in the form of V1, or
// a log record.
func (s setup) request(random *rand.Rand) (harness.Request, []sentItem) {
	id, span := harness.NewID(), s.mark.id(aSpan, random, harness.NewID()[:16])
	transaction := func(more string) string {
		return fmt.Sprintf(`{"type":"transaction","event_id":"%s","transaction":"/cart","start_timestamp":%d,"timestamp":%[2]d.5,`+
			`"contexts":{%[3]s"trace":{"trace_id":"%[4]s","span_id":"%[5]s"}}}`, harness.NewID(), time.Now().Unix()-1, more, harness.NewID(), span)
	}
	switch draw := random.IntN(10); {
	case draw < 6:
		name := strings.Repeat("f", 1<<random.IntN(14)) // up to 8 KB
		c := harness.Chunk{ID: s.mark.id(aProfile, random, id), Samples: harness.TwoSamples, Frames: `{"function":"` + name + `","in_app":true}`}
		i := sentItem{aProfile, c.ID}
		if i.marked() {
			c.Platform = s.mark.platform
		}
		return c.Request(), []sentItem{i}
	case draw < 8:
		return harness.ItemRequest("transaction", transaction("")), []sentItem{{aSpan, span}}
	case draw < 9 || s.sentry && !s.tee: // the exporter takes no logs
		if s.tee && (sentItem{aSpan, span}).marked() { // it forwards both or neither
			id = mark + id[len(mark):]
		}
		return envelopeWith(
			[2]string{`{"type":"transaction"}`, transaction(`"profile":{"profile_id":"` + id + `"},`)},
			[2]string{`{"type":"profile"}`, harness.ProfileV1(id)},
		), []sentItem{{aProfile, id}, {aSpan, span}}
	default:
		return envelopeWith([2]string{`{"type":"log","item_count":1,"content_type":"application/vnd.sentry.items.log+json"}`,
			`{"items":[{"timestamp":1777629600,"trace_id":"` + harness.NewID() + `","level":"info","body":"` + id + `"}]}`}), []sentItem{{aLog, id}}
	}
}

// marking selects items that the backend treats differently. It recognizes them by their IDs.
type marking struct {
	oneIn    int    // one in this number of items is marked; 0 = none
	kind     kind   // only this kind; "" = profiles and spans
	platform string // platform of marked profiles; "" = as for others
}

const mark = "badbadba"

// id returns the ID of an item, with a mark if it is selected.
func (m marking) id(k kind, random *rand.Rand, id string) string {
	if m.oneIn == 0 || m.kind != "" && m.kind != k || random.IntN(m.oneIn) > 0 {
		return id
	}
	return mark + id[len(mark):]
}

func (i sentItem) marked() bool { return strings.HasPrefix(i.id, mark) }

// envelopeWith returns an envelope with items, each with its header and payload on one line.
func envelopeWith(items ...[2]string) harness.Request {
	var text strings.Builder
	fmt.Fprintf(&text, "{\"event_id\":\"%s\"}\n", harness.NewID())
	for _, item := range items {
		fmt.Fprintf(&text, "%s\n%s\n", item[0], item[1])
	}
	return harness.EnvelopeRequest([]byte(text.String()))
}
