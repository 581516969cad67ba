// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configmiddleware"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/extension/extensionmiddleware"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

// harness is a started exporter in front of a fake Sentry. It translates nothing: what it sends is
// handmade.
type harness struct {
	t       *testing.T
	sentry  *fakesentry.Server
	metrics *componenttest.Telemetry
	logs    *observer.ObservedLogs
	events  chan *componentstatus.Event
	started *sentryExporter
}

// start starts an exporter with fast retries.
func start(t *testing.T, edit func(*Config)) *harness {
	t.Helper()
	return startAt(t, fakesentry.StartInMemory(t), edit)
}

func startAt(t *testing.T, server *fakesentry.Server, edit func(*Config)) *harness {
	t.Helper()
	h := &harness{t: t, sentry: server, metrics: componenttest.NewTelemetry()}
	t.Cleanup(func() { require.NoError(t, h.metrics.Shutdown(context.Background())) })
	cfg := testConfig(h.sentry, edit)
	require.NoError(t, cfg.Validate())

	set := h.settings()
	core, logs := observer.New(zap.DebugLevel)
	set.Logger, h.logs = zap.New(core), logs
	e := newTestExporter(t, cfg, set)
	require.NoError(t, e.addQueues(t.Context(), tracesHelper,
		sentry.CategoryProfileChunk, sentry.CategoryProfileChunkUI, sentry.CategoryTransaction, sentry.CategorySpan))
	require.NoError(t, e.Start(t.Context(), h.host()))
	h.started = e
	t.Cleanup(h.stop)
	return h
}

// newTestExporter creates an exporter without queues.
func newTestExporter(t *testing.T, cfg *Config, set exporter.Settings) *sentryExporter {
	r, err := newRouter(cfg, set, func(*sentryExporter) error { return nil })
	require.NoError(t, err)
	return r.projects[0]
}

func testConfig(server *fakesentry.Server, edit func(*Config)) *Config {
	cfg := createDefaultConfig().(*Config)
	cfg.DSN = configopaque.String(server.DSN())
	cfg.HTTP.Middlewares = []configmiddleware.Config{{ID: dialerID}}
	cfg.Retry.InitialInterval = time.Millisecond
	cfg.Retry.MaxInterval = 10 * time.Millisecond
	if edit != nil {
		edit(cfg)
	}
	return cfg
}

func (h *harness) settings() exporter.Settings {
	set := exportertest.NewNopSettings(componentType)
	set.ID = component.NewID(componentType)
	set.TelemetrySettings = h.metrics.NewTelemetrySettings()
	set.BuildInfo.Command, set.BuildInfo.Version = "otelcol-test", "1.2.3"
	return set
}

// statusHost is a host of the collector's service.
type statusHost struct {
	component.Host
	events chan *componentstatus.Event
}

func (statusHost) GetExtensions() map[component.ID]component.Component {
	all := map[component.ID]component.Component{dialerID: dialer{}}
	disks.Range(func(id, d any) bool {
		all[id.(component.ID)] = d.(*disk)
		return true
	})
	return all
}

func (h statusHost) Report(event *componentstatus.Event) { h.events <- event }

// dialer is an extension that connects exporters to servers in memory.
type dialer struct {
	component.StartFunc
	component.ShutdownFunc
}

var dialerID = component.MustNewID("dialer")

func (dialer) GetHTTPRoundTripper(context.Context) (extensionmiddleware.WrapHTTPRoundTripperFunc, error) {
	return func(_ context.Context, base http.RoundTripper) (http.RoundTripper, error) {
		base.(*http.Transport).DialContext = fakesentry.Dial
		return base, nil
	}, nil
}

func (h *harness) host() component.Host {
	if h.events == nil {
		h.events = make(chan *componentstatus.Event, 100)
	}
	return statusHost{componenttest.NewNopHost(), h.events}
}

// stop may be called twice.
func (h *harness) stop() {
	if h.started != nil {
		assert.NoError(h.t, h.started.Shutdown(context.Background()))
		h.started = nil
	}
}

// send sends a message that became these envelopes.
func (h *harness) send(envelopes ...envelope) error {
	var requests []*request
	for _, e := range envelopes {
		requests = append(requests, &request{Version: requestVersion, Count: 1, Envelopes: []envelope{e}})
	}
	return h.started.enqueue(h.t.Context(), requests)
}

// Items of each kind that is limited apart, with a number to know them by.
func backendChunk(n int) envelope { return handmade(n, sentry.ItemProfileChunk, "python") }
func uiChunk(n int) envelope      { return handmade(n, sentry.ItemProfileChunk, "cocoa") }
func transaction(n int) envelope  { return handmade(n, sentry.ItemTransaction, "") }
func spanContainer(n int) envelope {
	return handmade(n, sentry.ItemSpan, "")
}

func handmade(n int, itemType sentry.ItemType, platform string) envelope {
	return envelope{EventID: fmt.Sprintf("%032x", n), Item: sentry.Item{
		Header:  sentry.ItemHeader{Type: itemType, Platform: platform},
		Payload: fmt.Appendf(nil, `{"number":%d}`, n),
	}}
}

// numbers are those of the envelopes that Sentry took, in order.
func (h *harness) taken() []int { return numbers(h.sentry.Taken()) }

func numbers(envelopes []*sentry.Envelope) (list []int) {
	for _, e := range envelopes {
		var n int
		if _, err := fmt.Sscanf(string(e.Items[0].Payload), `{"number":%d}`, &n); err == nil {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

func (h *harness) eventuallyTaken(want ...int) {
	h.t.Helper()
	require.EventuallyWithT(h.t, func(c *assert.CollectT) { assert.Equal(c, want, h.taken()) }, 30*time.Second, time.Millisecond)
}

// counts gives a counter's values by its attributes, as "key=value key=value".
func (h *harness) counts(name string) map[string]int64 {
	counts := map[string]int64{}
	metric, err := h.metrics.GetMetric(name)
	if err != nil {
		return counts
	}
	for _, point := range metric.Data.(metricdata.Sum[int64]).DataPoints {
		text := ""
		for _, attribute := range point.Attributes.ToSlice() {
			text += string(attribute.Key) + "=" + attribute.Value.AsString() + " "
		}
		counts[text[:max(len(text)-1, 0)]] = point.Value
	}
	return counts
}
