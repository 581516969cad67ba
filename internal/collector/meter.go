// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/metric"
)

// Meter registers the metrics of a component. It collects errors, so that callers check once.
type Meter struct {
	meter metric.Meter
	errs  error
}

// NewMeter returns the meter of a component. The scope is its package.
func NewMeter(set component.TelemetrySettings, scope string) *Meter {
	return &Meter{meter: set.MeterProvider.Meter(scope)}
}

// Err returns the errors so far.
func (m *Meter) Err() error { return m.errs }

// Counter registers a counter.
func (m *Meter) Counter(name, unit, description string) metric.Int64Counter {
	c, err := m.meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
	m.errs = errors.Join(m.errs, err)
	return c
}

// UpDownCounter registers a counter that may decrease.
func (m *Meter) UpDownCounter(name, unit, description string) metric.Int64UpDownCounter {
	c, err := m.meter.Int64UpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(description))
	m.errs = errors.Join(m.errs, err)
	return c
}

// Gauge registers a gauge that is read when metrics are collected.
func (m *Meter) Gauge(name, unit, description string, read func(metric.Int64Observer)) {
	_, err := m.meter.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(description),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			read(o)
			return nil
		}))
	m.errs = errors.Join(m.errs, err)
}

// Histogram registers a histogram with explicit bucket boundaries.
func (m *Meter) Histogram(name, unit, description string, bounds ...float64) metric.Float64Histogram {
	h, err := m.meter.Float64Histogram(name, metric.WithUnit(unit), metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(bounds...))
	m.errs = errors.Join(m.errs, err)
	return h
}
