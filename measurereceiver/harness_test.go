// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline/pipelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

const (
	testKey    = "msrsh_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef_a8ae6e6e"
	otherKey   = "another-app"
	batchID    = "5b1d3f52-7c1a-4c5e-9d0e-1f2a3b4c5d6e"
	attributes = `{"installation_id":"6e1f6b6e-2f0a-4c53-9d0a-0b7f5b1f2c31","app_version":"2.4.0","app_build":"240","app_unique_id":"com.example.shop",` +
		`"measure_sdk_version":"0.19.0","os_name":"android","os_version":"34","network_type":"wifi","network_generation":"unknown","network_provider":"unknown"}`
	eventHead = `{"id":"3c0a4e1e-7d51-4d7f-8f3e-00000000000`
	eventTail = `","session_id":"9f2f5a0e-58f4-4a3c-8b53-0a1c7f1d2e3f","timestamp":"2026-08-01T10:00:00.250Z","attribute":` + attributes
	shotID    = "7d0c2c0e-8a4b-4f0e-9a35-0e4f9f5f5a10"

	screenView = eventHead + `1` + eventTail + `,"type":"screen_view","screen_view":{"name":"cart"},"attachments":[{"id":"` + shotID + `","type":"screenshot","name":"a.webp"}]}`
	cpuUsage   = eventHead + `2` + eventTail + `,"type":"cpu_usage","cpu_usage":{"num_cores":8,"clock_speed":100,"percentage_usage":12.5}}`
	request    = eventHead + `3` + eventTail + `,"type":"http","http":{"url":"https://api.example.com/","method":"get"}}`
	badEvent   = eventHead + `4` + eventTail + `,"type":"custom","custom":{"name":"no spaces please"}}`

	goodBatch = `{"events":[` + screenView + `,` + cpuUsage + `,` + request + `]}`
)

// sink is the pipelines behind the receiver. It keeps what it is given, or says what the errors
// say.
type sink struct {
	consumertest.Consumer
	mu                     sync.Mutex
	logs, traces, metrics  error
	hold                   chan struct{}
	records, spans, points int
	lastLogs               plog.Logs
	dumps                  []string // of all messages
	tenants                map[tenant.Tenant]int
}

// seen counts the tenant of a message.
func (s *sink) seen(ctx context.Context) {
	if s.tenants == nil {
		s.tenants = map[tenant.Tenant]int{}
	}
	s.tenants[tenant.FromContext(ctx)]++
}

func (s *sink) ConsumeLogs(ctx context.Context, logs plog.Logs) error {
	s.mu.Lock()
	hold := s.hold
	s.mu.Unlock()
	if hold != nil {
		<-hold
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen(ctx)
	if s.logs == nil {
		s.records += logs.LogRecordCount()
		s.lastLogs = logs
		s.dumps = append(s.dumps, golden.DumpLogs(logs, golden.Receipt{}))
	}
	return s.logs
}

func (s *sink) ConsumeTraces(ctx context.Context, traces ptrace.Traces) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen(ctx)
	if s.traces == nil {
		s.spans += traces.SpanCount()
		s.dumps = append(s.dumps, golden.DumpTraces(traces, golden.Receipt{}))
	}
	return s.traces
}

func (s *sink) ConsumeMetrics(ctx context.Context, metrics pmetric.Metrics) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen(ctx)
	if s.metrics == nil {
		s.points += metrics.DataPointCount()
		s.dumps = append(s.dumps, golden.DumpMetrics(metrics, golden.Receipt{}))
	}
	return s.metrics
}

// harness is a started receiver.
type harness struct {
	t       *testing.T
	sink    *sink
	shared  *measureReceiver
	metrics *componenttest.Telemetry
	client  *http.Client
	url     string
	stop    func()
	clock   pipelinetest.Clock // of the gates
}

func start(t *testing.T, host component.Host, edit func(*Config)) *harness {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.HTTP.NetAddr.Endpoint = "127.0.0.1:0"
	app := AppConfig{APIKey: testKey, Environment: "prod"}
	app.SDK.MaxEventsInBatch = 10_000
	app.SDK.ScreenshotMaskLevel = "all_text"
	other := app
	other.APIKey = otherKey
	cfg.Apps = []AppConfig{app, other}
	if edit != nil {
		edit(cfg)
	}
	require.NoError(t, cfg.Validate())
	h := &harness{t: t, sink: &sink{Consumer: consumertest.NewNop()}, metrics: componenttest.NewTelemetry(), client: &http.Client{Transport: &http.Transport{}}}
	set := receivertest.NewNopSettings(componentType)
	set.ID = component.NewID(componentType)
	set.TelemetrySettings = h.metrics.NewTelemetrySettings()
	factory := NewFactory()
	logs, err := factory.CreateLogs(t.Context(), set, cfg, h.sink)
	require.NoError(t, err)
	traces, err := factory.CreateTraces(t.Context(), set, cfg, h.sink)
	require.NoError(t, err)
	metrics, err := factory.CreateMetrics(t.Context(), set, cfg, h.sink)
	require.NoError(t, err)
	h.shared = logs.(*collector.SharedComponent[*measureReceiver]).Shared
	h.shared.pipelines.Now = h.clock.Now
	require.Same(t, h.shared, metrics.(*collector.SharedComponent[*measureReceiver]).Shared)
	for _, c := range []component.Component{logs, traces, metrics} {
		require.NoError(t, c.Start(context.Background(), host))
	}
	h.stop = sync.OnceFunc(func() {
		h.client.CloseIdleConnections()
		for _, c := range []component.Component{logs, traces, metrics} {
			require.NoError(t, c.Shutdown(context.Background()))
		}
		require.NoError(t, h.metrics.Shutdown(context.Background()))
	})
	t.Cleanup(h.stop)
	h.url = "http://" + h.shared.server.Listener.Addr().String()
	return h
}

type reply struct {
	status int
	header http.Header
	text   string
}

// send makes a request; headers are name, value, name, value.
func (h *harness) send(method, url string, body []byte, headers ...string) reply {
	h.t.Helper()
	if strings.HasPrefix(url, "/") {
		url = h.url + url
	}
	req, err := http.NewRequest(method, url, bytes.NewReader(body))
	require.NoError(h.t, err)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := h.client.Do(req)
	require.NoError(h.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(h.t, err)
	return reply{resp.StatusCode, resp.Header, string(text)}
}

// events sends a batch as SDKs of today do.
func (h *harness) events(id, body string) reply {
	h.t.Helper()
	return h.send(http.MethodPut, "/events", []byte(body), "Authorization", "Bearer "+testKey, "msr-req-id", id, "Content-Type", "application/json")
}

// counts gives a counter's values by their attributes, as "outcome=accepted type=span".
func (h *harness) counts(metric string) map[string]int64 {
	h.t.Helper()
	all := map[string]int64{}
	found, err := h.metrics.GetMetric("otelcol_receiver_measure_" + metric)
	if err != nil {
		return all // nothing counted yet
	}
	for _, point := range found.Data.(metricdata.Sum[int64]).DataPoints {
		var texts []string
		for _, kv := range point.Attributes.ToSlice() {
			texts = append(texts, string(kv.Key)+"="+kv.Value.String())
		}
		all[strings.Join(texts, " ")] = point.Value
	}
	return all
}
