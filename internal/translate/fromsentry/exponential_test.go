// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// boundary is base^i at a scale, by definition, in more digits than a double has: roots of two by repeated square roots.
func boundary(scale, i int) *big.Float {
	const digits = 300
	power := new(big.Float).SetPrec(digits).SetInt64(1)
	if scale <= 0 {
		return power.SetMantExp(power, i<<-scale)
	}
	root := new(big.Float).SetPrec(digits).SetInt64(2)
	whole, rest := i>>scale, i&(1<<scale-1)
	for bit := scale - 1; bit >= 0; bit-- {
		root.Sqrt(root)
		if rest>>bit&1 == 1 {
			power.Mul(power, root)
		}
	}
	return power.SetMantExp(power, whole)
}

func histogramOf(values ...float64) pmetric.ExponentialHistogramDataPoint {
	point := pmetric.NewExponentialHistogramDataPoint()
	fillExponential(point, values)
	return point
}

// checkHistogram holds a histogram against the definition: every value in the bucket that its boundaries say, for each sign.
func checkHistogram(t *testing.T, point pmetric.ExponentialHistogramDataPoint, values []float64) {
	t.Helper()
	requireCounts(t, point)
	zeros := uint64(0)
	want := map[bool]map[int]uint64{true: {}, false: {}}
	for _, v := range values {
		if v == 0 {
			zeros++
			continue
		}
		buckets := point.Positive()
		if v < 0 {
			buckets = point.Negative()
		}
		exact, found := big.NewFloat(math.Abs(v)), false
		low, high := 0, buckets.BucketCounts().Len() // the first bucket whose upper boundary is not below v
		for low < high {
			middle := (low + high) / 2
			if boundary(int(point.Scale()), int(buckets.Offset())+middle+1).Cmp(exact) >= 0 {
				high, found = middle, true
			} else {
				low = middle + 1
			}
		}
		require.True(t, found, "%v is above all buckets", v)
		require.Positive(t, exact.Cmp(boundary(int(point.Scale()), int(buckets.Offset())+low)), "%v is below all buckets", v)
		want[v > 0][low]++
	}
	require.Equal(t, zeros, point.ZeroCount())
	require.Equal(t, uint64(len(values)), point.Count())
	for positive, buckets := range map[bool]pmetric.ExponentialHistogramDataPointBuckets{true: point.Positive(), false: point.Negative()} {
		for i, count := range buckets.BucketCounts().All() {
			require.Equal(t, want[positive][i], count, "bucket %d of %v, scale %d", i, values, point.Scale())
		}
	}
}

// requireCounts is what every histogram must satisfy.
func requireCounts(t *testing.T, point pmetric.ExponentialHistogramDataPoint) {
	t.Helper()
	total := point.ZeroCount()
	for _, buckets := range []pmetric.ExponentialHistogramDataPointBuckets{point.Positive(), point.Negative()} {
		require.LessOrEqual(t, buckets.BucketCounts().Len(), maxBuckets)
		for _, count := range buckets.BucketCounts().All() {
			total += count
		}
	}
	require.Equal(t, point.Count(), total, "count is not the sum of the buckets")
}

func TestExponential(t *testing.T) {
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
		checkHistogram(t, point, test.values)
	}
}

func TestExponentialMixedSigns(t *testing.T) {
	values := []float64{-3, -0.001, 0, 5e9, 17, math.Copysign(0, -1)}
	point := histogramOf(values...)
	checkHistogram(t, point, values)
	require.Equal(t, uint64(2), point.ZeroCount())
	require.False(t, point.HasSum(), "negative values: a sum would go down")
	require.Equal(t, []float64{-3, 5e9}, []float64{point.Min(), point.Max()})
	require.InDelta(t, 6.5, histogramOf(1, 2, 3.5).Sum(), 0)
}

// Random values of all ranges, at all scales, fall where the definition says.
func TestExponentialRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, spread := range []float64{1e-7, 1e-3, 0.1, 1, 10, 200, 1000} {
		values := make([]float64, 200)
		for i := range values {
			values[i] = math.Exp2((random.Float64()*2-1)*spread + 3)
		}
		checkHistogram(t, histogramOf(values...), values)
	}
}
