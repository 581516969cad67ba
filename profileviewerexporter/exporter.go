// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpserver"
)

var viewers collector.SharedComponents[Config, *viewer]

// viewer is the one store and listener behind the components of all signals.
type viewer struct {
	cfg       *Config
	settings  component.TelemetrySettings
	logger    *zap.Logger
	telemetry *telemetry
	store     *store
	answering chan struct{} // whoever makes an answer holds a place in it
	unread    unread
	created   time.Time // tells its answers from those before a restart

	server   httpserver.Server
	expiring sync.WaitGroup
	end      chan struct{} // closed when it stops
}

func newViewer(cfg *Config, set exporter.Settings) (*viewer, error) {
	v := &viewer{
		cfg:       cfg,
		settings:  set.TelemetrySettings,
		logger:    set.Logger,
		store:     newStore(cfg.MaxBytes, cfg.MaxAge),
		answering: make(chan struct{}, answersAtOnce),
		created:   time.Now(),
		end:       make(chan struct{}),
	}
	var err error
	if v.telemetry, err = newTelemetry(set.TelemetrySettings, v.store); err != nil {
		return nil, fmt.Errorf("cannot register metrics: %w", err)
	}
	return v, nil
}

// Start opens the listener.
func (v *viewer) Start(ctx context.Context, host component.Host) error {
	config := v.cfg.HTTP // a copy: ToServer changes what it is given
	server, err := config.ToServer(ctx, host.GetExtensions(), v.settings, v.routes())
	if err != nil {
		return fmt.Errorf("cannot set up the HTTP server: %w", err)
	}
	listener, err := config.ToListener(ctx)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", config.NetAddr.Endpoint, err)
	}
	v.server.Serve(server, listener, httpserver.DefaultLimits(), func(string) {}, host)
	v.logger.Info("Page to look at profiles and traces", zap.String("url", v.url()))
	v.expiring.Go(v.expire)
	return nil
}

// url is where to find the page, for people. A listener on all addresses is found on this machine too.
func (v *viewer) url() string {
	scheme := "http"
	if v.cfg.HTTP.TLS.HasValue() {
		scheme = "https"
	}
	host, port, err := net.SplitHostPort(v.server.Listener.Addr().String())
	if err != nil {
		return v.server.Listener.Addr().String() // a unix socket
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsLoopback() || ip.IsUnspecified() {
		host = "localhost"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/"
}

// expireInterval is how much longer than max_age something may be kept when nothing new comes in.
const expireInterval = time.Second

func (v *viewer) expire() {
	ticker := time.NewTicker(expireInterval)
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			v.store.expire(now)
		case <-v.end:
			return
		}
	}
}

// stopGrace is how long somebody's download may go on.
const stopGrace = time.Second

// Shutdown ends the page with the first of the components: the others only bring what nobody can see.
func (v *viewer) Shutdown(ctx context.Context) error {
	close(v.end)
	err := v.telemetry.unregister()
	_, stopErr := v.server.Shutdown(ctx, stopGrace)
	v.expiring.Wait()
	return errors.Join(err, stopErr)
}
