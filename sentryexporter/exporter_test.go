// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configcompression"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

// withoutQueue makes the caller wait for the result.
func withoutQueue(cfg *Config) {
	cfg.Queue = configoptional.None[exporterhelper.QueueBatchConfig]()
}

// withoutRetry makes every problem final.
func withoutRetry(cfg *Config) {
	withoutQueue(cfg)
	cfg.Retry.Enabled = false
}

func TestRequest(t *testing.T) {
	h := start(t, withoutQueue)
	require.NoError(t, h.send(backendChunk(1)))
	require.NoError(t, h.send(transaction(2)))

	requests := h.sentry.Requests()
	require.Len(t, requests, 2, "one item in each envelope")
	header := requests[0].Header
	assert.Equal(t, "application/x-sentry-envelope", header.Get("Content-Type"))
	assert.Equal(t, "gzip", header.Get("Content-Encoding"))
	assert.Equal(t, "otelcol-test/1.2.3", header.Get("User-Agent"))
	assert.Equal(t, []string{"Sentry sentry_version=7, sentry_client=otelcol-test/1.2.3, sentry_key=" + fakesentry.PublicKey}, header.Values("X-Sentry-Auth"))
	for i, want := range []envelope{backendChunk(1), transaction(2)} {
		got := requests[i].Envelope
		assert.Equal(t, sentry.EnvelopeHeader{EventID: want.EventID}, got.Header, "no sent_at above all")
		assert.Equal(t, []sentry.Item{want.Item}, got.Items)
	}
	assert.Equal(t, map[string]int64{"outcome=sent type=profile_chunk": 1, "outcome=sent type=transaction": 1},
		h.counts("otelcol_exporter_sentry_envelope_items"))
	assert.Equal(t, map[string]int64{"type=profile_chunk": 12, "type=transaction": 12}, h.counts("otelcol_exporter_sentry_envelope_bytes"))
}

// TestCredentialsNameTheSDK: ingest stores the SDK of the request with sessions and check-ins.
func TestCredentialsNameTheSDK(t *testing.T) {
	h := start(t, withoutQueue)
	sessions := handmade(1, sentry.ItemSessions, "")
	sessions.Client = "sentry.python/2.75.0"
	require.NoError(t, h.send(sessions))
	assert.Contains(t, h.sentry.Requests()[0].Header.Get("X-Sentry-Auth"), "sentry_client=sentry.python/2.75.0,")
	assert.Equal(t, "otelcol-test/1.2.3", h.sentry.Requests()[0].Header.Get("User-Agent"))
}

func TestCompressionCanBeSwitchedOff(t *testing.T) {
	h := start(t, func(cfg *Config) { cfg.HTTP.Compression = configcompression.Type("none") })
	require.NoError(t, h.send(backendChunk(1)))
	h.eventuallyTaken(1)
	assert.Empty(t, h.sentry.Requests()[0].Header.Get("Content-Encoding"))
}

// TestAnswers: what each status means for the envelope, and for the one behind it.
func TestAnswers(t *testing.T) {
	for status, want := range map[int]string{
		200: "sent", 202: "sent",
		400: "bad_request", 401: "unauthorized", 403: "forbidden", 404: "not_found", 413: "too_large", 415: "refused",
		408: "server_error", 500: "server_error", 502: "server_error", 503: "server_error",
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			h := start(t, withoutRetry)
			h.sentry.Answer(func(r *fakesentry.Request) fakesentry.Answer {
				return fakesentry.Answer{Status: []int{status, 200}[min(r.Number-1, 1)]}
			})
			err := h.send(backendChunk(1), backendChunk(2))
			switch want {
			case "sent":
				require.NoError(t, err)
				assert.Equal(t, []int{1, 2}, h.taken())
			case "server_error":
				require.Error(t, err)
				assert.False(t, consumererror.IsPermanent(err), "to be sent again")
				assert.Empty(t, h.taken(), "the sender sends the message again")
				assert.Equal(t, map[string]int64{"outcome=deferred reason=server_error type=profile_chunk": 1}, h.counts("otelcol_exporter_sentry_envelope_items"))
			default:
				require.NoError(t, err, "the other exporters of the pipeline may have accepted the message")
				dropped := h.logs.FilterMessage("Envelope dropped").All()
				require.Len(t, dropped, 1)
				assert.Contains(t, dropped[0].ContextMap()["error"], `"as the test says"`)
				assert.Equal(t, []int{2}, h.taken(), "the next is tried all the same")
				assert.Equal(t, map[string]int64{
					"outcome=refused reason=" + want + " type=profile_chunk": 1, "outcome=sent type=profile_chunk": 1,
				}, h.counts("otelcol_exporter_sentry_envelope_items"))
			}
		})
	}
}

// TestRedirectsAreNotFollowed: neither is the envelope lost in a GET that is answered 200, nor does
// anybody else see the key.
func TestRedirectsAreNotFollowed(t *testing.T) {
	var visits atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
	t.Cleanup(elsewhere.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		h := start(t, withoutRetry)
		h.sentry.Answer(func(*fakesentry.Request) fakesentry.Answer {
			return fakesentry.Answer{Status: status, Header: map[string]string{"Location": elsewhere.URL}}
		})
		require.NoError(t, h.send(backendChunk(1)))
		dropped := h.logs.FilterMessage("Envelope dropped").All()
		require.Len(t, dropped, 1)
		assert.Contains(t, dropped[0].ContextMap()["error"], elsewhere.URL)
		assert.Equal(t, map[string]int64{"outcome=refused reason=redirected type=profile_chunk": 1}, h.counts("otelcol_exporter_sentry_envelope_items"))
	}
	assert.Zero(t, visits.Load())
}

// TestOnlyTheRestIsRetried: of five envelopes the third meets trouble, of each kind.
func TestOnlyTheRestIsRetried(t *testing.T) {
	for name, trouble := range map[string]fakesentry.Answer{
		"server error":     {Status: 500},
		"unavailable":      {Status: 503, Header: map[string]string{"Retry-After": "1"}},
		"reset":            {Reset: true},
		"limited":          {Status: 429, Header: map[string]string{"X-Sentry-Rate-Limits": "1:profile_chunk:key:quota"}},
		"limited, no more": {Status: 429, Header: map[string]string{"Retry-After": "1"}},
		"slow":             {Delay: 300 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := start(t, func(cfg *Config) {
					withoutQueue(cfg)
					cfg.HTTP.Timeout = 200 * time.Millisecond
				})
				h.sentry.Answer(func(r *fakesentry.Request) fakesentry.Answer {
					if r.Number == 3 {
						return trouble
					}
					return fakesentry.Answer{}
				})
				require.NoError(t, h.send(backendChunk(1), backendChunk(2), backendChunk(3), backendChunk(4), backendChunk(5)))
				if trouble.Delay > 0 {
					h.eventuallyTaken(1, 2, 3, 3, 4, 5) // taken, but too late for us to know
				} else {
					h.eventuallyTaken(1, 2, 3, 4, 5)
				}
				var tried []string
				for _, r := range h.sentry.Requests() {
					tried = append(tried, string(r.Envelope.Items[0].Payload))
				}
				assert.Equal(t, `{"number":3}`, tried[2])
				assert.Len(t, tried, 6, "each once but the third")
			})
		})
	}
}

// TestTakenWithoutAnAnswer: at least once, with the same bytes and ids.
func TestTakenWithoutAnAnswer(t *testing.T) {
	h := start(t, nil)
	h.sentry.Answer(func(r *fakesentry.Request) fakesentry.Answer {
		return fakesentry.Answer{Reset: r.Number == 1, Taken: true}
	})
	require.NoError(t, h.send(backendChunk(7)))
	h.eventuallyTaken(7, 7)
	taken := h.sentry.Taken()
	assert.Equal(t, taken[0], taken[1])
}

// TestLimitsByCategory: what is limited waits, the rest goes on.
func TestLimitsByCategory(t *testing.T) {
	for _, row := range []struct {
		header string
		waits  []int
	}{
		{"1:profile_chunk:project:quota", []int{1}},
		{"1:profile_duration:organization:quota", []int{1}},
		{"1:profile_chunk_ui:project", []int{2}},
		{"1:profile_duration_ui;error:project", []int{2}},
		{"1:transaction:key", []int{3}},
		{"1:span;log_item:key", []int{4}},
		{"1:profile_chunk:project, 1:span:key", []int{1, 4}},
		{"1::organization", []int{1, 2, 3, 4}},
		{"1:error;unheard_of:organization", nil},
		{"1:profile:organization", nil}, // of V1, which is never sent
	} {
		t.Run(row.header, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := start(t, withoutQueue)
				h.sentry.Answer(func(r *fakesentry.Request) fakesentry.Answer {
					if r.Number == 1 {
						return fakesentry.Answer{Header: map[string]string{"X-Sentry-Rate-Limits": row.header}} // on a 200
					}
					return fakesentry.Answer{}
				})
				require.NoError(t, h.send(transaction(0)))
				begin := time.Now()
				require.NoError(t, h.send(backendChunk(1), uiChunk(2), transaction(3), spanContainer(4)))
				assert.Equal(t, []int{0, 1, 2, 3, 4}, h.taken())
				for _, r := range h.sentry.Requests()[1:] {
					n := numbers([]*sentry.Envelope{r.Envelope})[0]
					if slices.Contains(row.waits, n) {
						assert.GreaterOrEqual(t, r.At.Sub(begin), time.Second, "%d", n)
					}
				}
				throttled := int64(0)
				for _, n := range h.counts("otelcol_exporter_sentry_envelope_throttled") {
					throttled += n
				}
				assert.Equal(t, len(row.waits) > 0, throttled > 0)
			})
		})
	}
}

// TestLimitOfAnHour: data stays in the queue for as long as the limit says, and is not asked about
// in between.
func TestLimitOfAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, func(cfg *Config) { cfg.Queue.Get().NumConsumers = 1 })
		h.sentry.Answer(func(*fakesentry.Request) fakesentry.Answer {
			return fakesentry.Answer{Status: 429, Header: map[string]string{"X-Sentry-Rate-Limits": "3600:profile_chunk:project:quota"}}
		})
		require.NoError(t, h.send(backendChunk(1), backendChunk(2)))
		time.Sleep(time.Hour - time.Millisecond)
		assert.Len(t, h.sentry.Requests(), 1)
		waits := h.logs.FilterMessageSnippet("Will retry")
		require.NotZero(t, waits.Len())
		assert.Equal(t, time.Hour.String(), waits.All()[0].ContextMap()["interval"])

		h.sentry.Answer(nil)
		time.Sleep(time.Minute)
		assert.Equal(t, []int{1, 2}, h.taken())
	})
}

func TestReportLosses(t *testing.T) {
	h := start(t, func(cfg *Config) { withoutQueue(cfg); cfg.ReportLosses = true })
	h.sentry.Answer(func(r *fakesentry.Request) fakesentry.Answer {
		if r.Envelope.Items[0].Header.Type == sentry.ItemClientReport {
			return fakesentry.Answer{}
		}
		return fakesentry.Answer{Status: 413}
	})
	require.NoError(t, h.send(backendChunk(1), backendChunk(2), uiChunk(3)))
	large := transaction(4)
	large.Item.Payload = []byte(`{"number":4,"spans":[` + strings.Repeat("{},", 10) + `{}]}`)
	require.NoError(t, h.send(large), "a minute has not passed")
	h.stop()

	reports, reported := h.sentry.Taken(), map[string]int64{}
	assert.Len(t, reports, 2, "at once, and at the end")
	for _, e := range reports {
		report, err := event.DecodeClientReport(e.Items[0].Payload)
		require.NoError(t, err)
		assert.InDelta(t, float64(time.Now().UnixNano()), float64(report.Timestamp.UnixNano), float64(time.Minute))
		for _, lost := range report.Events {
			assert.Equal(t, "send_error", lost.Reason)
			assert.Equal(t, event.OutcomeClientDiscard, lost.Outcome)
			reported[lost.Category] += lost.Quantity
		}
	}
	assert.Equal(t, map[string]int64{"profile_chunk": 2, "profile_chunk_ui": 1, "span": 12, "transaction": 1}, reported)
}

// TestLossesOfSpans: a transaction is one loss and as many of spans as it has with its own, a
// container as many as it has.
func TestLossesOfSpans(t *testing.T) {
	for spansAs, want := range map[string]map[loss]int{
		spansAsTransactions: {{lossRejected, sentry.CategoryTransaction}: 1, {lossRejected, sentry.CategorySpan}: 3},
		spansAsContainers:   {{lossRejected, sentry.CategorySpan}: 3},
	} {
		h := &harness{t: t, metrics: componenttest.NewTelemetry()}
		e := newTestExporter(t, testConfig(fakesentry.StartInMemory(t), func(cfg *Config) { cfg.SpansAs = spansAs }), h.settings())
		traces := someSpan()
		spans := traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
		for id := range byte(2) {
			child := spans.AppendEmpty()
			spans.At(0).CopyTo(child)
			child.SetSpanID(pcommon.SpanID{10 + id})
			child.SetParentSpanID(spans.At(0).SpanID())
		}
		requests := e.convertTraces(t.Context(), traces)
		for _, r := range requests {
			e.losses.add(&r.Envelopes[0], lossRejected)
		}
		assert.Equal(t, want, e.losses.due(time.Now(), true))
		require.NoError(t, h.metrics.Shutdown(t.Context()))
	}
}

// TestLossesAreReportedWhenSentryIsBack: a report is tried once, so not while Sentry is down.
func TestLossesAreReportedWhenSentryIsBack(t *testing.T) {
	h := start(t, func(cfg *Config) { withoutQueue(cfg); cfg.ReportLosses = true })
	h.sentry.Answer(func(r *fakesentry.Request) fakesentry.Answer {
		return fakesentry.Answer{Status: []int{500, 500, 200, 200}[min(r.Number, 4)-1]}
	})
	refused := backendChunk(1)
	h.started.losses.add(&refused, lossRejected)
	require.NoError(t, h.send(backendChunk(2)))
	taken := h.sentry.Taken()
	require.Len(t, taken, 2)
	assert.Equal(t, sentry.ItemProfileChunk, taken[0].Items[0].Header.Type)
	assert.Equal(t, sentry.ItemClientReport, taken[1].Items[0].Header.Type)
}

func TestLossesAreNotReportedUnasked(t *testing.T) {
	h := start(t, withoutQueue)
	h.sentry.Answer(func(*fakesentry.Request) fakesentry.Answer { return fakesentry.Answer{Status: 413} })
	require.NoError(t, h.send(backendChunk(1)))
	h.stop()
	assert.Len(t, h.sentry.Requests(), 1)
}

func TestLogsAreBoundedAndSafe(t *testing.T) {
	h := start(t, withoutQueue)
	h.sentry.Answer(func(r *fakesentry.Request) fakesentry.Answer {
		return fakesentry.Answer{Status: 400, Reset: r.Number == 1} // an error of net/http, with the URL, is logged first
	})
	for range 50 {
		require.NoError(t, h.send(backendChunk(1)))
	}
	require.NotZero(t, h.logs.FilterMessageSnippet("Will retry").Len())
	assert.Equal(t, collector.LogsPerMinute, h.logs.FilterMessage("Envelope dropped").Len())
	for _, line := range h.logs.All() {
		for _, value := range line.ContextMap() {
			assert.NotContains(t, fmt.Sprint(value), fakesentry.PublicKey)
		}
	}
}
