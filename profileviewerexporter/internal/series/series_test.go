// SPDX-License-Identifier: Apache-2.0

package series

import (
	"math"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/listing"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

func list(t *testing.T, metrics pmetric.Metrics, query string) ListAnswer {
	s := store.New(1<<30, time.Hour)
	_, err := s.AddMetrics(t.Context(), metrics, time.Now())
	require.NoError(t, err)
	values, err := url.ParseQuery(query)
	require.NoError(t, err)
	q, err := listing.Parse(values, Columns...)
	require.NoError(t, err)
	out, err := List(s.Messages(), q)
	require.NoError(t, err)
	_, err = answer.JSON(out)
	require.NoError(t, err)
	return out
}

func message(service string) (pmetric.Metrics, pmetric.MetricSlice) {
	metrics := pmetric.NewMetrics()
	resource := metrics.ResourceMetrics().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", service)
	return metrics, resource.ScopeMetrics().AppendEmpty().Metrics()
}

// TestSeries: the values of a chart add up to the points of a sum, and lie between the lowest and
// the highest of others.
func TestSeries(t *testing.T) {
	metrics, all := message("shop")
	orders := all.AppendEmpty()
	orders.SetName("orders")
	orders.SetEmptySum().SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	memory := all.AppendEmpty()
	memory.SetName("memory")
	memory.SetUnit("By")
	memory.SetEmptyGauge()
	latency := all.AppendEmpty()
	latency.SetName("latency")
	latency.SetEmptyHistogram()
	for i := range 500 {
		p := orders.Sum().DataPoints().AppendEmpty()
		p.SetIntValue(int64(i % 3))
		p.SetTimestamp(pcommon.Timestamp(1000 + i))
		p.Attributes().PutStr("region", []string{"eu", "us"}[i%2])
		g := memory.Gauge().DataPoints().AppendEmpty()
		g.SetDoubleValue(math.Sin(float64(i)))
		g.SetTimestamp(pcommon.Timestamp(1000 + i))
		g.Attributes().PutStr("sentry.chunk_id", string(rune('a'+i%26)))
	}
	h := latency.Histogram().DataPoints().AppendEmpty()
	h.SetCount(4)
	h.SetSum(10)
	h.SetTimestamp(1200)
	bad := memory.Gauge().DataPoints().AppendEmpty()
	bad.SetDoubleValue(math.NaN())

	out := list(t, metrics, "")
	require.Len(t, out.Series, 4, "measurements of many profiles are one series")
	assert.Equal(t, 1, out.Unread)
	assert.Equal(t, []string{"1000", "1499"}, []string{out.First, out.Last})
	names := []string{}
	for _, s := range out.Series {
		names = append(names, s.Name+" "+s.Kind)
		sum := 0.0
		for _, v := range s.Values {
			if v == nil {
				continue
			}
			sum += *v
			if s.Kind != "sum" {
				assert.GreaterOrEqual(t, *v, s.Low)
				assert.LessOrEqual(t, *v, s.High)
			}
		}
		if s.Kind == "sum" {
			assert.Equal(t, s.Sum, sum)
		}
	}
	assert.Equal(t, []string{"latency distribution", "memory gauge", "orders sum", "orders sum"}, names)
	assert.InDelta(t, 2.5, out.Series[0].Latest, 0)
	assert.Equal(t, 500, out.Series[1].Points)
	assert.Equal(t, 1, list(t, metrics, "q=REGION%3Deu").Count)
	assert.Zero(t, list(t, metrics, "service=cart").Count)
}

// TestSeriesAreBounded: senders may invent any number of series, and sums that overflow.
func TestSeriesAreBounded(t *testing.T) {
	metrics, all := message("shop")
	sum := all.AppendEmpty()
	sum.SetName("many")
	sum.SetEmptySum().SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	for i := range maxSeries + 10 {
		p := sum.Sum().DataPoints().AppendEmpty()
		p.SetDoubleValue(math.MaxFloat64)
		p.Attributes().PutInt("id", int64(i))
	}
	p := sum.Sum().DataPoints().AppendEmpty()
	p.SetDoubleValue(math.MaxFloat64)
	p.Attributes().PutInt("id", 0)
	out := list(t, metrics, "sort=-points")
	assert.Equal(t, maxSeries, out.Count)
	assert.Equal(t, 10, out.Unread)
	assert.Len(t, out.Series, listing.PageSize)
	assert.InDelta(t, math.MaxFloat64, out.Series[0].Sum, 0)
}
