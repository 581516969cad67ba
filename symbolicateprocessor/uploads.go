// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/filestore"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpserver"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/uploads"
)

// uploadsFolder is the folder of uploaded files in the directory of symbol files.
const uploadsFolder = "uploads"

// minBodyRate is the minimum rate of uploads in bytes per second: slow clients would use the slots
// of others.
const minBodyRate = 16 << 10

// endpoint is the server for sentry-cli.
type endpoint struct {
	server httpserver.Server
	store  *filestore.Store
	logger *zap.Logger
}

// startEndpoint opens the endpoint. changed is called after an upload.
func startEndpoint(ctx context.Context, cfg *Config, host component.Host, set component.TelemetrySettings, t *telemetry, changed func()) (*endpoint, error) {
	store, err := filestore.OpenLimited(filepath.Join(cfg.Store.Directory, uploadsFolder), cfg.Uploads.MaxTotalSize, cfg.Store.MaxFiles/2)
	if err != nil {
		return nil, fmt.Errorf("uploads: cannot open the folder in store::directory: %w", err)
	}
	e := &endpoint{server: httpserver.Server{Grace: stopGrace}, store: store, logger: set.Logger}
	config := httpbody.DefaultServerConfig(cfg.Uploads.Endpoint, uploads.MaxBodyBytes)
	config.TLS = cfg.Uploads.TLS
	handler := uploads.NewServer(store, uploads.Options{
		Token: string(cfg.Uploads.Token), MaxFileBytes: cfg.Store.MaxFileBytes, MaxNativeBytes: cfg.Store.MaxNativeBytes,
		ReadBody: bodyReader(),
		Count:    func(o uploads.Outcome) { t.countUpload(context.Background(), o) }, Stored: changed,
	})
	server, err := httpserver.New(ctx, &config, host, set, e.counted(handler))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("uploads: %w", err), store.Close())
	}
	listener, err := httpserver.Listen(ctx, &config, "uploads::endpoint")
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	e.logger.Info("Listening for uploads of sentry-cli", zap.Stringer("address", listener.Addr()))
	httpserver.WarnIfOpen(e.logger, listener.Addr(), cfg.Uploads.TLS.HasValue(), "Clients on other machines send the token and their files unencrypted. "+
		"To prevent this, configure uploads::tls, or set uploads::endpoint to localhost:4320")
	limits := httpserver.DefaultLimits()
	limits.MinBodyRate = minBodyRate
	e.server.Serve(server, listener, limits, func(string) {}, host)
	return e, nil
}

// maxBodyBytes is the maximum memory of all requests that describe uploads together: three of the
// largest, or thousands of usual ones.
const maxBodyBytes = 64 << 20

// bodyReader returns uploads.Options.ReadBody with a budget of memory.
func bodyReader() func(r *http.Request, limit, ratio int64) ([]byte, func(), error) {
	budget := httpbody.NewBudget(maxBodyBytes, func(context.Context, int64) {})
	return func(r *http.Request, limit, ratio int64) ([]byte, func(), error) {
		claim := budget.Claim(r.Context())
		body, err := httpbody.Read(r, limit, claim)
		if err == nil {
			if err = claim.Acquire(ratio * int64(len(body.Data))); err == nil {
				return body.Data, func() { body.Release(); claim.Release() }, nil
			}
			body.Release()
		}
		if errors.Is(err, httpbody.ErrNoMemory) {
			err = uploads.ErrNoMemory
		}
		return nil, claim.Release, err
	}
}

// stopGrace is the time that running uploads have to finish, because held messages wait for it.
// Clients repeat the others.
const stopGrace = 2 * time.Second

// counted makes stop wait for requests also after their connections are closed: until then, they
// use the store, which another endpoint may open next.
func (e *endpoint) counted(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.server.Handling.Add(1)
		defer e.server.Handling.Done()
		handler.ServeHTTP(w, r)
	})
}

// stop closes the endpoint.
func (e *endpoint) stop(ctx context.Context) error {
	return errors.Join(e.server.Stop(ctx, e.logger), e.store.Close())
}
