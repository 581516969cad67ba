// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"context"
	"errors"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

const scopeName = "github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter"

// reasonTooLarge is why something is not kept at all.
const reasonTooLarge = "too_large"

// Signals, as the attribute of metrics.
const (
	signalProfiles = "profiles"
	signalTraces   = "traces"
	signalLogs     = "logs"
)

// telemetry says how much is kept and what was not.
type telemetry struct {
	dropped metric.Int64Counter
	kept    metric.Registration
}

// newTelemetry registers the instruments that metadata.yaml lists.
func newTelemetry(set component.TelemetrySettings, s *store) (*telemetry, error) {
	meter := set.MeterProvider.Meter(scopeName)
	dropped, err := meter.Int64Counter("otelcol_exporter_profile_viewer_dropped_messages", metric.WithUnit("{message}"),
		metric.WithDescription("Number of messages that could not be kept."))
	evicted, err2 := meter.Int64ObservableCounter("otelcol_exporter_profile_viewer_evicted_messages", metric.WithUnit("{message}"),
		metric.WithDescription("Number of messages that made room for newer ones or grew too old."))
	size, err3 := meter.Int64ObservableGauge("otelcol_exporter_profile_viewer_kept_bytes", metric.WithUnit("By"),
		metric.WithDescription("How much memory is taken by what is kept."))
	if err := errors.Join(err, err2, err3); err != nil {
		return nil, err
	}
	kept, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		use := s.use()
		o.ObserveInt64(size, use.Bytes)
		o.ObserveInt64(evicted, use.Evicted)
		return nil
	}, evicted, size)
	return &telemetry{dropped: dropped, kept: kept}, err
}

func (t *telemetry) messageDropped(ctx context.Context, signal, reason string) {
	t.dropped.Add(ctx, 1, metric.WithAttributes(attribute.String("signal", signal), attribute.String("reason", reason)))
}

// unregister lets go of the store, which would be observed for as long as the collector runs.
func (t *telemetry) unregister() error { return t.kept.Unregister() }
