// SPDX-License-Identifier: Apache-2.0

package sentryexporter

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

// maxAnswerHeaders bounds the headers of an answer, in bytes: net/http reads ten megabytes. Relay's have some hundred.
const maxAnswerHeaders = 64 << 10

// toClient makes the HTTP client. Confighttp has no setting for the size of headers, but gives its transport to middlewares: the last
// one of them is the first one to have it.
func toClient(ctx context.Context, cfg confighttp.ClientConfig, extensions map[component.ID]component.Component, set component.TelemetrySettings) (*http.Client, error) {
	extensions = maps.Clone(extensions)
	if extensions == nil {
		extensions = map[component.ID]component.Component{}
	}
	id := component.NewIDWithName(componentType, "header_limit")
	extensions[id] = headerLimit{}
	cfg.Middlewares = append(slices.Clone(cfg.Middlewares), configmiddleware.Config{ID: id})
	return cfg.ToClient(ctx, extensions, set)
}

// headerLimit is a middleware that limits the headers of answers.
type headerLimit struct {
	component.StartFunc
	component.ShutdownFunc
}

var _ extensionmiddleware.HTTPClient = headerLimit{}

// GetHTTPRoundTripper implements extensionmiddleware.HTTPClient.
func (headerLimit) GetHTTPRoundTripper(context.Context) (extensionmiddleware.WrapHTTPRoundTripperFunc, error) {
	return func(_ context.Context, base http.RoundTripper) (http.RoundTripper, error) {
		if transport, ok := base.(*http.Transport); ok {
			transport.MaxResponseHeaderBytes = maxAnswerHeaders
		}
		return base, nil
	}, nil
}
