// SPDX-License-Identifier: Apache-2.0

// Package httpclient creates the HTTP clients of components from the settings of confighttp, with
// limits that confighttp lacks.
package httpclient

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configcompression"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configmiddleware"
	"go.opentelemetry.io/collector/extension/extensionmiddleware"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fastgzip"
)

// MaxAnswerHeaders is the maximum size of the headers of a response: net/http accepts ten
// megabytes. Relay's headers have a few hundred bytes.
const MaxAnswerHeaders = 64 << 10

// New returns a client that limits response headers, keeps idle connections and follows no
// redirects. Most redirects turn a POST into a GET without a body, which any page may answer with
// 200, and send the credentials to the new address. adjust makes further changes to the transport.
//
// Gzip is that of package fastgzip.
//
// confighttp has no setting for the size of headers, but it passes its transport to middlewares, to
// the last one first.
func New(ctx context.Context, cfg confighttp.ClientConfig, extensions map[component.ID]component.Component, set component.TelemetrySettings,
	adjust ...func(*http.Transport)) (*http.Client, error) {
	extensions = maps.Clone(extensions)
	if extensions == nil {
		extensions = map[component.ID]component.Component{}
	}
	extensions[adjusterID] = adjuster{adjust: append(adjust, limitHeaders, keepConnections)}
	cfg.Middlewares = append(slices.Clone(cfg.Middlewares), configmiddleware.Config{ID: adjusterID})
	gzips := cfg.Compression == configcompression.TypeGzip
	if gzips {
		cfg.Compression = ""
	}
	client, err := cfg.ToClient(ctx, extensions, set)
	if err != nil {
		return nil, err
	}
	if gzips {
		level := int(cmp.Or(cfg.CompressionParams.Level, configcompression.DefaultCompressionLevel))
		if client.Transport, err = fastgzip.Transport(client.Transport, level); err != nil {
			return nil, err
		}
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client, nil
}

// CheckProxy checks proxy_url, of which confighttp accepts any that url.Parse does.
func CheckProxy(cfg *confighttp.ClientConfig) error {
	if cfg.ProxyURL == "" {
		return nil
	}
	// The error omits the URL, which may have a password.
	if u, err := url.Parse(cfg.ProxyURL); err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) {
		return errors.New("proxy_url: must begin with http://, https:// or socks5://, followed by a host, e.g. http://proxy.example.com:3128")
	}
	return nil
}

func limitHeaders(transport *http.Transport) { transport.MaxResponseHeaderBytes = MaxAnswerHeaders }

// keepConnections replaces net/http's default of two idle connections per host: the concurrent
// requests of a component go to one host.
func keepConnections(transport *http.Transport) {
	if transport.MaxIdleConnsPerHost == 0 {
		transport.MaxIdleConnsPerHost = transport.MaxIdleConns
	}
}

// adjusterID cannot be the ID of a configured extension: no extension has this type.
var adjusterID = component.MustNewIDWithName("httpclient", "adjuster")

// adjuster is a middleware that modifies the transport.
type adjuster struct {
	component.StartFunc
	component.ShutdownFunc
	adjust []func(*http.Transport)
}

var _ extensionmiddleware.HTTPClient = adjuster{}

// GetHTTPRoundTripper implements extensionmiddleware.HTTPClient.
func (a adjuster) GetHTTPRoundTripper(context.Context) (extensionmiddleware.WrapHTTPRoundTripperFunc, error) {
	return func(_ context.Context, base http.RoundTripper) (http.RoundTripper, error) {
		if transport, ok := base.(*http.Transport); ok {
			for _, adjust := range a.adjust {
				adjust(transport)
			}
		}
		return base, nil
	}, nil
}
