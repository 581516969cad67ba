// SPDX-License-Identifier: Apache-2.0

package profiledialectextension

import (
	"context"
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dialect"
)

const scopeName = "github.com/otelcol-sentry/otelcol-sentry/profiledialectextension"

// translator is the extension. It has no state besides its metrics.
type translator struct {
	component.StartFunc
	component.ShutdownFunc

	to       dialect.Version
	inline   bool
	logger   *zap.Logger
	requests metric.Int64Counter
}

func newTranslator(cfg *Config, set component.TelemetrySettings) (*translator, error) {
	meter := collector.NewMeter(set, scopeName)
	t := &translator{
		to: dialects[cfg.Dialect], inline: cfg.InlineAttributes, logger: collector.LimitLogs(set.Logger),
		requests: meter.Counter("otelcol_extension_profile_dialect_requests", "{request}", "Number of requests with profiles, by outcome."),
	}
	if err := meter.Err(); err != nil {
		return nil, fmt.Errorf("cannot register metrics: %w", err)
	}
	return t, nil
}

const (
	received = "received"
	sent     = "sent"

	unchanged  = "unchanged"
	translated = "translated"
	rejected   = "rejected"
)

// decode returns a received request in the current dialect. It reserves the memory of a
// translation.
func (t *translator) decode(ctx context.Context, request []byte, reserve func(bytes int) error) ([]byte, error) {
	current, from, err := dialect.DecodeWithin(request, reserve)
	outcome := unchanged
	switch {
	case err != nil:
		outcome = rejected
		t.logger.Warn("Profiles rejected", zap.Error(err))
	case from != dialect.V1_10:
		outcome = translated
	}
	t.count(ctx, received, from, outcome)
	return current, err
}

// encode returns a request of an exporter in the configured dialect.
func (t *translator) encode(ctx context.Context, request []byte) ([]byte, error) {
	encoded, err := dialect.Encode(request, t.to, t.inline)
	outcome := translated
	switch {
	case err != nil:
		outcome, err = rejected, fmt.Errorf("cannot encode profiles in OTLP %s: %w", t.to, err)
		t.logger.Warn("Profiles rejected", zap.Error(err))
	case !t.encodes():
		outcome = unchanged
	}
	t.count(ctx, sent, t.to, outcome)
	return encoded, err
}

// encodes reports whether requests of exporters change.
func (t *translator) encodes() bool { return t.inline || t.to != dialect.V1_10 }

func (t *translator) count(ctx context.Context, direction string, version dialect.Version, outcome string) {
	t.requests.Add(ctx, 1, metric.WithAttributes(attribute.String("direction", direction),
		attribute.String("version", string(version)), attribute.String("outcome", outcome)))
}
