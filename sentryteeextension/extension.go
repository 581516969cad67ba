// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync/atomic"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/extensionmiddleware"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/loopguard"
)

// tee is the extension.
type tee struct {
	cfg       *Config
	settings  extension.Settings
	logger    *zap.Logger
	telemetry *telemetry
	forwarder *forwarder
	upstream  *upstream // since Start
	via       string    // name of this tee in the Via header of forwarded requests
	used      atomic.Bool
	withdraw  []func() // what Start has registered
}

var _ extensionmiddleware.HTTPServer = (*tee)(nil)

func newTee(cfg *Config, set extension.Settings) (*tee, error) {
	t := &tee{cfg: cfg, settings: set, logger: collector.LimitLogs(set.Logger), via: product + rand.Text()[:8]}
	telemetry, err := newTelemetry(set.TelemetrySettings)
	if err != nil {
		return nil, fmt.Errorf("cannot register metrics: %w", err)
	}
	t.telemetry = telemetry
	t.forwarder = newForwarder(cfg, t.logger, telemetry)
	telemetry.observe(t.forwarder.observe)
	return t, nil
}

// Dependencies makes the collector start the storage first.
func (t *tee) Dependencies() []component.ID {
	if t.cfg.Storage == nil {
		return nil
	}
	return []component.ID{*t.cfg.Storage}
}

// Start implements component.Component. Extensions start before receivers.
func (t *tee) Start(ctx context.Context, host component.Host) error {
	upstream, err := newUpstream(ctx, t.cfg, host, t.settings.TelemetrySettings)
	if err != nil {
		return fmt.Errorf("cannot set up the HTTP client: %w", err)
	}
	if t.cfg.Storage != nil {
		if err := t.forwarder.openSpool(ctx, host, t.settings.ID); err != nil {
			return err
		}
	}
	t.upstream = upstream
	for _, host := range t.cfg.destinations().Hosts() {
		t.withdraw = append(t.withdraw, loopguard.Shared.AddTarget(host))
	}
	t.logger.Info("Forwarding requests to Sentry", zap.Strings("hosts", t.cfg.destinations().Hosts()), collector.StorageField("waiting", t.cfg.Storage))
	t.forwarder.start(upstream.post)
	return nil
}

// Ready is called after all receivers have started.
func (t *tee) Ready() error {
	if !t.used.Load() {
		t.logger.Warn("Nothing is forwarded to Sentry, because no receiver uses this extension: add it to middlewares of a sentry receiver",
			zap.String("middlewares", fmt.Sprintf("[{id: %s}]", t.settings.ID)))
	}
	return nil
}

// NotReady is called before the receivers stop.
func (t *tee) NotReady() error { return nil }

// Shutdown implements component.Component. Extensions stop after receivers.
func (t *tee) Shutdown(ctx context.Context) error {
	if t.upstream == nil {
		return nil // never started
	}
	for _, withdraw := range t.withdraw {
		withdraw()
	}
	defer t.upstream.client.CloseIdleConnections()
	return t.forwarder.stop(ctx)
}

// GetHTTPHandler implements extensionmiddleware.HTTPServer.
func (t *tee) GetHTTPHandler(context.Context) (extensionmiddleware.WrapHTTPHandlerFunc, error) {
	t.used.Store(true)
	return t.wrap, nil
}
