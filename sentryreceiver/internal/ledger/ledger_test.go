// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// TestBounded: the number of series is limited, however many senders there are, and their sum is
// complete.
func TestBounded(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	counter, err := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("").Int64Counter("items")
	require.NoError(t, err)
	l := New(counter)
	for i := range maxSeries + 500 {
		from := NewSender(fmt.Sprint(i), sentry.ClientSDK{Name: "sentry.go", Version: "0.27.0"})
		l.Count(t.Context(), from, sentry.ItemEvent, pipeline.Accepted, "")
	}
	var all metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &all))
	points := all.ScopeMetrics[0].Metrics[0].Data.(metricdata.Sum[int64]).DataPoints
	assert.Len(t, points, maxSeries+1)
	others := 0
	for _, point := range points {
		if project, _ := point.Attributes.Value("project"); project.AsString() == other {
			others++
			assert.Equal(t, int64(500), point.Value)
		}
	}
	assert.Equal(t, 1, others)
}
