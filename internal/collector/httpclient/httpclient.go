// SPDX-License-Identifier: Apache-2.0

// Package httpclient makes the HTTP clients of components from confighttp's settings, with limits that these lack.
package httpclient

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configmiddleware"
	"go.opentelemetry.io/collector/extension/extensionmiddleware"
)

// MaxAnswerHeaders bounds the headers of an answer, in bytes: net/http reads ten megabytes. Relay's have some hundred.
const MaxAnswerHeaders = 64 << 10

// New returns a client that reads no answer with longer headers and follows no redirects: most turn a POST into a GET without the
// body, which a page with the status 200 may answer, and the new address would get the credentials. adjust makes further changes
// to the transport.
//
// Confighttp has no setting for the size of headers, but gives its transport to middlewares: the last one of them is the first one to
// have it.
func New(ctx context.Context, cfg confighttp.ClientConfig, extensions map[component.ID]component.Component, set component.TelemetrySettings,
	adjust ...func(*http.Transport)) (*http.Client, error) {
	extensions = maps.Clone(extensions)
	if extensions == nil {
		extensions = map[component.ID]component.Component{}
	}
	extensions[adjusterID] = adjuster{adjust: append(adjust, limitHeaders)}
	cfg.Middlewares = append(slices.Clone(cfg.Middlewares), configmiddleware.Config{ID: adjusterID})
	client, err := cfg.ToClient(ctx, extensions, set)
	if err != nil {
		return nil, err
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client, nil
}

func limitHeaders(transport *http.Transport) { transport.MaxResponseHeaderBytes = MaxAnswerHeaders }

// adjusterID is no extension of a configuration: these have no such type.
var adjusterID = component.MustNewIDWithName("httpclient", "adjuster")

// adjuster is a middleware that changes the transport.
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
