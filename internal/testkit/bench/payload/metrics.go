// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// Metrics returns a message of OpenTelemetry's counters and gauges, as an SDK exports them: each
// metric has a point for each route.
func Metrics() pmetric.Metrics {
	metrics := pmetric.NewMetrics()
	resource := metrics.ResourceMetrics().AppendEmpty()
	for key, value := range map[string]string{
		"service.name": "shop", "service.version": "1.4.2", "service.instance.id": "627cc493-f310-47de-96bd-71410b7dec09",
		"telemetry.sdk.name": "opentelemetry", "telemetry.sdk.language": "java", "telemetry.sdk.version": "1.61.0",
	} {
		resource.Resource().Attributes().PutStr(key, value)
	}
	scope := resource.ScopeMetrics().AppendEmpty()
	scope.Scope().SetName("io.opentelemetry.http")
	for i := range 20 {
		metric := scope.Metrics().AppendEmpty()
		metric.SetName(fmt.Sprintf("http.server.requests.%d", i))
		metric.SetUnit("{request}")
		var points pmetric.NumberDataPointSlice
		if i%2 == 0 {
			sum := metric.SetEmptySum()
			sum.SetIsMonotonic(true)
			sum.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
			points = sum.DataPoints()
		} else {
			points = metric.SetEmptyGauge().DataPoints()
		}
		for route := range 45 { // below 1 MiB of containers
			point := points.AppendEmpty()
			point.SetTimestamp(1_795_224_000_000_000_000 + pcommon.Timestamp(route)*1_000_003)
			point.SetDoubleValue(float64(route) * 1.25)
			attributes := point.Attributes()
			attributes.PutStr("http.request.method", "GET")
			attributes.PutStr("http.route", fmt.Sprintf("/orders/%d/{id}", route))
			attributes.PutInt("http.response.status_code", 200)
			attributes.PutStr("url.scheme", "https")
			attributes.PutBool("cached", route%3 == 0)
		}
	}
	return metrics
}
