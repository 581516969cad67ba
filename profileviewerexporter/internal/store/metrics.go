// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
)

// AddMetrics stores a message of metrics. It reports whether the message was small enough.
func (s *Store) AddMetrics(ctx context.Context, metrics pmetric.Metrics, now time.Time) (stored bool, err error) {
	m := &Message{Signal: Metrics, Arrived: now, Tenant: tenant.FromContext(ctx)}
	m.summarizeMetrics(metrics)
	if m.empty() {
		return true, nil
	}
	if m.otlp, err = (&pmetric.ProtoMarshaler{}).MarshalMetrics(metrics); err != nil {
		return false, fmt.Errorf("cannot encode metrics: %w", err)
	}
	return s.add(m), nil
}

func (m *Message) summarizeMetrics(metrics pmetric.Metrics) {
	fragments := fragmentsOf(m)
	for _, resource := range metrics.ResourceMetrics().All() {
		service := serviceName(resource.Resource())
		for _, scope := range resource.ScopeMetrics().All() {
			for _, metric := range scope.Metrics().All() {
				fragments.of(pcommon.TraceID{}, service).Points += points(metric)
			}
		}
	}
}

func points(metric pmetric.Metric) int {
	switch metric.Type() {
	case pmetric.MetricTypeGauge:
		return metric.Gauge().DataPoints().Len()
	case pmetric.MetricTypeSum:
		return metric.Sum().DataPoints().Len()
	case pmetric.MetricTypeHistogram:
		return metric.Histogram().DataPoints().Len()
	case pmetric.MetricTypeExponentialHistogram:
		return metric.ExponentialHistogram().DataPoints().Len()
	case pmetric.MetricTypeSummary:
		return metric.Summary().DataPoints().Len()
	}
	return 0
}
