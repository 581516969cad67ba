// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// loss is an entry of a client report without its quantity.
type loss struct {
	outcome, reason string
	category        sentry.Category
}

// tally has quantities of losses.
type tally map[loss]int64

func (t *tally) add(l loss, quantity int64) {
	if *t == nil {
		*t = tally{}
	}
	(*t)[l] += quantity
}

// label is why, as metrics have it.
func (l loss) label() string {
	if l.outcome == event.OutcomeRateLimited {
		return reasonLimited
	}
	return l.reason
}

// reason is why a request was omitted that has several items: rates come before limits.
func (t tally) reason() string {
	reason := ""
	for l := range t {
		if label := l.label(); reason != causeSampled.reason {
			reason = label
		}
	}
	return reason
}

// events are the entries of a client report in a fixed order.
func (t tally) events() []event.LostEvents {
	events := make([]event.LostEvents, 0, len(t))
	for l, quantity := range t {
		events = append(events, event.LostEvents{Outcome: l.outcome, Reason: l.reason, Category: string(l.category), Quantity: quantity})
	}
	slices.SortFunc(events, func(a, b event.LostEvents) int {
		return cmp.Or(cmp.Compare(a.Outcome, b.Outcome), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Category, b.Category))
	})
	return events
}

func tallyOf(events []event.LostEvents) tally {
	t := tally{}
	for _, e := range events {
		t.add(loss{e.Outcome, e.Reason, sentry.Category(e.Category)}, e.Quantity)
	}
	return t
}

// reports are the losses that Sentry does not know yet, by key. Losses of stored requests are added by the writer of the storage: what
// they say and which requests are stored agree at any time.
type reports struct {
	mu    sync.Mutex
	byKey map[key]tally
}

// add adds losses of a key, or with sign -1 subtracts what a report has.
func (r *reports) add(k key, t tally, sign int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byKey == nil {
		r.byKey = map[key]tally{}
	}
	sum := r.byKey[k]
	for l, quantity := range t {
		sum.add(l, sign*quantity)
		if sum[l] <= 0 {
			delete(sum, l)
		}
	}
	r.byKey[k] = sum
	if len(sum) == 0 {
		delete(r.byKey, k)
	}
}

// all returns the losses of all keys.
func (r *reports) all() map[key]tally {
	r.mu.Lock()
	defer r.mu.Unlock()
	copied := make(map[key]tally, len(r.byKey))
	for k, t := range r.byKey {
		copied[k] = maps.Clone(t)
	}
	return copied
}

// storedLosses are the losses of a key in the storage.
type storedLosses struct {
	Project, Key string
	Events       []event.LostEvents
}

// encode writes the losses of all keys for the storage.
func (r *reports) encode() ([]byte, error) {
	stored := []storedLosses{}
	for k, t := range r.all() {
		stored = append(stored, storedLosses{k.project, k.public, t.events()})
	}
	text, err := json.Marshal(stored)
	if err != nil {
		return nil, err
	}
	return collector.AppendChecksum(append([]byte{formatVersion}, text...)), nil
}

// decode reads what encode wrote.
func (r *reports) decode(sealed []byte) error {
	value, err := collector.VerifyChecksum(sealed)
	switch {
	case err != nil:
		return err
	case len(value) == 0 || value[0] > formatVersion:
		return errNewerFormat
	}
	var stored []storedLosses
	if err := json.Unmarshal(value[1:], &stored); err != nil {
		return fmt.Errorf("%w: losses: %w", collector.ErrDamaged, err)
	}
	for _, s := range stored {
		r.add(key{s.Project, s.Key}, tallyOf(s.Events), 1)
	}
	return nil
}

// newReport returns the request that reports losses of a key.
func newReport(k key, t tally, now time.Time) (*request, error) {
	losses := t.events()
	payload := event.AppendClientReport(nil, &event.ClientReport{
		Timestamp: jsonscan.Timestamp{UnixNano: uint64(now.UnixNano()), Set: true}, Events: losses,
	})
	body, err := sentry.AppendEnvelope(nil, &sentry.Envelope{Items: []sentry.Item{{Header: sentry.ItemHeader{Type: sentry.ItemClientReport}, Payload: payload}}})
	if err != nil {
		return nil, err
	}
	auth := sentry.Auth{PublicKey: k.public, Version: fmt.Sprint(sentry.ProtocolVersion), Client: reportClient}
	return &request{
		Method: http.MethodPost, Target: "/api/" + k.project + "/envelope/", Received: now, Endpoint: endpointReport, Project: k.project, Key: k.public,
		Header: http.Header{"X-Sentry-Auth": {auth.Header()}, "Content-Type": {sentry.ContentTypeEnvelope}, "User-Agent": {reportClient}},
		Body:   body, Losses: losses,
	}, nil
}

// reportClient is who Sentry gets the reports from.
const reportClient = "otelcol-sentry-tee/1"
