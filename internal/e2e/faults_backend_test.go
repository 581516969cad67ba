//go:build faults

package e2e

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pprofile/pprofileotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/otelcol-sentry/otelcol-sentry/internal/fakesentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// mood is how a backend answers: each request gets one of these, drawn at random.
type mood []fakesentry.Answer

var (
	well   = mood{{}}
	down   = mood{{Status: http.StatusServiceUnavailable}, {Reset: true}}
	badDay = mood{{}, {}, {}, {Status: http.StatusServiceUnavailable}, {Reset: true}, {Reset: true, Taken: true},
		{Delay: 20 * time.Millisecond}, {Status: http.StatusTooManyRequests, Header: map[string]string{"Retry-After": "1"}}}
	// slow: some answers come after the exporter's timeout, though the backend takes what came.
	slow     = mood{{Delay: 20 * time.Millisecond}, {Delay: 100 * time.Millisecond}, {Delay: exporterTimeout + 200*time.Millisecond}}
	refusing = mood{{}, {}, {Status: http.StatusBadRequest}} // a third of it for good
)

// backend is where the collector exports to.
type backend struct {
	address string // as a line of the exporter's section
	collect func(t testing.TB, arrived map[sentItem]int)

	mu      sync.Mutex
	mood    mood
	random  *rand.Rand
	arrived map[sentItem]int // how often
}

func (b *backend) be(m mood) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mood = m
}

func (b *backend) draw() fakesentry.Answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mood[b.random.IntN(len(b.mood))]
}

// arrivals are the items that have arrived so far.
func (b *backend) arrivals(t testing.TB) map[sentItem]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.collect(t, b.arrived)
	return maps.Clone(b.arrived)
}

func newBackend(t testing.TB, s setup, seed uint64) *backend {
	b := &backend{mood: well, random: rand.New(rand.NewPCG(seed, 0)), arrived: map[sentItem]int{}}
	if s.sentry {
		b.standInForSentry(t)
	} else {
		b.takeOTLP(t)
	}
	return b
}

func (b *backend) standInForSentry(t testing.TB) {
	server := fakesentry.Start(t)
	server.Answer(func(*fakesentry.Request) fakesentry.Answer { return b.draw() })
	b.address = "dsn: " + server.DSN()
	read := 0
	b.collect = func(t testing.TB, arrived map[sentItem]int) {
		taken := server.Taken()
		for _, e := range taken[read:] {
			var payload struct {
				ChunkID  string `json:"chunk_id"`
				Contexts struct {
					Trace struct {
						SpanID string `json:"span_id"`
					} `json:"trace"`
				} `json:"contexts"`
			}
			require.NoError(t, json.Unmarshal(e.Items[0].Payload, &payload))
			switch e.Items[0].Header.Type {
			case sentry.ItemProfileChunk:
				arrived[sentItem{aProfile, payload.ChunkID}]++
			case sentry.ItemTransaction:
				arrived[sentItem{aSpan, payload.Contexts.Trace.SpanID}]++
			}
		}
		read = len(taken)
	}
}

// takeOTLP puts what happens to requests in front of a sink.
func (b *backend) takeOTLP(t testing.TB) {
	sink := newSink(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the collector was killed while it sent
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer := b.draw()
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
		for path, messages := range sink.takeAll() {
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
	case profilesPath:
		request := pprofileotlp.NewExportRequest()
		require.NoError(t, request.UnmarshalProto(message))
		if request.Profiles().ResourceProfiles().Len() > 0 {
			items = append(items, sentItem{aProfile, profileID(request.Profiles())})
		}
	case tracesPath:
		request := ptraceotlp.NewExportRequest()
		require.NoError(t, request.UnmarshalProto(message))
		for _, resource := range request.Traces().ResourceSpans().All() {
			for _, scope := range resource.ScopeSpans().All() {
				for _, span := range scope.Spans().All() {
					id := span.SpanID()
					items = append(items, sentItem{aSpan, hex.EncodeToString(id[:])})
				}
			}
		}
	case logsPath:
		request := plogotlp.NewExportRequest()
		require.NoError(t, request.UnmarshalProto(message))
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
