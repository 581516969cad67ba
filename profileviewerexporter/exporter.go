// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpserver"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dialect"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/history"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

var viewers collector.SharedComponents[Config, *viewer]

// viewer is the store and the server that the exporters of all signals share.
type viewer struct {
	cfg       *Config
	settings  component.TelemetrySettings
	logger    *zap.Logger
	limited   *zap.Logger // for repeated errors
	telemetry *telemetry
	store     *store.Store
	building  chan struct{} // has one entry per response that is being built
	importing chan struct{} // has an entry while a file is being imported
	graphs    graphs        // of the latest views; used only by the response that is being built
	decoded   decoded       // as graphs
	unread    unread
	id        component.ID
	version   string    // of the collector
	created   time.Time // distinguishes its ETags from those before a restart

	history  *history.History // nil: no storage
	server   httpserver.Server
	expiring sync.WaitGroup
	end      chan struct{} // closed by Shutdown
}

func newViewer(cfg *Config, set exporter.Settings) (*viewer, error) {
	v := &viewer{
		cfg:       cfg,
		settings:  set.TelemetrySettings,
		logger:    set.Logger,
		limited:   collector.LimitLogs(set.Logger),
		store:     store.New(cfg.MaxBytes, cfg.MaxAge),
		building:  make(chan struct{}, concurrentBuilds),
		importing: make(chan struct{}, 1),
		id:        set.ID,
		version:   set.BuildInfo.Version,
		created:   time.Now(),
		end:       make(chan struct{}),
	}
	var err error
	if v.telemetry, err = newTelemetry(set.TelemetrySettings, v.store); err != nil {
		return nil, fmt.Errorf("cannot register metrics: %w", err)
	}
	return v, nil
}

// Start opens the storage and the listener.
func (v *viewer) Start(ctx context.Context, host component.Host) error {
	if err := v.openHistory(ctx, host); err != nil {
		return err
	}
	config := v.cfg.HTTP // a copy: ToServer modifies it
	server, err := httpserver.New(ctx, &config, host, v.settings, v.routes())
	if err != nil {
		return err
	}
	listener, err := httpserver.Listen(ctx, &config, "endpoint")
	if err != nil {
		return err
	}
	limits := httpserver.DefaultLimits()
	limits.MinBodyRate = minImportRate
	v.server.Serve(server, listener, limits, func(string) {}, host)
	v.logger.Info("Serving the viewer", zap.String("url", v.url()))
	httpserver.WarnIfOpen(v.logger, listener.Addr(), v.cfg.HTTP.Auth.HasValue(), "Showing the received data to anyone, even on other machines. "+
		"To restrict access, set endpoint to localhost:4321, or configure auth")
	v.expiring.Go(v.expire)
	return nil
}

// openHistory opens the storage. If this fails, the viewer runs without it.
func (v *viewer) openHistory(ctx context.Context, host component.Host) error {
	if v.cfg.Storage == nil {
		return nil
	}
	extension, err := collector.StorageExtension(host, *v.cfg.Storage)
	if err != nil {
		return err
	}
	client, err := extension.GetClient(ctx, component.KindExporter, v.id, "history")
	if err == nil {
		v.history, err = history.Open(ctx, client, v.store, v.storageFailed)
	}
	if err != nil {
		v.storageFailed(history.OpenOperation, err)
	}
	return nil
}

func (v *viewer) storageFailed(operation string, err error) {
	v.telemetry.storageFailed(operation)
	v.limited.Warn("Cannot access the storage; received data may be lost in a restart", zap.String("operation", operation), zap.Error(err))
}

// url returns the URL of the page for users of this machine.
func (v *viewer) url() string {
	scheme := "http"
	if v.cfg.HTTP.TLS.HasValue() {
		scheme = "https"
	}
	return scheme + "://" + httpserver.LocalAddress(v.server.Listener.Addr()) + "/"
}

// expireInterval is the maximum time for which a message is stored beyond max_age if no messages
// arrive.
const expireInterval = time.Second

func (v *viewer) expire() {
	ticker := time.NewTicker(expireInterval)
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			v.store.Expire(now)
			v.releaseDecoded(now)
		case <-v.end:
			return
		}
	}
}

// stopGrace is how long downloads may take to finish.
const stopGrace = time.Second

// Shutdown stops the server and closes the storage.
func (v *viewer) Shutdown(ctx context.Context) error {
	close(v.end)
	err := v.telemetry.unregister()
	_, stopErr := v.server.Shutdown(ctx, stopGrace)
	v.expiring.Wait()
	if v.history != nil {
		err = errors.Join(err, v.history.Close(ctx))
	}
	return errors.Join(err, stopErr)
}

func (v *viewer) consumeProfiles(ctx context.Context, profiles pprofile.Profiles) error {
	profiles, _, err := dialect.Current(profiles)
	if err != nil { // other exporters of the pipeline may be able to use it
		v.limited.Error("Message dropped: unknown dialect of OTLP", zap.Error(err))
		v.telemetry.messageDropped(ctx, store.Profiles, reasonDialect)
		return nil
	}
	stored, err := v.store.AddProfiles(ctx, profiles, time.Now())
	return v.report(ctx, store.Profiles, stored, err)
}

func (v *viewer) consumeTraces(ctx context.Context, traces ptrace.Traces) error {
	stored, err := v.store.AddTraces(ctx, traces, time.Now())
	return v.report(ctx, store.Traces, stored, err)
}

func (v *viewer) consumeLogs(ctx context.Context, logs plog.Logs) error {
	stored, err := v.store.AddLogs(ctx, logs, time.Now())
	return v.report(ctx, store.Logs, stored, err)
}

func (v *viewer) consumeMetrics(ctx context.Context, metrics pmetric.Metrics) error {
	stored, err := v.store.AddMetrics(ctx, metrics, time.Now())
	return v.report(ctx, store.Metrics, stored, err)
}

// report counts a message that is too large for the store. This is not an error, which would affect
// the other exporters of the pipeline.
func (v *viewer) report(ctx context.Context, signal store.Signal, stored bool, err error) error {
	if err != nil {
		return consumererror.NewPermanent(err)
	}
	if !stored {
		v.telemetry.messageDropped(ctx, signal, reasonTooLarge)
	}
	return nil
}
