// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

const (
	fullTransaction = `{"type":"transaction","event_id":"7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5e6","transaction":"/cart","platform":"python",` +
		`"release":"shop@3.1.0","start_timestamp":1777629599.5,"timestamp":1777629600.5,"contexts":{"trace":{` +
		`"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"6f1b2c3d4e5f6071","op":"http.server","status":"ok"}},"spans":[` +
		`{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"aaaaaaaaaaaaaaaa","parent_span_id":"6f1b2c3d4e5f6071",` +
		`"op":"db","description":"SELECT 1","start_timestamp":1777629599.6,"timestamp":1777629599.7}]}`
	spanContainer = `{"items":[{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"6f1b2c3d4e5f6072","name":"GET /cart",` +
		`"status":"ok","is_segment":true,"start_timestamp":1777629600.0,"end_timestamp":1777629600.25,"attributes":{}}]}`
	logContainer = `{"items":[{"timestamp":1777629600.0,"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","level":"info","body":"hello"}]}`
	errorEvent   = `{"event_id":"7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5e7","timestamp":1777629600,"level":"error","exception":{"values":[` +
		`{"type":"ValueError","value":"bad"}]}}`
	metricContainer = `{"items":[{"timestamp":1777629600.0,"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","name":"orders","type":"counter","value":2}]}`
	checkIn         = `{"check_in_id":"7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5e8","monitor_slug":"nightly","status":"ok","duration":2.5}`
	session         = `{"sid":"7d1f0c9f-2f1c-4f0e-a9b3-f1a2b3c4d5e9","init":true,"started":"2026-05-01T10:00:00Z",` +
		`"timestamp":"2026-05-01T10:00:01Z","status":"ok","errors":0,"attrs":{"release":"shop@3.1.0"}}`
	clientReport = `{"timestamp":1777629600,"discarded_events":[{"reason":"queue_overflow","category":"error","quantity":23}]}`
)

// signals is a receiver with a pipeline for every signal, all behind one listener.
type signals struct {
	*harness
	traces *consumertest.TracesSink
	logs   *consumertest.LogsSink
	points *consumertest.MetricsSink
}

func startSignals(t *testing.T, edit func(*Config)) *signals {
	t.Helper()
	s := &signals{traces: new(consumertest.TracesSink), logs: new(consumertest.LogsSink), points: new(consumertest.MetricsSink)}
	s.harness = startWith(t, edit, func(f receiver.Factory, set receiver.Settings, cfg *Config) []receiver.Traces {
		return createSignals(t, f, set, cfg, s.traces, s.logs, s.points)
	})
	return s
}

func createSignals(t *testing.T, f receiver.Factory, set receiver.Settings, cfg *Config, traces consumer.Traces, logs consumer.Logs, metrics consumer.Metrics) []receiver.Traces {
	forTraces, err := f.CreateTraces(context.Background(), set, cfg, traces)
	require.NoError(t, err)
	forLogs, err := f.CreateLogs(context.Background(), set, cfg, logs)
	require.NoError(t, err)
	forMetrics, err := f.CreateMetrics(context.Background(), set, cfg, metrics)
	require.NoError(t, err)
	return []receiver.Traces{forTraces, forLogs, forMetrics}
}

// startWith starts a receiver for profiles together with the components of other signals.
func startWith(t *testing.T, edit func(*Config), others func(receiver.Factory, receiver.Settings, *Config) []receiver.Traces) *harness {
	t.Helper()
	cfg := testConfig(edit)
	h := &harness{t: t, sink: &sink{}, client: &http.Client{}}
	set, metrics, logs := testSettings(t)
	h.metrics, h.logs = metrics, logs
	f := NewFactory()
	created, err := createProfiles(context.Background(), set, cfg, h.sink)
	require.NoError(t, err)
	h.receiver = created.(*collector.SharedComponent[*sentryReceiver])
	h.receiver.Shared.pipelines.Now = h.clock.Now
	components := append([]receiver.Traces{created}, others(f, set, cfg)...)
	for _, c := range components {
		require.NoError(t, c.Start(context.Background(), componenttest.NewNopHost()))
	}
	t.Cleanup(func() {
		h.client.CloseIdleConnections()
		for _, c := range components {
			require.NoError(t, c.Shutdown(context.Background()))
		}
	})
	h.url = "http://" + h.receiver.Shared.server.Listener.Addr().String()
	return h
}

func containerHeader(contentType string) string {
	return `,"content_type":"` + contentType + `","item_count":1`
}

func TestEveryItemGoesToItsSignal(t *testing.T) {
	s := startSignals(t, nil)
	r := s.post(envelope(
		item("transaction", "", fullTransaction), profileItem, // the profile comes behind its transaction
		item("span", containerHeader(sentry.ContentTypeSpans), spanContainer),
		item("log", containerHeader(sentry.ContentTypeLogs), logContainer),
		item("event", "", errorEvent),
		item("trace_metric", containerHeader(sentry.ContentTypeTraceMetrics), metricContainer),
		item("check_in", "", checkIn), item("session", "", session), item("client_report", "", clientReport),
		item("attachment", `,"filename":"core.txt"`, "\x00secret\n"),
		item("statsd", "", "a:1|c"), item("made_up", "", "{}"),
	))
	require.Equal(t, http.StatusOK, r.status, r.text)
	assert.Equal(t, map[string]int64{
		"outcome=accepted type=transaction": 1, "outcome=accepted type=profile": 1, "outcome=accepted type=span": 1,
		"outcome=accepted type=log": 1, "outcome=accepted type=event": 1, "outcome=accepted type=trace_metric": 1,
		"outcome=accepted type=check_in": 1, "outcome=accepted type=session": 1, "outcome=accepted type=client_report": 1,
		"outcome=accepted type=attachment": 1, "outcome=ignored reason=unsupported_type type=statsd": 1, "outcome=ignored reason=unsupported_type type=unknown": 1,
	}, s.items())

	assert.Equal(t, 1, s.sink.count())
	assert.Equal(t, 3, s.traces.SpanCount())
	assert.Equal(t, 4, s.logs.LogRecordCount(), "log, event, check-in, attachment")
	names := map[string]bool{}
	require.Len(t, s.points.AllMetrics(), 1)
	for _, resource := range s.points.AllMetrics()[0].ResourceMetrics().All() {
		for _, metric := range resource.ScopeMetrics().At(0).Metrics().All() {
			names[metric.Name()] = true
		}
	}
	assert.True(t, names["orders"], "%v", names)
	assert.Greater(t, len(names), 3, "counter, check-in, session, client report: %v", names)

	// The spans of a transaction point at the profile that came with it.
	for _, span := range spansOf(s.traces.AllTraces()[0]) {
		profile, found := span.Attributes().Get("profile_id")
		require.True(t, found, span.Name())
		assert.Equal(t, "0f3cb15cce4a4e5d9d5b0f1c3b7a1e20", profile.Str())
	}
	// What is described is not passed on.
	for _, logs := range s.logs.AllLogs() {
		text, err := (&plog.JSONMarshaler{}).MarshalLogs(logs)
		require.NoError(t, err)
		assert.NotContains(t, string(text), "secret")
	}
}

func spansOf(traces ptrace.Traces) (spans []ptrace.Span) {
	for _, span := range traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
		spans = append(spans, span)
	}
	return spans
}

// TestOneSignalRefuses: what another pipeline takes is taken, and SDKs hold back the refused signal
// only.
func TestOneSignalRefuses(t *testing.T) {
	s := startWith(t, nil, func(f receiver.Factory, set receiver.Settings, cfg *Config) []receiver.Traces {
		return createSignals(t, f, set, cfg, consumertest.NewErr(errors.New("full")), consumertest.NewNop(), consumertest.NewErr(errors.New("full")))
	})
	mixed := s.post(envelope(item("transaction", "", fullTransaction), item("event", "", errorEvent)))
	assert.Equal(t, http.StatusOK, mixed.status)
	assert.Equal(t, "10:transaction;span:key:backpressure", mixed.header.Get(sentry.HeaderRateLimits))

	refused := s.post(envelope(item("trace_metric", containerHeader(sentry.ContentTypeTraceMetrics), metricContainer)))
	assert.Equal(t, http.StatusTooManyRequests, refused.status)
	assert.Equal(t, "10:trace_metric;metric;session:key:backpressure", refused.header.Get(sentry.HeaderRateLimits), "JavaScript says metric")
	assert.Empty(t, refused.header.Get("Retry-After"))

	// A check-in is a log record first; its metric does not decide about it.
	checkedIn := s.post(envelope(item("check_in", "", checkIn)))
	assert.Equal(t, http.StatusOK, checkedIn.status)
	assert.NotEmpty(t, checkedIn.header.Get(sentry.HeaderRateLimits))
	assert.EqualValues(t, 1, s.items()["outcome=accepted type=check_in"])
}

// TestUnusableItems: what cannot be decoded is counted with its reason, and its neighbors arrive.
func TestUnusableItems(t *testing.T) {
	s := startSignals(t, nil)
	r := s.post(envelope(item("transaction", "", "{"), item("span", containerHeader(sentry.ContentTypeSpans), "[]"),
		item("log", "", `{"items":[{"body":7},{}]}`), item("event", "", "nonsense"), item("trace_metric", "", "{}"),
		item("session", "", "null"), item("client_report", "", "[]"), item("check_in", "", "3"), item("event", "", errorEvent)))
	assert.Equal(t, http.StatusOK, r.status)
	for labels := range s.items() {
		if strings.Contains(labels, "discarded") {
			assert.Contains(t, labels, "reason=", labels)
		}
	}
	assert.EqualValues(t, 1, s.items()["outcome=accepted type=event"])
	assert.NotEmpty(t, s.counts("otelcol_receiver_sentry_elements_discarded"))
}

// TestCorpusOnAllSignals sends every recorded envelope. Nothing of what real SDKs sent is
// discarded, and every item is accounted for.
func TestCorpusOnAllSignals(t *testing.T) {
	s := startSignals(t, nil)
	sent := int64(0)
	for _, request := range golden.Sample(t) {
		if !strings.HasSuffix(request.Path, "/envelope/") {
			continue
		}
		body := request.Decoded(t)
		framed, err := sentry.ReadEnvelope(body)
		require.NoError(t, err, request.Name)
		sent += int64(len(framed.Items))
		req := s.envelopeRequest(body)
		req.URL.Path = strings.Replace(req.URL.Path, "/42/", "/4507/", 1) // the project of the recorded DSNs
		require.Equal(t, http.StatusOK, s.do(req).status, request.Name)
	}
	require.Positive(t, sent)
	counted := int64(0)
	for labels, n := range s.items() {
		counted += n
		assert.NotContains(t, labels, "discarded")
		if strings.Contains(labels, "ignored") {
			assert.Contains(t, labels, "type=statsd", "the only type nothing is made of")
		}
	}
	assert.Equal(t, sent, counted)
	assert.Empty(t, s.counts("otelcol_receiver_sentry_elements_discarded"))
}

// TestItemTooLarge: an item that is no profile has a limit by its type; its neighbors arrive.
func TestItemTooLarge(t *testing.T) {
	s := startSignals(t, nil)
	large := `{"event_id":"7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5e7","extra":{"a":"` + strings.Repeat("x", 3<<20) + `"}}`
	alone := s.post(envelope(item("event", "", large)))
	assert.Equal(t, http.StatusRequestEntityTooLarge, alone.status, alone.text)
	together := s.post(envelope(item("event", "", large), item("event", "", errorEvent)))
	assert.Equal(t, http.StatusOK, together.status)
	assert.EqualValues(t, 2, s.items()["outcome=discarded reason=item_too_large type=event"])
	assert.EqualValues(t, 1, s.items()["outcome=accepted type=event"])
}

// TestLargeItemNobodyWants: items without a pipeline are accepted and dropped, regardless of their
// size.
func TestLargeItemNobodyWants(t *testing.T) {
	h := start(t, nil)
	r := h.post(envelope(item("transaction", "", `{"type":"transaction","extra":"`+strings.Repeat("x", 3<<20)+`"}`)))
	assert.Equal(t, http.StatusOK, r.status, r.text)
	assert.Equal(t, map[string]int64{"outcome=ignored reason=no_pipeline type=transaction": 1}, h.items())
}

// TestMeasurementsTakenProfileRefused: something was taken, so the answer is no 429.
func TestMeasurementsTakenProfileRefused(t *testing.T) {
	s := startSignals(t, nil)
	s.sink.respond = func(pprofile.Profiles) error { return errors.New("full") }
	r := s.post(envelope(item("profile", "", strings.Replace(goodProfile, `"profile":{`,
		`"measurements":{"cpu_usage":{"unit":"percent","values":[{"elapsed_since_start_ns":5,"value":1}]}},"profile":{`, 1))))
	assert.Equal(t, http.StatusOK, r.status, r.text)
	assert.Equal(t, "10:profile;profile_chunk;profile_chunk_ui:key:backpressure", r.header.Get(sentry.HeaderRateLimits))
	assert.EqualValues(t, 1, s.items()["outcome=refused reason=backpressure type=profile"])
	assert.Equal(t, 1, s.points.DataPointCount())
}
