// SPDX-License-Identifier: Apache-2.0

package tee

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// numbered returns an envelope with an error and a log record, both of which contain the number.
func numbered(n int) []byte {
	log := fmt.Sprintf(`{"items":[{"timestamp":1770000000,"trace_id":"%032x","level":"info","body":"log %d"}]}`, n+1, n)
	return fmt.Appendf(nil, "{\"event_id\":\"%032x\"}\n{\"type\":\"event\"}\n{\"event_id\":\"%032x\",\"timestamp\":1770000000,\"message\":\"error %d\"}\n"+
		"{\"type\":\"log\",\"item_count\":1,\"content_type\":\"application/vnd.sentry.items.log+json\"}\n%s\n", n+1, n+1, n, log)
}

// records removes the log messages from a backend, and returns the number of their records.
func records(t *testing.T, backend *harness.Sink) (n int) {
	for _, message := range backend.Drain(harness.LogsPath) {
		logs, err := new(plog.ProtoUnmarshaler).UnmarshalLogs(message)
		require.NoError(t, err)
		n += logs.LogRecordCount()
	}
	return n
}

// TestIsolation: an outage of Sentry does not affect OTLP, and a refusing backend does not affect
// Sentry.
func TestIsolation(t *testing.T) {
	t.Parallel()
	t.Run("Sentry is down", func(t *testing.T) {
		t.Parallel()
		backend := harness.NewSink(t)
		upstream := newRecorder(t, nil)
		upstream.Close()
		c := harness.Start(t, settings(backend, "upstream: '"+upstream.URL+"'"))
		for n := range 50 {
			require.Equal(t, http.StatusOK, c.Send(t, harness.EnvelopeRequest(numbered(n))).Status)
		}
		assert.Equal(t, 2*50, records(t, backend), "the errors and the log records")
	})
	t.Run("the backend refuses", func(t *testing.T) {
		t.Parallel()
		backend := harness.NewSink(t)
		backend.RespondTo(harness.LogsPath, http.StatusServiceUnavailable)
		upstream := newRecorder(t, nil)
		c := harness.Start(t, settings(backend, "upstream: '"+upstream.URL+"'"))
		for n := range 50 {
			require.Equal(t, http.StatusTooManyRequests, c.Send(t, harness.EnvelopeRequest(numbered(n))).Status)
			assert.Equal(t, string(numbered(n)), upstream.take(t, 1)[0].Body)
		}
	})
}

// TestStarvation: Sentry limits all categories for a while. OTLP receives all data, and Sentry's
// own counts and the tee's reports add up to the sent data.
func TestStarvation(t *testing.T) {
	t.Parallel()
	const limit = 3 * time.Second
	counted, reported := map[string]int64{}, map[string]int64{}
	var mu sync.Mutex
	began := time.Now()
	answer := func(w http.ResponseWriter, r *recorded) {
		mu.Lock()
		defer mu.Unlock()
		e, err := sentry.ReadEnvelope([]byte(r.Body))
		if !assert.NoError(t, err) {
			return
		}
		for i := range e.Items {
			if e.Items[i].Header.Type == sentry.ItemClientReport {
				report, err := event.DecodeClientReport(e.Items[i].Payload)
				assert.NoError(t, err)
				assert.GreaterOrEqual(t, time.Since(began), limit-time.Second, "reports wait for the end of the limit")
				for _, lost := range report.Events {
					reported[lost.Category] += lost.Quantity
				}
				continue
			}
			for _, q := range sentry.Quantities(&e.Items[i]) {
				counted[string(q.Category)] += q.Count
			}
		}
		if left := limit - time.Since(began); left > 0 {
			w.Header().Set(sentry.HeaderRateLimits, fmt.Sprintf("%d::organization", int(left.Seconds())+1))
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}
	upstream := newRecorder(t, answer)
	backend := harness.NewSink(t)
	c := harness.Start(t, settings(backend, "upstream: '"+upstream.URL+"'"))
	began = time.Now()
	want := map[string]int64{}
	const requests = 300
	for n := range requests {
		body := numbered(n)
		response := c.Send(t, harness.EnvelopeRequest(body))
		require.Equal(t, http.StatusOK, response.Status)
		require.Empty(t, response.Header.Get(sentry.HeaderRateLimits), "SDKs keep sending")
		e, err := sentry.ReadEnvelope(body)
		require.NoError(t, err)
		for i := range e.Items {
			for _, q := range sentry.Quantities(&e.Items[i]) {
				want[string(q.Category)] += q.Count
			}
		}
	}
	assert.Equal(t, 2*requests, records(t, backend), "OTLP has all of it: the errors and the log records")
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		for category, quantity := range want {
			if counted[category]+reported[category] < quantity {
				return false
			}
		}
		return true
	}, 30*time.Second, 100*time.Millisecond, "sent %v, counted %v, reported %v", want, counted, reported)
	mu.Lock()
	defer mu.Unlock()
	for category, quantity := range want {
		assert.Equal(t, quantity, counted[category]+reported[category], category)
	}
	assert.Positive(t, reported["error"])
	t.Logf("sent %v, counted by Sentry %v, reported by the tee %v", want, counted, reported)
	omitted := c.Scrape(t).Sum("otelcol_extension_sentry_tee_omitted", "category=error")
	assert.EqualValues(t, reported["error"], omitted)
	assert.NotContains(t, strings.ToLower(c.Log.String()), harness.TestKey)
}
