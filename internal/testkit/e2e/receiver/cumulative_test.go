// SPDX-License-Identifier: Apache-2.0

package receiver

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestCumulative: the collector's deltatocumulative processor converts the deltas of Sentry's
// metrics to running totals, as described in docs/mapping.md. It drops and counts points that are
// not newer than the previous one.
func TestCumulative(t *testing.T) {
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{Config: fmt.Sprintf(`
receivers:
  sentry:
    endpoint: ENDPOINT
processors:
  deltatocumulative:
    max_stale: 1h
exporters:
  otlp_http:
    endpoint: %s
    compression: none
    sending_queue: {enabled: false}
service:
  pipelines:
    metrics: {receivers: [sentry], processors: [deltatocumulative], exporters: [otlp_http]}
`, backend.URL())})

	send := func(at, orders, latency float64) {
		element := `{"timestamp":%v,"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","type":"%s","name":"%s","value":%v,` +
			`"attributes":{"server.address":{"type":"string","value":"web-1"}}}`
		body := fmt.Appendf(nil, "{}\n{\"type\":\"trace_metric\",\"item_count\":2}\n{\"items\":["+element+","+element+"]}\n",
			at, "counter", "orders", orders, at, "distribution", "latency", latency)
		require.Equal(t, http.StatusOK, c.Send(t, harness.EnvelopeRequest(body)).Status)
	}
	send(1777629600, 2, 10)
	send(1777629601, 3, 30)
	send(1777629601, 100, 100) // not newer

	orders, latency := totals(t, backend.Drain(harness.MetricsPath))
	assert.Equal(t, []float64{2, 5}, orders)
	assert.Equal(t, []string{"1: 10", "2: 40"}, latency)
	assert.Equal(t, 2, c.Scrape(t).Sum("otelcol_deltatocumulative_datapoints", "error=delta.ErrOutOfOrder"))
}

// totals returns the points of the sum "orders", and count and sum of the points of the histogram
// "latency". It checks that all are cumulative.
func totals(t *testing.T, messages [][]byte) (orders []float64, latency []string) {
	for _, message := range messages {
		request := pmetricotlp.NewExportRequest()
		require.NoError(t, request.UnmarshalProto(message))
		for _, resource := range request.Metrics().ResourceMetrics().All() {
			for _, scope := range resource.ScopeMetrics().All() {
				for _, metric := range scope.Metrics().All() {
					switch metric.Type() {
					case pmetric.MetricTypeSum:
						assert.Equal(t, pmetric.AggregationTemporalityCumulative, metric.Sum().AggregationTemporality())
						for _, point := range metric.Sum().DataPoints().All() {
							orders = append(orders, point.DoubleValue())
						}
					case pmetric.MetricTypeExponentialHistogram:
						assert.Equal(t, pmetric.AggregationTemporalityCumulative, metric.ExponentialHistogram().AggregationTemporality())
						for _, point := range metric.ExponentialHistogram().DataPoints().All() {
							latency = append(latency, fmt.Sprintf("%d: %v", point.Count(), point.Sum()))
						}
					}
				}
			}
		}
	}
	return orders, latency
}
