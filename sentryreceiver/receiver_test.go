// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
)

func create(t *testing.T, cfg *Config) *collector.SharedComponent[*sentryReceiver] {
	t.Helper()
	f := NewFactory()
	r, err := createProfiles(context.Background(), receivertest.NewNopSettings(f.Type()), cfg, consumertest.NewNop())
	require.NoError(t, err)
	return r.(*collector.SharedComponent[*sentryReceiver])
}

func TestLifecycle(t *testing.T) {
	ctx, host := context.Background(), componenttest.NewNopHost()
	cfg := testConfig(nil)
	for range 2 { // the same configuration again, as after a reload
		r := create(t, cfg)
		require.NoError(t, r.Start(ctx, host))
		require.NoError(t, r.Shutdown(ctx))
		require.NoError(t, r.Shutdown(ctx), "twice")
		assert.Error(t, r.Start(ctx, host), "it is over")
	}
	require.NoError(t, create(t, cfg).Shutdown(ctx), "without Start")
}

func TestOneListenerForAllSignals(t *testing.T) {
	ctx, host := context.Background(), componenttest.NewNopHost()
	cfg := testConfig(nil)
	a, b, other := create(t, cfg), create(t, cfg), create(t, testConfig(nil))
	assert.Same(t, a.Shared, b.Shared)
	assert.NotSame(t, a.Shared, other.Shared)
	require.NoError(t, a.Start(ctx, host))
	require.NoError(t, b.Start(ctx, host), "on the same address")
	require.NoError(t, other.Start(ctx, host))

	require.NoError(t, b.Shutdown(ctx))
	_, err := net.Dial("tcp", a.Shared.server.Listener.Addr().String())
	assert.Error(t, err, "the first Shutdown closes it")
	require.NoError(t, a.Shutdown(ctx))
	require.NoError(t, other.Shutdown(ctx))
}

func TestAddressInUse(t *testing.T) {
	ctx := context.Background()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	r := create(t, testConfig(func(c *Config) { c.HTTP.NetAddr.Endpoint = taken.Addr().String() }))
	assert.ErrorContains(t, r.Start(ctx, componenttest.NewNopHost()), taken.Addr().String())
	require.NoError(t, r.Shutdown(ctx))
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
	r := create(t, testConfig(nil))
	require.NoError(t, r.Start(ctx, host))
	require.NoError(t, r.Shared.server.Listener.Close())
	assert.Equal(t, componentstatus.StatusFatalError, (<-host.events).Status())
	require.NoError(t, r.Shutdown(ctx))
	assert.Empty(t, host.events)
}

func TestShutdownThatMayNotWait(t *testing.T) {
	h := start(t, nil)
	arrived, goOn, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
	h.sink.respond = func(pprofile.Profiles) error { close(arrived); <-goOn; return nil }
	go func() {
		defer close(left)
		resp, err := h.client.Do(h.envelopeRequest([]byte(envelope(chunkItem))))
		if err == nil {
			resp.Body.Close()
		}
	}()
	<-arrived
	over, cancel := context.WithCancel(context.Background())
	cancel()
	assert.ErrorIs(t, h.receiver.Shutdown(over), context.Canceled)
	close(goOn)
	<-left
}
