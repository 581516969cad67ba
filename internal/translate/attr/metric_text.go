// SPDX-License-Identifier: Apache-2.0

package attr

import "go.opentelemetry.io/collector/pdata/pmetric"

// MetricText is a metric of ours: what it is called, what it says, and in what unit.
type MetricText struct{ Name, Description, Unit string }

func NewMetric(scope pmetric.ScopeMetrics, text MetricText) pmetric.Metric {
	metric := scope.Metrics().AppendEmpty()
	metric.SetName(text.Name)
	metric.SetDescription(text.Description)
	metric.SetUnit(text.Unit)
	return metric
}
