// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/receiver"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpserver"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/loopguard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/notices"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/scrub"
	"github.com/otelcol-sentry/otelcol-sentry/sentryreceiver/internal/spotlight"
)

var receivers collector.SharedComponents[Config, *sentryReceiver]

// sentryReceiver is the server that the receivers of all signals share.
type sentryReceiver struct {
	cfg       *Config
	projects  *projects
	proxies   httpserver.Proxies
	settings  component.TelemetrySettings
	logger    *zap.Logger
	telemetry *telemetry
	inflight  *httpbody.Budget
	id        component.ID
	dedup     *dedup.Window
	services  services

	pipelines *pipeline.Pipelines
	stream    *spotlight.Stream

	withdraw []func() // the endpoints that the viewer shows

	server httpserver.Server // for SDKs with a DSN, and for Spotlight
}

// acquire returns the receiver for a configuration. It calls connect to set the pipeline of one
// signal.
func acquire(cfg *Config, set receiver.Settings, connect func(*sentryReceiver)) (*collector.SharedComponent[*sentryReceiver], error) {
	c, err := receivers.Acquire(cfg, func() (*sentryReceiver, error) { return newSentryReceiver(cfg, set) })
	if err != nil {
		return nil, err
	}
	connect(c.Shared)
	return c, nil
}

func newSentryReceiver(cfg *Config, set receiver.Settings) (*sentryReceiver, error) {
	telemetry, err := newTelemetry(set.TelemetrySettings)
	if err != nil {
		return nil, fmt.Errorf("cannot register metrics: %w", err)
	}
	r := &sentryReceiver{
		cfg:       cfg,
		projects:  newProjects(cfg.Projects),
		proxies:   cfg.Connections.Proxies(),
		settings:  set.TelemetrySettings,
		logger:    collector.LimitLogs(set.Logger),
		telemetry: telemetry,
		inflight:  httpbody.NewBudget(cfg.MaxBytesInFlight, telemetry.bytesTaken),
		id:        set.ID,
		dedup:     dedup.New(cfg.Dedup),
		stream:    spotlight.NewStream(),
	}
	if r.pipelines, err = pipeline.New(set, dataFormat, &r.server.Closed); err != nil {
		return nil, err
	}
	r.pipelines.Scrubbed = telemetry.scrubbed
	r.pipelines.Scrubber, err = scrub.New(cfg.Scrubbing)
	return r, err
}

// Start opens the storage and the listener.
func (r *sentryReceiver) Start(ctx context.Context, host component.Host) error {
	if err := r.dedup.Start(ctx, host, r.id, r.logger); err != nil {
		return err
	}
	config := r.serverConfig()
	server, err := r.newServer(ctx, host, config, endpointsOf(r.cfg))
	if err != nil {
		return err
	}
	if !restrictsOrigins(config) {
		server.Handler = openToBrowsers(server.Handler, config.ResponseHeaders)
	}
	listener, err := httpserver.Listen(ctx, config, "endpoint")
	if err != nil {
		return err
	}
	if err := r.startSpotlight(ctx, host); err != nil {
		return errors.Join(err, listener.Close())
	}

	r.logger.Info("Listening for Sentry SDKs", zap.Stringer("address", listener.Addr()), zap.Stringers("pipelines", r.pipelines.Signals()))
	httpserver.WarnIfOpen(r.logger, listener.Addr(), r.projects != nil, "Accepting any DSN, even from other machines: configure projects to restrict access")
	if loopguard.Shared.IsTarget(listener.Addr()) { // exporters and extensions start before receivers
		r.logger.Warn("A sentry_envelope exporter or a sentry_tee of this collector sends to this receiver. If its data comes from this receiver, change its dsn or upstream: the data would loop forever and is rejected")
	}
	r.withdraw = append(r.withdraw, loopguard.Shared.AddReceiver())
	if r.cfg.KeepOriginalPayload && r.pipelines.Scrubber != nil {
		r.logger.Warn("keep_original_payload stores payloads unscrubbed; scrubbing drops only the payloads of profiles that it changes")
	}
	r.withdraw = append(r.withdraw, notices.Shared.Offer(notices.Endpoint{Kind: notices.KindDSN, URL: r.exampleDSN(listener.Addr())}))
	r.server.Serve(server, listener, r.cfg.Connections, r.telemetry.connectionClosed, host)
	return nil
}

// exampleDSN returns the DSN that the viewer shows to new users. It has no key of a configured
// project.
func (r *sentryReceiver) exampleDSN(address net.Addr) string {
	scheme, sender := "http", "0123456789abcdef0123456789abcdef@" // some SDKs require 32 hex digits
	project := "1"
	if r.cfg.HTTP.TLS.HasValue() {
		scheme = "https"
	}
	if r.projects != nil {
		sender, project = "KEY@", "PROJECT"
	}
	return scheme + "://" + sender + httpserver.LocalAddress(address) + r.cfg.PathPrefix + "/" + project
}

// newServer returns a server for a table of endpoints.
func (r *sentryReceiver) newServer(ctx context.Context, host component.Host, config *confighttp.ServerConfig, endpoints []endpoint) (*http.Server, error) {
	server, err := httpserver.New(ctx, config, host, r.settings, r.handler(endpoints), append(httpbody.LeaveEncoded(config.CompressionAlgorithms),
		confighttp.WithErrorHandler(r.rejectForConfighttp))...)
	if err != nil {
		return nil, err
	}
	server.Handler = httpbody.Normalize(server.Handler)
	return server, nil
}

// serverConfig returns the complete settings of the server. It is a copy: ToServer modifies it.
func (r *sentryReceiver) serverConfig() *confighttp.ServerConfig {
	config := r.cfg.HTTP
	if len(config.Middlewares) > 0 {
		// An endpoint may stream larger bodies elsewhere. Each endpoint has its own limit, at most
		// this size.
		config.MaxRequestBodySize = math.MaxInt64
	}
	if !restrictsOrigins(&config) {
		return &config
	}
	// Users configure only the origins; the other settings are the ones that SDKs need.
	cors := config.CORS.Get()
	if len(cors.AllowedHeaders) == 0 {
		cors.AllowedHeaders = corsRequestHeaders
	}
	if len(cors.ExposedHeaders) == 0 {
		cors.ExposedHeaders = corsExposedHeaders
	}
	if cors.MaxAge == 0 {
		cors.MaxAge = corsMaxAge
	}
	return &config
}

// Shutdown rejects new requests and waits a limited time for those in progress.
func (r *sentryReceiver) Shutdown(ctx context.Context) error {
	for _, withdraw := range r.withdraw {
		withdraw()
	}
	r.stream.Close()
	return errors.Join(r.server.Stop(ctx, r.logger), r.dedup.Shutdown(ctx))
}
