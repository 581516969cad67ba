// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/histogramtest"
)

func histogramOf(values ...float64) pmetric.ExponentialHistogramDataPoint {
	point := pmetric.NewExponentialHistogramDataPoint()
	fillHistogram(point, values)
	return point
}

func TestFillHistogram(t *testing.T) {
	next := func(v float64) float64 { return math.Nextafter(v, math.Inf(1)) }
	before := func(v float64) float64 { return math.Nextafter(v, 0) }
	for _, test := range []struct {
		values []float64
		scale  int32
		offset int32
	}{
		{[]float64{1}, 20, -1}, // boundaries belong to the bucket below
		{[]float64{next(1)}, 20, 0},
		{[]float64{before(1)}, 20, -1},
		{[]float64{2}, 20, 1<<20 - 1},
		{[]float64{next(2)}, 20, 1 << 20},
		{[]float64{before(2)}, 20, 1<<20 - 1},
		{[]float64{4, 4, 4}, 20, 1<<21 - 1},
		{[]float64{1, 2}, 7, -1}, // 2^(1/128): 129 buckets
		{[]float64{1, 1024}, 3, -1},
		{[]float64{0, 0}, 20, 0},
		{[]float64{math.SmallestNonzeroFloat64, math.MaxFloat64}, -4, -68},
		{[]float64{math.SmallestNonzeroFloat64}, 20, -1074<<20 - 1},
		{[]float64{math.MaxFloat64}, 20, 1<<30 - 1},
	} {
		point := histogramOf(test.values...)
		require.Equal(t, test.scale, point.Scale(), "%v", test.values)
		require.Equal(t, test.offset, point.Positive().Offset(), "%v", test.values)
		histogramtest.Check(t, point, test.values)
	}
}

func TestFillHistogramMixedSigns(t *testing.T) {
	values := []float64{-3, -0.001, 0, 5e9, 17, math.Copysign(0, -1)}
	point := histogramOf(values...)
	histogramtest.Check(t, point, values)
	require.Equal(t, uint64(2), point.ZeroCount())
	require.False(t, point.HasSum(), "negative values: a sum would go down")
	require.Equal(t, []float64{-3, 5e9}, []float64{point.Min(), point.Max()})
	require.InDelta(t, 6.5, histogramOf(1, 2, 3.5).Sum(), 0)
}

// TestFillHistogramRandom: random values of all ranges, at all scales.
func TestFillHistogramRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, spread := range []float64{1e-7, 1e-3, 0.1, 1, 10, 200, 1000} {
		values := make([]float64, 200)
		for i := range values {
			values[i] = math.Exp2((random.Float64()*2-1)*spread + 3)
		}
		histogramtest.Check(t, histogramOf(values...), values)
	}
}
