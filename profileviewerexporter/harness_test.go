// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/exporter/xexporter"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
)

const ms = time.Millisecond

// harness is a running exporter.
type harness struct {
	t         testing.TB
	viewer    *viewer
	profiles  xexporter.Profiles
	traces    exporter.Traces
	logs      exporter.Logs
	telemetry *componenttest.Telemetry
	client    *http.Client
	base      string
}

func testConfig(change func(*Config)) *Config {
	cfg := createDefaultConfig().(*Config)
	cfg.HTTP.NetAddr.Endpoint = "127.0.0.1:0"
	if change != nil {
		change(cfg)
	}
	return cfg
}

// created returns an exporter that does not listen: in a bubble of synctest, a listener would stop
// the clock.
func created(t testing.TB, change func(*Config)) *harness {
	t.Helper()
	ctx := context.Background()
	h := &harness{t: t, telemetry: componenttest.NewTelemetry(), client: &http.Client{Transport: &http.Transport{}}}
	f, cfg := NewFactory(), testConfig(change)
	set := exportertest.NewNopSettings(f.Type())
	set.TelemetrySettings = h.telemetry.NewTelemetrySettings()
	var err error
	h.profiles, err = createProfiles(ctx, set, cfg)
	require.NoError(t, err)
	h.traces, err = f.CreateTraces(ctx, set, cfg)
	require.NoError(t, err)
	h.logs, err = f.CreateLogs(ctx, set, cfg)
	require.NoError(t, err)
	h.viewer = viewerOf(t, cfg)
	t.Cleanup(func() {
		require.NoError(t, h.profiles.Shutdown(ctx))
		require.NoError(t, h.traces.Shutdown(ctx))
		require.NoError(t, h.logs.Shutdown(ctx))
		require.NoError(t, h.telemetry.Shutdown(ctx))
	})
	return h
}

// viewerOf returns the viewer of the exporters of a configuration.
func viewerOf(t testing.TB, cfg *Config) *viewer {
	t.Helper()
	v, err := viewers.Acquire(cfg, nil)
	require.NoError(t, err)
	viewers.Release(cfg, v)
	return v.Shared
}

func start(t testing.TB, change func(*Config)) *harness {
	t.Helper()
	ctx, host := context.Background(), componenttest.NewNopHost()
	h := created(t, change)
	require.NoError(t, h.profiles.Start(ctx, host))
	require.NoError(t, h.traces.Start(ctx, host))
	require.NoError(t, h.logs.Start(ctx, host))
	h.base = "http://" + h.viewer.server.Listener.Addr().String()
	t.Cleanup(h.client.CloseIdleConnections) // before the Shutdown
	return h
}

// request sends a GET and gives the answer and its body.
func (h *harness) request(path string, headers ...string) (*http.Response, []byte) {
	h.t.Helper()
	r, err := http.NewRequest(http.MethodGet, h.base+path, nil)
	require.NoError(h.t, err)
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := h.client.Do(r)
	require.NoError(h.t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(h.t, err)
	return response, body
}

// get decodes what the API answers.
func get[T any](h *harness, path string) (out T) {
	h.t.Helper()
	response, body := h.request("/api/" + path)
	require.Equal(h.t, http.StatusOK, response.StatusCode, "%s: %s", path, body)
	require.NoError(h.t, json.Unmarshal(body, &out))
	return out
}

// fails gives the status and the text of an error.
func (h *harness) fails(path string) (int, string) {
	h.t.Helper()
	response, body := h.request("/api/" + path)
	var out struct{ Error string }
	require.NoError(h.t, json.Unmarshal(body, &out), "%s", body)
	return response.StatusCode, out.Error
}

func (h *harness) addProfile(service string, samples ...timelinetest.Sample) {
	h.t.Helper()
	h.consume(timelinetest.Message(service, timelinetest.Wall, samples...))
}

func (h *harness) consume(p pprofile.Profiles) {
	h.t.Helper()
	require.NoError(h.t, h.profiles.ConsumeProfiles(context.Background(), p))
}

// testSpan is a span in few words; times are milliseconds.
type testSpan struct {
	id, parent byte
	name       string
	from, to   uint64
}

func (h *harness) addSpans(service string, trace byte, spans ...testSpan) {
	h.t.Helper()
	require.NoError(h.t, h.traces.ConsumeTraces(context.Background(), spansOf(service, trace, spans...)))
}

func spansOf(service string, trace byte, spans ...testSpan) ptrace.Traces {
	traces := ptrace.NewTraces()
	resource := traces.ResourceSpans().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", service)
	list := resource.ScopeSpans().AppendEmpty().Spans()
	for _, s := range spans {
		span := list.AppendEmpty()
		span.SetTraceID(timelinetest.Trace(trace))
		span.SetSpanID(timelinetest.Span(s.id))
		if s.parent != 0 {
			span.SetParentSpanID(timelinetest.Span(s.parent))
		}
		span.SetName(s.name)
		span.SetStartTimestamp(pcommon.Timestamp(timelinetest.Start + s.from*1e6))
		span.SetEndTimestamp(pcommon.Timestamp(timelinetest.Start + s.to*1e6))
		span.Attributes().PutStr("db.system", "sqlite")
	}
	return traces
}

func (h *harness) addLog(service, body string, trace, span byte) {
	h.t.Helper()
	logs := plog.NewLogs()
	resource := logs.ResourceLogs().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", service)
	record := resource.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	record.Body().SetStr(body)
	record.SetSeverityText("ERROR")
	record.SetTimestamp(timelinetest.Start)
	if trace != 0 {
		record.SetTraceID(timelinetest.Trace(trace))
		record.SetSpanID(timelinetest.Span(span))
	}
	require.NoError(h.t, h.logs.ConsumeLogs(context.Background(), logs))
}
