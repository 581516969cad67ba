// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/receiver"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/filestore"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpserver"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/scrub"
)

var receivers collector.SharedComponents[Config, *measureReceiver]

// measureReceiver is the server that the receivers of all signals share.
type measureReceiver struct {
	cfg       *Config
	id        component.ID
	settings  component.TelemetrySettings
	logger    *zap.Logger
	telemetry *telemetry
	apps      *apps
	secret    []byte // of tokens

	pipelines   *pipeline.Pipelines
	server      httpserver.Server
	batches     *dedup.Window    // accepted ones
	uploaded    *dedup.Window    // accepted files
	announced   *announcedMap    // files that may arrive
	attachments *filestore.Store // nil: dropped
	builds      *filestore.Store // nil: off
	records     sync.Mutex       // of builds: the first one stays
	uploading   *uploadSlots     // one per upload
	inFlight    *httpbody.Budget // of all other requests
}

// acquire returns the receiver for a configuration. It calls connect to set the pipeline of one
// signal.
func acquire(cfg *Config, set receiver.Settings, connect func(*measureReceiver)) (*collector.SharedComponent[*measureReceiver], error) {
	c, err := receivers.Acquire(cfg, func() (*measureReceiver, error) { return newMeasureReceiver(cfg, set) })
	if err != nil {
		return nil, err
	}
	connect(c.Shared)
	return c, nil
}

func newMeasureReceiver(cfg *Config, set receiver.Settings) (*measureReceiver, error) {
	telemetry, err := newTelemetry(set.TelemetrySettings)
	if err != nil {
		return nil, fmt.Errorf("cannot register metrics: %w", err)
	}
	secret := []byte(cfg.Attachments.TokenSecret)
	if len(secret) == 0 {
		secret = make([]byte, 32)
		_, _ = rand.Read(secret) // never fails
	}
	r := &measureReceiver{
		cfg:       cfg,
		id:        set.ID,
		settings:  set.TelemetrySettings,
		logger:    collector.LimitLogs(set.Logger),
		telemetry: telemetry,
		apps:      newApps(cfg),
		secret:    secret,
		batches:   dedup.New(cfg.Dedup),
		uploaded:  dedup.New(dedup.Config{MaxIDs: maxAnnounced, MaxAge: cfg.Attachments.URLTTL}),
		announced: newAnnounced(),
		uploading: newUploadSlots(cfg.Attachments.MaxInFlight, len(cfg.Apps) > 1 || cfg.AllowAnyKey && len(cfg.Apps) > 0),
		inFlight:  httpbody.NewBudget(cfg.MaxBytesInFlight, func(context.Context, int64) {}),
	}
	if r.pipelines, err = pipeline.New(set, dataFormat, &r.server.Closed); err != nil {
		return nil, err
	}
	r.pipelines.Scrubbed = telemetry.scrubbed
	r.pipelines.Scrubber, err = scrub.New(cfg.Scrubbing)
	return r, err
}

// Start opens the listener.
func (r *measureReceiver) Start(ctx context.Context, host component.Host) error {
	if err := r.openStores(ctx, host); err != nil {
		return err
	}
	config := r.cfg.HTTP // a copy: ToServer modifies it
	server, err := httpserver.New(ctx, &config, host, r.settings, r, append(httpbody.LeaveEncoded(config.CompressionAlgorithms),
		confighttp.WithErrorHandler(r.rejectForConfighttp))...)
	if err != nil {
		return err
	}
	server.Handler = r.uploadsAround(httpbody.Normalize(server.Handler))
	listener, err := httpserver.Listen(ctx, &config, "endpoint")
	if err != nil {
		return err
	}
	r.logger.Info("Listening for Measure SDKs", zap.Stringer("address", listener.Addr()), zap.Stringers("pipelines", r.pipelines.Signals()))
	r.warnOfFractions()
	httpserver.WarnIfOpen(r.logger, listener.Addr(), !r.cfg.AllowAnyKey, "Accepting any key, even from other machines: configure apps instead of allow_any_key to restrict access")
	r.server.Serve(server, listener, r.cfg.Connections, r.telemetry.connectionClosed, host)
	return nil
}

// warnOfFractions warns about sampling rates that look like fractions. Measure's are percentages.
func (r *measureReceiver) warnOfFractions() {
	for i, app := range r.cfg.Apps {
		for key, rate := range app.SDK.Rates() {
			if rate > 0 && rate < 1 {
				r.logger.Warn("A sampling rate is below one percent; rates are percentages, not fractions", zap.String("key", fmt.Sprintf("apps[%d]::config::%s", i, key)), zap.Float64("percent", rate))
			}
		}
	}
}

func (r *measureReceiver) openStores(ctx context.Context, host component.Host) (err error) {
	if directory := r.cfg.Attachments.Directory; directory != "" {
		if r.attachments, err = filestore.Open(directory, r.cfg.Attachments.MaxTotalSize); err != nil {
			return fmt.Errorf("attachments: directory: %w", err)
		}
		if r.cfg.Attachments.TokenSecret == "" {
			r.logger.Warn("attachments: token_secret is not set: upload URLs become invalid after a restart")
		}
	}
	if r.cfg.Builds.Enabled {
		if r.builds, err = filestore.OpenLimited(r.cfg.Builds.Directory, r.cfg.Builds.MaxTotalSize, maxBuildFiles); err != nil {
			return fmt.Errorf("builds: directory: %w", err)
		}
	}
	return r.batches.Start(ctx, host, r.id, r.logger)
}

// Shutdown rejects new requests and waits a limited time for those in progress.
func (r *measureReceiver) Shutdown(ctx context.Context) error {
	err := r.server.Stop(ctx, r.logger)
	err = errors.Join(err, r.batches.Shutdown(ctx))
	for _, store := range []*filestore.Store{r.attachments, r.builds} {
		if store != nil {
			err = errors.Join(err, store.Close())
		}
	}
	r.attachments, r.builds = nil, nil
	return err
}

// uploadsAround handles uploads without confighttp: SDKs send no credentials except the URL, the
// maximum size depends on the type, and compressed files are stored as they are.
func (r *measureReceiver) uploadsAround(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if kind, id, is := uploadPath(req.URL.Path); is {
			r.server.Handling.Add(1)
			defer r.server.Handling.Done()
			r.serveUpload(w, req, kind, id)
			return
		}
		next.ServeHTTP(w, req)
	})
}
