// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"context"
	"errors"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

const scopeName = "github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter"

// Reasons for dropping a message.
const (
	reasonTooLarge = "too_large"       // larger than the store
	reasonDialect  = "unknown_dialect" // profiles in an older version of OTLP that cannot be translated
)

// telemetry reports the use of the store.
type telemetry struct {
	dropped  metric.Int64Counter
	storage  metric.Int64Counter
	callback metric.Registration
}

// newTelemetry registers the instruments that metadata.yaml lists.
func newTelemetry(set component.TelemetrySettings, s *store.Store) (*telemetry, error) {
	meter := set.MeterProvider.Meter(scopeName)
	dropped, err := meter.Int64Counter("otelcol_exporter_profile_viewer_dropped_messages", metric.WithUnit("{message}"),
		metric.WithDescription("Number of messages that were not stored."))
	failed, err4 := meter.Int64Counter("otelcol_exporter_profile_viewer_storage_errors", metric.WithUnit("{error}"),
		metric.WithDescription("Number of failed storage operations."))
	evicted, err2 := meter.Int64ObservableCounter("otelcol_exporter_profile_viewer_evicted_messages", metric.WithUnit("{message}"),
		metric.WithDescription("Number of messages that were evicted because the store was full or because of their age."))
	size, err3 := meter.Int64ObservableGauge("otelcol_exporter_profile_viewer_kept_bytes", metric.WithUnit("By"),
		metric.WithDescription("Memory used by the stored messages."))
	if err := errors.Join(err, err2, err3, err4); err != nil {
		return nil, err
	}
	callback, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		stats := s.Stats()
		o.ObserveInt64(size, stats.Bytes)
		o.ObserveInt64(evicted, stats.Evicted)
		return nil
	}, evicted, size)
	return &telemetry{dropped: dropped, storage: failed, callback: callback}, err
}

func (t *telemetry) messageDropped(ctx context.Context, signal store.Signal, reason string) {
	t.dropped.Add(ctx, 1, metric.WithAttributes(attribute.String("signal", string(signal)), attribute.String("reason", reason)))
}

func (t *telemetry) storageFailed(operation string) {
	t.storage.Add(context.Background(), 1, metric.WithAttributes(attribute.String("operation", operation)))
}

// unregister removes the callback, which would otherwise keep the store in memory until the
// collector exits.
func (t *telemetry) unregister() error { return t.callback.Unregister() }
