// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pprofile/pprofileotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

// mood is a list of answers, from which a backend draws one at random for each request.
type mood []fakesentry.Answer

var (
	well   = mood{{}}
	down   = mood{{Status: http.StatusServiceUnavailable}, {Reset: true}}
	badDay = mood{{}, {}, {}, {Status: http.StatusServiceUnavailable}, {Reset: true}, {Reset: true, Taken: true},
		{Delay: 20 * time.Millisecond}, {Status: http.StatusTooManyRequests, Header: map[string]string{"Retry-After": "1"}}}
	// slow: some answers arrive after the exporter's timeout, although the backend accepts the
	// data.
	slow     = mood{{Delay: 20 * time.Millisecond}, {Delay: 100 * time.Millisecond}, {Delay: exporterTimeout + 200*time.Millisecond}}
	refusing = mood{{}, {}, {Status: http.StatusBadRequest}} // rejects a third permanently
)

// backend is the destination of the collector's exporter.
type backend struct {
	address string // as a line of the exporter's section, or the upstream of a tee
	collect func(t testing.TB, arrived map[sentItem]int)

	mu      sync.Mutex
	mood    mood
	marked  mood // for requests with a marked item; nil = as for others
	random  *rand.Rand
	arrived map[sentItem]int       // number of deliveries
	seen    map[sentItem]time.Time // time at which its arrival was first observed

	// Of Sentry, for a tee, which does not retry what Sentry has rejected or rate limited.
	rejected map[sentItem]bool
	reported map[kind]int // in client reports
}

func (b *backend) be(m mood) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mood = m
}

// beForMarked sets the answers for requests with a marked item.
func (b *backend) beForMarked(m mood) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.marked = m
}

// draw returns the answer to a request with these items.
func (b *backend) draw(items []sentItem) fakesentry.Answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.mood
	if b.marked != nil && slices.ContainsFunc(items, sentItem.marked) {
		m = b.marked
	}
	answer := m[b.random.IntN(len(m))]
	if answer.Status >= 400 && answer.Status < 500 {
		for _, i := range items {
			b.rejected[i] = true
		}
	}
	return answer
}

// arrivals returns the items that have arrived so far.
func (b *backend) arrivals(t testing.TB) map[sentItem]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.collect(t, b.arrived)
	for i := range b.arrived {
		if _, seen := b.seen[i]; !seen {
			b.seen[i] = time.Now()
		}
	}
	return maps.Clone(b.arrived)
}

func newBackend(t testing.TB, s setup, seed uint64) *backend {
	b := &backend{mood: well, random: rand.New(rand.NewPCG(seed, 0)), arrived: map[sentItem]int{}, seen: map[sentItem]time.Time{},
		rejected: map[sentItem]bool{}, reported: map[kind]int{}}
	if s.sentry {
		b.standInForSentry(t, s.tee)
	} else {
		b.takeOTLP(t)
	}
	return b
}

func (b *backend) standInForSentry(t testing.TB, forTee bool) {
	server := fakesentry.Start(t)
	server.Answer(func(r *fakesentry.Request) fakesentry.Answer { return b.draw(itemsOfEnvelope(t, r.Envelope)) })
	b.address = "dsn: " + server.DSN()
	if forTee {
		dsn, err := sentry.ParseDSN(server.DSN())
		require.NoError(t, err)
		b.address = "upstream: " + dsn.Scheme + "://" + dsn.Host
	}
	read := 0
	b.collect = func(t testing.TB, arrived map[sentItem]int) {
		taken := server.Taken()
		for _, e := range taken[read:] {
			for _, i := range itemsOfEnvelope(t, e) {
				arrived[i]++
			}
			b.countReports(t, e)
		}
		read = len(taken)
	}
}

// kindOfCategory are the categories of client reports that count items of each kind.
var kindOfCategory = map[string]kind{
	"profile": aProfile, "profile_chunk": aProfile, "profile_chunk_ui": aProfile, "transaction": aSpan, "log_item": aLog,
}

func (b *backend) countReports(t testing.TB, e *sentry.Envelope) {
	for _, item := range e.Items {
		if item.Header.Type != sentry.ItemClientReport {
			continue
		}
		report, err := event.DecodeClientReport(item.Payload)
		assert.NoError(t, err)
		for _, lost := range report.Events {
			b.reported[kindOfCategory[lost.Category]] += int(lost.Quantity)
		}
	}
}

func itemsOfEnvelope(t testing.TB, e *sentry.Envelope) (items []sentItem) {
	for _, item := range e.Items {
		var payload struct {
			ChunkID  string `json:"chunk_id"`
			EventID  string `json:"event_id"`
			Items    []struct{ Body string }
			Contexts struct {
				Trace struct {
					SpanID string `json:"span_id"`
				} `json:"trace"`
			} `json:"contexts"`
		}
		switch item.Header.Type {
		case sentry.ItemProfileChunk:
			assert.NoError(t, json.Unmarshal(item.Payload, &payload))
			items = append(items, sentItem{aProfile, payload.ChunkID})
		case sentry.ItemProfile:
			assert.NoError(t, json.Unmarshal(item.Payload, &payload))
			items = append(items, sentItem{aProfile, payload.EventID})
		case sentry.ItemTransaction:
			assert.NoError(t, json.Unmarshal(item.Payload, &payload))
			items = append(items, sentItem{aSpan, payload.Contexts.Trace.SpanID})
		case sentry.ItemLog:
			assert.NoError(t, json.Unmarshal(item.Payload, &payload))
			for _, record := range payload.Items {
				items = append(items, sentItem{aLog, record.Body})
			}
		}
	}
	return items
}

// takeOTLP answers requests to a sink according to the mood.
func (b *backend) takeOTLP(t testing.TB) {
	sink := harness.NewSink(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost { // another round probes this address, which its collector used before
			w.WriteHeader(http.StatusNotFound)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the collector was killed while it was sending
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		message, problem := sink.ReadRequest(r)
		assert.Empty(t, problem)
		answer := b.draw(itemsOf(t, r.URL.Path, message))
		r.Body = io.NopCloser(bytes.NewReader(body))
		time.Sleep(answer.Delay)
		if answer.Taken {
			sink.ServeHTTP(httptest.NewRecorder(), r)
		}
		for name, value := range answer.Header {
			w.Header().Set(name, value)
		}
		switch {
		case answer.Reset:
			panic(http.ErrAbortHandler)
		case answer.Status != 0:
			w.WriteHeader(answer.Status)
		default:
			sink.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	b.address = "endpoint: " + server.URL
	b.collect = func(t testing.TB, arrived map[sentItem]int) {
		for path, messages := range sink.DrainAll() {
			for _, message := range messages {
				for _, i := range itemsOf(t, path, message) {
					arrived[i]++
				}
			}
		}
	}
}

func itemsOf(t testing.TB, path string, message []byte) (items []sentItem) {
	switch path {
	case harness.ProfilesPath:
		request := pprofileotlp.NewExportRequest()
		assert.NoError(t, request.UnmarshalProto(message))
		if request.Profiles().ResourceProfiles().Len() > 0 {
			items = append(items, sentItem{aProfile, harness.ProfileID(request.Profiles())})
		}
	case harness.TracesPath:
		request := ptraceotlp.NewExportRequest()
		assert.NoError(t, request.UnmarshalProto(message))
		for _, resource := range request.Traces().ResourceSpans().All() {
			for _, scope := range resource.ScopeSpans().All() {
				for _, span := range scope.Spans().All() {
					id := span.SpanID()
					items = append(items, sentItem{aSpan, hex.EncodeToString(id[:])})
				}
			}
		}
	case harness.LogsPath:
		request := plogotlp.NewExportRequest()
		assert.NoError(t, request.UnmarshalProto(message))
		for _, resource := range request.Logs().ResourceLogs().All() {
			for _, scope := range resource.ScopeLogs().All() {
				for _, record := range scope.LogRecords().All() {
					items = append(items, sentItem{aLog, record.Body().AsString()})
				}
			}
		}
	}
	return items
}
