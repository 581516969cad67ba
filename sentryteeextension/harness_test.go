// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configmiddleware"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/otelcol-sentry/otelcol-sentry/sentryreceiver"
)

const (
	testKey       = "8f3d1c0a9b7e4d52a1c6f0e3b2d49871"
	envelopePath  = "/api/4507/envelope/?sentry_key=" + testKey
	errorEnvelope = `{"event_id":"9ec79c33ec9942ab8353589fcb2e04dc"}` + "\n" + `{"type":"event"}` + "\n" + `{"message":"boom"}`
)

// recorded is a request that Sentry received.
type recorded struct {
	Method, URI string
	Header      http.Header
	Body        string
	Length      int64
}

// recorder stands in for Sentry.
type recorder struct {
	*httptest.Server
	mu       sync.Mutex
	requests []recorded
	answer   http.HandlerFunc // nil = 200 {}
}

func newRecorder(t *testing.T, answer http.HandlerFunc) *recorder {
	r := &recorder{answer: answer}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	r.requests = append(r.requests, recorded{req.Method, req.RequestURI, req.Header.Clone(), string(body), req.ContentLength})
	answer := r.answer
	r.mu.Unlock()
	if answer != nil {
		answer(w, req)
		return
	}
	_, _ = io.WriteString(w, "{}")
}

// take waits for n requests, and removes them from the recorder.
func (r *recorder) take(t *testing.T, n int) []recorded {
	t.Helper()
	var taken []recorded
	require.Eventually(t, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.requests) < n {
			return false
		}
		taken, r.requests = r.requests, nil
		return true
	}, 30*time.Second, time.Millisecond, "%d requests", n)
	require.Len(t, taken, n)
	return taken
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.requests)
}

// harness is a tee in front of a sentry receiver.
type harness struct {
	t         *testing.T
	tee       *tee
	telemetry *componenttest.Telemetry
	logs      *observer.ObservedLogs
	url       string
	client    *http.Client
	events    *consumertest.LogsSink
	stop      func()
}

// host is a component.Host with extensions.
type host struct {
	component.Host
	extensions map[component.ID]component.Component
}

func (h host) GetExtensions() map[component.ID]component.Component { return h.extensions }

func testConfig(upstream string, edit ...func(*Config)) *Config {
	cfg := createDefaultConfig().(*Config)
	cfg.Upstream = upstream
	for _, edit := range edit {
		edit(cfg)
	}
	return cfg
}

type options struct {
	tee       []func(*Config)
	receiver  func(*sentryreceiver.Config)
	storage   component.Component
	configure func(*tee) // called before the start
}

var storageID = component.MustNewID("file_storage")

func start(t *testing.T, upstream string, o options) *harness {
	t.Helper()
	cfg := testConfig(upstream, o.tee...)
	extensions := map[component.ID]component.Component{}
	if o.storage != nil {
		extensions[storageID] = o.storage
		cfg.Storage = &storageID
	}
	require.NoError(t, cfg.Validate())
	core, logs := observer.New(zap.DebugLevel)
	h := &harness{t: t, telemetry: componenttest.NewTelemetry(), logs: logs, events: &consumertest.LogsSink{},
		client: &http.Client{Transport: &http.Transport{DisableCompression: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	set := extension.Settings{}
	set.ID = component.NewID(componentType)
	set.TelemetrySettings = h.telemetry.NewTelemetrySettings()
	set.Logger = zap.New(core)
	created, err := NewFactory().Create(context.Background(), set, cfg)
	require.NoError(t, err)
	h.tee = created.(*tee)
	if o.configure != nil {
		o.configure(h.tee)
	}
	extensions[set.ID] = h.tee
	require.NoError(t, created.Start(context.Background(), host{componenttest.NewNopHost(), extensions}))

	receiverConfig := sentryreceiver.NewFactory().CreateDefaultConfig().(*sentryreceiver.Config)
	receiverConfig.HTTP.NetAddr.Endpoint = "127.0.0.1:0"
	receiverConfig.HTTP.Middlewares = []configmiddleware.Config{{ID: set.ID}}
	if o.receiver != nil {
		o.receiver(receiverConfig)
	}
	require.NoError(t, receiverConfig.Validate())
	receiverSettings := receivertest.NewNopSettings(sentryreceiver.NewFactory().Type())
	receiverCore, receiverLogs := observer.New(zap.InfoLevel)
	receiverSettings.Logger = zap.New(receiverCore)
	receiver, err := sentryreceiver.NewFactory().CreateLogs(context.Background(), receiverSettings, receiverConfig, h.events)
	require.NoError(t, err)
	require.NoError(t, receiver.Start(context.Background(), host{componenttest.NewNopHost(), extensions}))
	for _, line := range receiverLogs.All() {
		if address, ok := line.ContextMap()["address"]; ok {
			h.url = fmt.Sprintf("http://%s", address)
		}
	}
	require.NotEmpty(t, h.url, "the receiver logs its address")
	h.stop = sync.OnceFunc(func() {
		h.client.CloseIdleConnections()
		require.NoError(t, receiver.Shutdown(context.Background()))
		require.NoError(t, created.Shutdown(context.Background()))
		require.NoError(t, h.telemetry.Shutdown(context.Background()))
	})
	t.Cleanup(h.stop)
	return h
}

func (h *harness) do(method, path, body string, header ...string) (*http.Response, string) {
	h.t.Helper()
	return do(h.t, h.client, method, h.url+path, body, header...)
}

func do(t *testing.T, client *http.Client, method, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	require.NoError(t, err)
	for pair := range slices.Chunk(header, 2) {
		req.Header.Add(pair[0], pair[1])
	}
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, string(text)
}

// counts returns the values of a metric by their attributes.
func (h *harness) counts(metric string) map[string]int64 {
	h.t.Helper()
	counts := map[string]int64{}
	got, err := h.telemetry.GetMetric("otelcol_extension_sentry_tee_" + metric)
	if err != nil {
		return counts
	}
	var points []metricdata.DataPoint[int64]
	switch data := got.Data.(type) {
	case metricdata.Sum[int64]:
		points = data.DataPoints
	case metricdata.Gauge[int64]:
		points = data.DataPoints
	}
	for _, point := range points {
		var words []string
		for _, a := range point.Attributes.ToSlice() {
			words = append(words, a.Value.String())
		}
		counts[strings.Join(words, " ")] += point.Value
	}
	return counts
}

// raw sends bytes on a new connection, and returns the response.
func (h *harness) raw(text string) string {
	h.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	require.NoError(h.t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, text)
	require.NoError(h.t, err)
	require.NoError(h.t, conn.(*net.TCPConn).CloseWrite())
	require.NoError(h.t, conn.SetReadDeadline(time.Now().Add(30*time.Second)))
	var answer bytes.Buffer
	_, _ = io.Copy(&answer, conn)
	return answer.String()
}
