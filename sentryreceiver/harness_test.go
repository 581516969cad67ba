// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline/pipelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/pipenet"
)

const (
	testKey = "8f3d1c0a9b7e4d52a1c6f0e3b2d49871"

	// The smallest profiles that break no rule.
	goodChunk = `{"version":"2","profiler_id":"1c6f0e4f0b2a4c3d8e9f00112233aabb","chunk_id":"90ab12cd34ef56ab78cd90ef12ab34cd",` +
		`"platform":"go","release":"api@1.2.3","environment":"prod","client_sdk":{"name":"sentry.test","version":"1.0.0"},"profile":{` +
		`"frames":[{"function":"(*Server).handle","module":"example.com/api","lineno":80,"in_app":true},{"function":"main"}],"stacks":[[0,1]],` +
		`"samples":[{"timestamp":1777629600.000,"thread_id":"1","stack_id":0},{"timestamp":1777629600.010,"thread_id":"1","stack_id":0}],` +
		`"thread_metadata":{"1":{"name":"main"}}}}`
	goodProfile = `{"version":"1","event_id":"0f3cb15cce4a4e5d9d5b0f1c3b7a1e20","platform":"python",` +
		`"timestamp":"2026-05-01T10:00:00.000000Z","release":"shop@3.1.0","environment":"prod","device":{"architecture":"x86_64"},` +
		`"os":{"name":"Linux","version":"6.8"},"runtime":{"name":"CPython","version":"3.13.1"},` +
		`"transactions":[{"id":"7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5e6","name":"/cart","trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687",` +
		`"active_thread_id":"140213","relative_start_ns":"0","relative_end_ns":"30000000"}],"profile":{` +
		`"frames":[{"function":"render","module":"shop.cart","filename":"shop/cart.py","lineno":12,"in_app":true}],"stacks":[[0]],` +
		`"samples":[{"elapsed_since_start_ns":"1000000","thread_id":"140213","stack_id":0},` +
		`{"elapsed_since_start_ns":"11000000","thread_id":"140213","stack_id":0}],"thread_metadata":{"140213":{"name":"MainThread"}}}}`
	goodTransaction = `{"type":"transaction","start_timestamp":1777629599.5,"timestamp":1777629600.5}`

	// One that breaks the rules enough_samples, metadata and platform_header, and is usable
	// nevertheless.
	oddChunk = `{"version":"2","profiler_id":"1c6f0e4f0b2a4c3d8e9f00112233aabb","chunk_id":"90ab12cd34ef56ab78cd90ef12ab34cd",` +
		`"platform":"go","profile":{"frames":[{"function":"main"}],"stacks":[[0]],` +
		`"samples":[{"timestamp":1777629600,"thread_id":"1","stack_id":0},{"timestamp":1777629600,"thread_id":"1","stack_id":7}]}}`
)

// item is an envelope item with its length stated; header is what else its header says, beginning
// with a comma.
func item(itemType, header, payload string) string {
	return fmt.Sprintf("{\"type\":%q,\"length\":%d%s}\n%s\n", itemType, len(payload), header, payload)
}

func envelope(items ...string) string { return "{}\n" + strings.Join(items, "") }

var (
	chunkItem       = item("profile_chunk", `,"platform":"go"`, goodChunk)
	profileItem     = item("profile", "", goodProfile)
	transactionItem = item("transaction", "", goodTransaction)
)

// sink is the pipeline behind the receiver. It keeps what it is given, and says what respond says.
type sink struct {
	respond func(pprofile.Profiles) error
	wait    func(context.Context) error // before that

	mu       sync.Mutex
	profiles []pprofile.Profiles
	contexts []context.Context
}

func (*sink) Capabilities() consumer.Capabilities { return consumer.Capabilities{MutatesData: true} }

func (s *sink) ConsumeProfiles(ctx context.Context, profiles pprofile.Profiles) error {
	if s.wait != nil {
		if err := s.wait(ctx); err != nil {
			return err
		}
	}
	if s.respond != nil {
		if err := s.respond(profiles); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.profiles = append(s.profiles, profiles)
	s.contexts = append(s.contexts, ctx)
	return nil
}

func (s *sink) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.profiles)
}

// only gives the profile of the only message.
func (s *sink) only(t *testing.T) (pprofile.Profiles, pprofile.Profile) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Len(t, s.profiles, 1)
	all := s.profiles[0]
	return all, all.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0)
}

// harness is a started receiver.
type harness struct {
	t        *testing.T
	sink     *sink
	receiver *collector.SharedComponent[*sentryReceiver]
	metrics  *componenttest.Telemetry
	logs     *observer.ObservedLogs
	client   *http.Client
	url      string             // http://127.0.0.1:12345
	clock    pipelinetest.Clock // of the gates
	pipes    *pipenet.Listener  // of overPipes
}

func testConfig(edit func(*Config)) *Config {
	cfg := createDefaultConfig().(*Config)
	cfg.HTTP.NetAddr.Endpoint = "127.0.0.1:0"
	if edit != nil {
		edit(cfg)
	}
	return cfg
}

func testSettings(t *testing.T) (receiver.Settings, *componenttest.Telemetry, *observer.ObservedLogs) {
	core, logs := observer.New(zap.DebugLevel)
	metrics := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, metrics.Shutdown(context.Background())) })
	set := receivertest.NewNopSettings(componentType)
	set.ID = component.NewID(componentType)
	set.TelemetrySettings = metrics.NewTelemetrySettings()
	set.Logger = zap.New(core)
	return set, metrics, logs
}

func start(t *testing.T, edit func(*Config)) *harness {
	t.Helper()
	return startOn(t, componenttest.NewNopHost(), edit)
}

func startOn(t *testing.T, host component.Host, edit func(*Config)) *harness {
	t.Helper()
	profiles := &sink{}
	h := startFor(t, host, edit, func(_ receiver.Factory, set receiver.Settings, cfg *Config) (component.Component, error) {
		return createProfiles(context.Background(), set, cfg, profiles)
	})
	h.sink = profiles
	return h
}

// startFor starts a receiver with the pipeline of one signal.
func startFor(t *testing.T, host component.Host, edit func(*Config), create func(receiver.Factory, receiver.Settings, *Config) (component.Component, error)) *harness {
	t.Helper()
	cfg := testConfig(edit)
	require.NoError(t, cfg.Validate())
	h := &harness{t: t, client: &http.Client{Transport: &http.Transport{DisableCompression: true}}}
	set, metrics, logs := testSettings(t)
	h.metrics, h.logs = metrics, logs
	created, err := create(NewFactory(), set, cfg)
	require.NoError(t, err)
	h.receiver = created.(*collector.SharedComponent[*sentryReceiver])
	h.receiver.Shared.pipelines.Now = h.clock.Now
	require.NoError(t, created.Start(context.Background(), host))
	t.Cleanup(func() {
		h.client.CloseIdleConnections()
		require.NoError(t, created.Shutdown(context.Background()))
	})
	h.url = "http://" + h.receiver.Shared.server.Listener.Addr().String()
	return h
}

// overPipes replaces the listener and the connections by pipes, for tests in a bubble of synctest.
func (h *harness) overPipes() {
	h.t.Helper()
	r := h.receiver.Shared
	h.client.CloseIdleConnections()
	_, err := r.server.Shutdown(context.Background(), time.Second)
	require.NoError(h.t, err)
	server, err := r.newServer(context.Background(), componenttest.NewNopHost(), r.serverConfig(), endpointsOf(r.cfg))
	require.NoError(h.t, err)
	h.pipes = pipenet.Listen()
	h.client.Transport = h.pipes.Transport()
	r.server.Serve(server, h.pipes, r.cfg.Connections, r.telemetry.connectionClosed, componenttest.NewNopHost())
}

// reply is an answer, read to its end.
type reply struct {
	status int
	header http.Header
	text   string
	ID     *string  `json:"id"`
	Detail string   `json:"detail"`
	Causes []string `json:"causes"`
}

func (h *harness) do(req *http.Request) reply {
	h.t.Helper()
	resp, err := h.client.Do(req)
	require.NoError(h.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(h.t, err)
	r := reply{status: resp.StatusCode, header: resp.Header, text: string(text)}
	if len(text) > 0 && r.header.Get("Content-Type") != "image/gif" { // of GET /store/
		require.Equal(h.t, "application/json", resp.Header.Get("Content-Type"))
		require.NoError(h.t, json.Unmarshal(text, &r), "%s", text)
	}
	return r
}

func (h *harness) request(method, path string, body io.Reader) *http.Request {
	h.t.Helper()
	req, err := http.NewRequest(method, h.url+path, body)
	require.NoError(h.t, err)
	return req
}

// envelopeRequest is as python sends it.
func (h *harness) envelopeRequest(body []byte) *http.Request {
	req := h.request(http.MethodPost, "/api/42/envelope/", bytes.NewReader(body))
	req.Header.Set("X-Sentry-Auth", "Sentry sentry_key="+testKey+", sentry_version=7, sentry_client=sentry.python/2.68.0")
	return req
}

func (h *harness) post(body string) reply {
	h.t.Helper()
	return h.do(h.envelopeRequest([]byte(body)))
}

// counts gives a counter's values by their attributes, as "outcome=accepted type=profile".
func (h *harness) counts(metric string) map[string]int64 {
	h.t.Helper()
	all := map[string]int64{}
	found, err := h.metrics.GetMetric(metric)
	if err != nil {
		return all // nothing counted yet
	}
	for _, point := range found.Data.(metricdata.Sum[int64]).DataPoints {
		all[attributeText(point.Attributes)] = point.Value
	}
	return all
}

func attributeText(set attribute.Set) string {
	var texts []string
	for _, kv := range set.ToSlice() {
		texts = append(texts, string(kv.Key)+"="+kv.Value.String())
	}
	return strings.Join(texts, " ")
}

// items gives the items by what became of them, whoever sent them.
func (h *harness) items() map[string]int64 {
	all := map[string]int64{}
	for attributes, count := range h.counts("otelcol_receiver_sentry_items") {
		kept := slices.DeleteFunc(strings.Split(attributes, " "), func(kv string) bool {
			name, _, _ := strings.Cut(kv, "=")
			return name == "project" || name == "sdk" || name == "sdk_version"
		})
		all[strings.Join(kept, " ")] += count
	}
	return all
}

func (h *harness) rejected() map[string]int64 {
	return h.counts("otelcol_receiver_sentry_requests_rejected")
}
