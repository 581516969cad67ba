// SPDX-License-Identifier: Apache-2.0

package fastgzipextension

import (
	"context"
	"net/http"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configcompression"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/extensionmiddleware"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fastgzip"
)

var componentType = component.MustNewType("fast_gzip")

// Config has no settings.
type Config struct{}

// Unmarshal rejects all keys.
func (c *Config) Unmarshal(conf *confmap.Conf) error { return collector.UnmarshalConfig(conf, c) }

// NewFactory creates the factory of the extension.
func NewFactory() extension.Factory {
	return extension.NewFactory(componentType, func() component.Config { return &Config{} },
		func(context.Context, extension.Settings, component.Config) (extension.Extension, error) {
			return &middleware{}, nil
		},
		component.StabilityLevelDevelopment)
}

type middleware struct {
	component.StartFunc
	component.ShutdownFunc
}

var _ extensionmiddleware.HTTPClient = (*middleware)(nil)

// GetHTTPRoundTripper implements extensionmiddleware.HTTPClient.
func (*middleware) GetHTTPRoundTripper(context.Context) (extensionmiddleware.WrapHTTPRoundTripperFunc, error) {
	return func(_ context.Context, next http.RoundTripper) (http.RoundTripper, error) {
		return fastgzip.Transport(next, configcompression.DefaultCompressionLevel)
	}, nil
}
