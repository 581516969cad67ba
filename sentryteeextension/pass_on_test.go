// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
)

// TestPassOnForAnHour: Sentry limits all or one of the categories for an hour. With on_limit:
// pass_on, an SDK sends, drops and reports the same data as without a tee. With answer: own, the
// SDK receives a limit with its next response, so that Sentry answers one more request.
func TestPassOnForAnHour(t *testing.T) {
	for _, limit := range []string{"", "error"} {
		t.Run("limit on "+sentry.Category(limit).Label(), func(t *testing.T) {
			direct := starved(t, limit, "")
			upstream := starved(t, limit, answerUpstream)
			own := starved(t, limit, answerOwn)
			for category := range direct.Dropped {
				t.Logf("%s: %d accepted, %d limited, %d dropped, %d reported; with answer: own: %d, %d, %d, %d", category,
					len(direct.Accepted[category]), len(direct.Limited[category]), len(direct.Dropped[category]), direct.Reported[category],
					len(own.Accepted[category]), len(own.Limited[category]), len(own.Dropped[category]), own.Reported[category])
			}
			assert.Equal(t, direct, upstream)
			assert.NotEmpty(t, direct.Dropped)
			assert.NotEmpty(t, direct.Accepted)
			for category, n := range direct.Reported {
				assert.EqualValues(t, len(direct.Dropped[category]), n, "the reports have what the SDK dropped: %s", category)
			}

			assert.Equal(t, direct.Accepted, own.Accepted)
			for category, dropped := range direct.Dropped {
				late := len(own.Limited[category]) - len(direct.Limited[category]) // requests before the next response
				require.Contains(t, []int{0, 1}, late)
				assert.Equal(t, append(direct.Limited[category], dropped...), append(own.Limited[category], own.Dropped[category]...), "not accepted: %s", category)
				assert.EqualValues(t, len(own.Dropped[category]), own.Reported[category])
			}
		})
	}
}

// outcome has the numbers of items by category, in the order in which the SDK captured them.
type outcome struct {
	Accepted, Limited map[string][]int // by Sentry
	Dropped           map[string][]int // by the SDK
	Reported          map[string]int64 // by the SDK, to Sentry
}

// starved runs an SDK for 90 minutes, through a tee or directly, with a Sentry that limits a
// category in the first hour.
func starved(t *testing.T, limit, answer string) (got outcome) {
	synctest.Test(t, func(t *testing.T) {
		server := &limitingSentry{t: t, category: limit, until: time.Now().Add(time.Hour), outcome: outcome{
			Accepted: map[string][]int{}, Limited: map[string][]int{}, Dropped: map[string][]int{}, Reported: map[string]int64{},
		}}
		send := server.respond
		if answer != "" {
			b := newBench(t, nil, func(cfg *Config) { cfg.Answer, cfg.OnLimit = answer, onLimitPassOn })
			b.postWith = func(_ *bench, r *request) (int, map[string][]string) { return server.respond(r.Body) }
			b.run()
			defer b.close()
			send = throughTee(t, b)
		}
		sdk := &modelSDK{server: server, send: send}
		for n := 0; n < 90*6; n++ { // every ten seconds; at the end of the hour, between two of them
			sdk.capture(n, []string{"error", "transaction"}[n%2])
			time.Sleep(10 * time.Second)
		}
		sdk.flush()
		synctest.Wait()
		got = server.outcome
	})
	return got
}

// throughTee returns a function that sends an envelope through a tee, to a receiver that accepts
// everything.
func throughTee(t *testing.T, b *bench) func(body []byte) (int, map[string][]string) {
	extension := &tee{cfg: b.cfg, forwarder: b.forwarder, telemetry: b.forwarder.telemetry, logger: b.forwarder.logger, via: product + "test"}
	handler, err := extension.wrap(t.Context(), http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		_, _ = io.WriteString(w, "{}")
	}))
	require.NoError(t, err)
	return func(body []byte) (int, map[string][]string) {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("POST", envelopePath, strings.NewReader(string(body))))
		return w.Code, w.Header()
	}
}

// limitingSentry replaces Sentry.
type limitingSentry struct {
	t        *testing.T
	category string // "" = all
	until    time.Time

	mu      sync.Mutex
	outcome outcome
}

// respond decides on each item, as Relay does.
func (s *limitingSentry) respond(body []byte) (int, map[string][]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := sentry.ReadEnvelope(body)
	require.NoError(s.t, err)
	left, status := time.Until(s.until), http.StatusOK
	for i := range e.Items {
		item := &e.Items[i]
		if item.Header.Type == sentry.ItemClientReport {
			report, err := event.DecodeClientReport(item.Payload)
			require.NoError(s.t, err)
			for _, lost := range report.Events {
				s.outcome.Reported[lost.Category] += lost.Quantity
			}
			continue
		}
		var payload struct {
			Number   int
			Category string
		}
		require.NoError(s.t, json.Unmarshal(item.Payload, &payload))
		to := s.outcome.Accepted
		if left > 0 && (s.category == "" || s.category == payload.Category) {
			to, status = s.outcome.Limited, http.StatusTooManyRequests
		}
		to[payload.Category] = append(to[payload.Category], payload.Number)
	}
	if status == http.StatusOK {
		return status, nil
	}
	return status, map[string][]string{sentry.HeaderRateLimits: {fmt.Sprintf("%d:%s:organization:quota", int(left.Seconds()+0.999), s.category)}}
}

// modelSDK follows the rules of SDKs: it drops items of limited categories, and reports them with
// its next envelope.
type modelSDK struct {
	server *limitingSentry // for the record of what is dropped
	send   func(body []byte) (int, map[string][]string)
	limits sentry.ActiveLimits
	lost   map[string]int64
}

var itemTypes = map[string]sentry.ItemType{"error": sentry.ItemEvent, "transaction": sentry.ItemTransaction}

func (s *modelSDK) capture(number int, category string) {
	if wait, _ := s.limits.Of([]sentry.Category{sentry.Category(category)}, time.Now()); wait > 0 {
		s.server.mu.Lock()
		s.server.outcome.Dropped[category] = append(s.server.outcome.Dropped[category], number)
		s.server.mu.Unlock()
		if s.lost == nil {
			s.lost = map[string]int64{}
		}
		s.lost[category]++
		return
	}
	payload := fmt.Sprintf(`{"number":%d,"category":%q}`, number, category)
	s.post(append(s.report(), sentry.Item{Header: sentry.ItemHeader{Type: itemTypes[category]}, Payload: []byte(payload)}))
}

// report returns a client report of what was dropped since the last one, if anything.
func (s *modelSDK) report() (items []sentry.Item) {
	report := &event.ClientReport{}
	for category, n := range s.lost {
		report.Events = append(report.Events, event.LostEvents{Outcome: event.OutcomeClientDiscard, Reason: "ratelimit_backoff", Category: category, Quantity: n})
	}
	s.lost = nil
	if len(report.Events) == 0 {
		return nil
	}
	return []sentry.Item{{Header: sentry.ItemHeader{Type: sentry.ItemClientReport}, Payload: event.ClientReports.Append(nil, report)}}
}

func (s *modelSDK) flush() {
	if items := s.report(); len(items) > 0 {
		s.post(items)
	}
}

func (s *modelSDK) post(items []sentry.Item) {
	body, err := sentry.AppendEnvelope(nil, &sentry.Envelope{Items: items})
	require.NoError(s.server.t, err)
	status, header := s.send(body)
	s.limits.Learn(status, header, time.Now())
}
