// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"
	"net/http"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpserver"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/notices"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// spotlightEndpoints returns the table of the endpoints that Spotlight's server has for SDKs, for
// its page and for its command line.
func (r *sentryReceiver) spotlightEndpoints() []endpoint {
	return prepare(r.cfg, []endpoint{
		{path: "/stream", methods: post, open: r.openStreamed, isEnvelope: always, anonymous: true},
		{path: "/stream", methods: get, serve: (*sentryReceiver).serveStream},
		{path: "/clear", methods: []string{http.MethodDelete}, serve: (*sentryReceiver).clearStream},
		{path: "/health", methods: getOrHead, serve: (*sentryReceiver).serveLive},
	})
}

// openStreamed opens an envelope, and forwards it to the listeners of the event stream.
func (r *sentryReceiver) openStreamed(sub *submission, body *httpbody.Body) (*sentry.Envelope, error) {
	envelope, err := openEnvelope(sub, body)
	if err == nil && !r.stream.Add(body.Data) {
		r.logger.Debug("Envelope too large for Spotlight's event stream", zap.Int("bytes", len(body.Data)))
	}
	return envelope, err
}

func (r *sentryReceiver) serveStream(w http.ResponseWriter, req *http.Request) {
	r.stream.ServeHTTP(w, req)
}

func (r *sentryReceiver) clearStream(w http.ResponseWriter, _ *http.Request) {
	r.stream.Clear()
	w.WriteHeader(http.StatusNoContent)
}

// startSpotlight starts the server for Spotlight, if configured.
func (r *sentryReceiver) startSpotlight(ctx context.Context, host component.Host) error {
	if !r.cfg.Spotlight.Enabled() {
		return nil
	}
	config := r.spotlightConfig()
	server, err := r.newServer(ctx, host, config, r.spotlightEndpoints())
	if err != nil {
		return err
	}
	server.Handler = r.cfg.Spotlight.Guard(server.Handler)
	listener, err := httpserver.Listen(ctx, config, "spotlight::endpoint")
	if err != nil {
		return err
	}
	r.logger.Info("Listening for SDKs with Spotlight, without a DSN", zap.Stringer("address", listener.Addr()))
	httpserver.WarnIfOpen(r.logger, listener.Addr(), false, "Accepting data without credentials and sending it to any listener, including those on other machines. "+
		"To restrict access, set spotlight::endpoint to localhost:8969")
	r.withdraw = append(r.withdraw, notices.Shared.Offer(notices.Endpoint{
		Kind: notices.KindSpotlight, URL: "http://" + httpserver.LocalAddress(listener.Addr()) + "/stream",
	}))
	r.server.Serve(server, listener, r.cfg.Connections, r.telemetry.connectionClosed, host)
	return nil
}

// spotlightConfig returns the settings of the server for Spotlight: those of the receiver, without
// TLS and credentials, which SDKs do not use for Spotlight.
func (r *sentryReceiver) spotlightConfig() *confighttp.ServerConfig {
	config := r.cfg.HTTP
	config.NetAddr.Endpoint = r.cfg.Spotlight.Endpoint
	config.TLS = configoptional.None[configtls.ServerConfig]()
	config.Auth = configoptional.None[confighttp.AuthConfig]()
	config.CORS = configoptional.None[confighttp.CORSConfig]()
	config.Middlewares = nil // a tee needs the key of a DSN
	return &config
}
