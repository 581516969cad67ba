// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/exporter/xexporter"
	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup/deduptest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/metadatatest"
)

func create(t *testing.T, cfg *Config) xexporter.Profiles {
	t.Helper()
	f := NewFactory()
	e, err := createProfiles(context.Background(), exportertest.NewNopSettings(f.Type()), cfg)
	require.NoError(t, err)
	return e
}

func TestLifecycle(t *testing.T) {
	ctx, host := context.Background(), componenttest.NewNopHost()
	cfg := testConfig(nil)
	for range 2 { // the same configuration again, as after a reload
		e := create(t, cfg)
		require.NoError(t, e.Start(ctx, host))
		require.NoError(t, e.Shutdown(ctx))
		require.NoError(t, e.Shutdown(ctx), "twice")
		assert.Error(t, e.Start(ctx, host), "it is over")
	}
	require.NoError(t, create(t, cfg).Shutdown(ctx), "without Start")
}

func TestOneListenerForAllSignals(t *testing.T) {
	h := start(t, nil)
	for _, e := range []component.Component{h.traces, h.profiles, h.logs} {
		conn, err := net.Dial("tcp", h.viewer.server.Listener.Addr().String())
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		require.NoError(t, e.Shutdown(context.Background()))
	}
	_, err := net.Dial("tcp", h.viewer.server.Listener.Addr().String())
	assert.Error(t, err, "the last Shutdown closes it")
}

// TestStorageAtShutdown: a processor forwards the profiles that it holds when it shuts down, which
// may be after the exporter of another pipeline. They are stored.
func TestStorageAtShutdown(t *testing.T) {
	id, memory := component.MustNewID("file_storage"), deduptest.NewMemory()
	host := storageHost{map[component.ID]component.Component{id: memory}}
	cfg := testConfig(func(c *Config) { c.Storage = &id })
	for _, want := range []int{0, 1} {
		e := create(t, cfg)
		logs, err := NewFactory().CreateLogs(t.Context(), exportertest.NewNopSettings(componentType), cfg)
		require.NoError(t, err)
		v := viewerOf(t, cfg)
		require.NoError(t, e.Start(t.Context(), host))
		require.NoError(t, logs.Start(t.Context(), host))
		require.Eventually(t, func() bool { return len(v.store.Messages()) == want }, 30*time.Second, time.Millisecond)
		require.NoError(t, logs.Shutdown(t.Context()))
		require.NoError(t, e.ConsumeProfiles(t.Context(), timelinetest.Message("shop", timelinetest.Wall, shop...)))
		require.NoError(t, e.Shutdown(t.Context()))
	}
}

func TestAddressInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	e := create(t, testConfig(func(c *Config) { c.HTTP.NetAddr.Endpoint = taken.Addr().String() }))
	assert.ErrorContains(t, e.Start(context.Background(), componenttest.NewNopHost()), taken.Addr().String())
	require.NoError(t, e.Shutdown(context.Background()))
}

// statusHost keeps what components report about themselves.
type statusHost struct {
	component.Host
	events chan *componentstatus.Event
}

func (h statusHost) Report(event *componentstatus.Event) { h.events <- event }

func TestListenerThatBreaks(t *testing.T) {
	ctx := context.Background()
	host := statusHost{componenttest.NewNopHost(), make(chan *componentstatus.Event, 1)}
	cfg := testConfig(nil)
	e := create(t, cfg)
	v := viewerOf(t, cfg)
	require.NoError(t, e.Start(ctx, host))
	require.NoError(t, v.server.Listener.Close())
	assert.Equal(t, componentstatus.StatusFatalError, (<-host.events).Status())
	require.NoError(t, e.Shutdown(ctx))
}

// fakeListener has an address.
type fakeListener struct {
	net.Listener
	address net.TCPAddr
}

func (l fakeListener) Addr() net.Addr { return &l.address }

func TestURL(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1": "http://localhost:4321/", "::1": "http://localhost:4321/", "0.0.0.0": "http://localhost:4321/",
		"::": "http://localhost:4321/", "192.0.2.7": "http://192.0.2.7:4321/", "2001:db8::1": "http://[2001:db8::1]:4321/",
	} {
		v := viewer{cfg: testConfig(nil)}
		v.server.Listener = fakeListener{address: net.TCPAddr{IP: net.ParseIP(address), Port: 4321}}
		assert.Equal(t, want, v.url(), address)
		v.cfg.HTTP.TLS = configoptional.Some(configtls.NewDefaultServerConfig())
		assert.Equal(t, "https"+want[len("http"):], v.url(), address)
	}
}

// brokenStorage cannot be opened.
type brokenStorage struct {
	component.StartFunc
	component.ShutdownFunc
}

func (brokenStorage) GetClient(context.Context, component.Kind, component.ID, string) (storage.Client, error) {
	return nil, errors.New("disk full")
}

// storageHost has one extension.
type storageHost struct {
	extensions map[component.ID]component.Component
}

func (h storageHost) GetExtensions() map[component.ID]component.Component { return h.extensions }

func TestStorageThatCannotBeOpened(t *testing.T) {
	id := component.MustNewID("file_storage")
	cfg := testConfig(func(c *Config) { c.Storage = &id })
	e := create(t, cfg)
	assert.ErrorContains(t, e.Start(t.Context(), storageHost{}), `storage: "file_storage"`)
	require.NoError(t, e.Shutdown(t.Context()))

	e = create(t, cfg)
	require.NoError(t, e.Start(t.Context(), storageHost{map[component.ID]component.Component{id: brokenStorage{}}}), "it runs without the storage")
	require.NoError(t, e.ConsumeProfiles(t.Context(), timelinetest.Message("shop", timelinetest.Wall, shop...)))
	require.NoError(t, e.Shutdown(t.Context()))
}

// TestStorageOfClearedData: a cleared store is empty in the next run.
func TestStorageOfClearedData(t *testing.T) {
	id, memory := component.MustNewID("file_storage"), deduptest.NewMemory()
	host := storageHost{map[component.ID]component.Component{id: memory}}
	cfg := testConfig(func(c *Config) { c.Storage = &id })
	e := create(t, cfg)
	v := viewerOf(t, cfg)
	require.NoError(t, e.Start(t.Context(), host))
	require.NoError(t, e.ConsumeProfiles(t.Context(), timelinetest.Message("shop", timelinetest.Wall, shop...)))
	_, err := v.clear(nil)
	require.NoError(t, err)
	require.NoError(t, e.ConsumeProfiles(t.Context(), timelinetest.Message("cart", timelinetest.Wall, shop...)))
	require.NoError(t, e.Shutdown(t.Context()))
	assert.Len(t, memory.Values, 3, "the second message, the range and the last ID")
}

func TestMetadataAgreesWithTheFactory(t *testing.T) {
	metadatatest.CheckFactory(t, "exporter", NewFactory())
}

func TestMetadataAgreesWithTheInstruments(t *testing.T) {
	h := start(t, func(c *Config) { c.MaxBytes = minMaxBytes })
	h.addProfile("shop", shop...)
	h.addLog("shop", string(make([]byte, minMaxBytes)), 0, 0)
	h.viewer.storageFailed("open", errors.New("disk full"))
	metadatatest.CheckInstruments(t, h.telemetry, scopeName)
}
