// SPDX-License-Identifier: Apache-2.0

// Package instruments registers the metrics of a component.
package instruments

import (
	"errors"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/metric"
)

// Meter registers one instrument after the other. What goes wrong is told in the end.
type Meter struct {
	meter metric.Meter
	errs  error
}

// NewMeter gives the meter of a component, whose package is the scope.
func NewMeter(set component.TelemetrySettings, scope string) *Meter {
	return &Meter{meter: set.MeterProvider.Meter(scope)}
}

// Err is what went wrong so far.
func (m *Meter) Err() error { return m.errs }

// Counter registers something that is counted.
func (m *Meter) Counter(name, unit, description string) metric.Int64Counter {
	c, err := m.meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
	m.errs = errors.Join(m.errs, err)
	return c
}

// UpDownCounter registers something of which there is more or less at a time.
func (m *Meter) UpDownCounter(name, unit, description string) metric.Int64UpDownCounter {
	c, err := m.meter.Int64UpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(description))
	m.errs = errors.Join(m.errs, err)
	return c
}

// Histogram registers something that is measured, counted between bounds.
func (m *Meter) Histogram(name, unit, description string, bounds ...float64) metric.Float64Histogram {
	h, err := m.meter.Float64Histogram(name, metric.WithUnit(unit), metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(bounds...))
	m.errs = errors.Join(m.errs, err)
	return h
}
