// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/journal"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/omit"
)

// reports holds the losses not yet reported to Sentry, by key. With storage, only its writer
// changes them, so that they always match the stored requests.
type reports struct {
	mu       sync.Mutex
	byKey    map[key]omit.Losses
	overflow func() // called for losses of a key beyond maxKeys
}

// add adds losses of a key, or subtracts those in a report (sign -1).
func (r *reports) add(k key, t omit.Losses, sign int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byKey == nil {
		r.byKey = map[key]omit.Losses{}
	}
	sum, known := r.byKey[k]
	if !known && len(t) > 0 && len(r.byKey) >= maxKeys {
		if r.overflow != nil {
			r.overflow()
		}
		return
	}
	for l, quantity := range t {
		sum.Add(l, sign*quantity)
		if sum[l] <= 0 {
			delete(sum, l)
		}
	}
	r.byKey[k] = sum
	if len(sum) == 0 {
		delete(r.byKey, k)
	}
}

// change returns the change that adds losses of a key, or subtracts them (sign -1), or nil for no
// losses.
func (r *reports) change(k key, t omit.Losses, sign int64) journal.Change {
	if len(t) == 0 {
		return nil
	}
	return func(s int64) { r.add(k, t, s*sign) }
}

// all returns the losses of all keys.
func (r *reports) all() map[key]omit.Losses {
	r.mu.Lock()
	defer r.mu.Unlock()
	copied := make(map[key]omit.Losses, len(r.byKey))
	for k, t := range r.byKey {
		copied[k] = maps.Clone(t)
	}
	return copied
}

// storedLosses is the form of a key's losses in the storage.
type storedLosses struct {
	Project, Key string
	Events       []event.LostEvents
}

// encode encodes the losses of all keys for the storage.
func (r *reports) encode() ([]byte, error) {
	stored := []storedLosses{}
	for k, t := range r.all() {
		stored = append(stored, storedLosses{k.project, k.public, t.Events()})
	}
	return json.Marshal(stored)
}

// decode is the inverse of encode.
func (r *reports) decode(text []byte) error {
	var stored []storedLosses
	if err := json.Unmarshal(text, &stored); err != nil {
		return err
	}
	for _, s := range stored {
		r.add(key{s.Project, s.Key}, omit.LossesOf(s.Events), 1)
	}
	return nil
}

// newReport returns a client report with the losses of a key.
func newReport(k key, t omit.Losses, now time.Time) (*request, error) {
	losses := t.Events()
	payload := event.ClientReports.Append(nil, &event.ClientReport{
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

// reportClient is the client name in reports.
const reportClient = "otelcol-sentry-tee/1"
