// SPDX-License-Identifier: Apache-2.0

// Package histogramtest checks exponential histograms.
package histogramtest

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// maxBuckets is the default of OpenTelemetry's SDKs.
const maxBuckets = 160

// boundary returns base^i at a scale, with more digits than a double has: it computes roots of two
// by repeated square roots.
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

// Check compares a histogram with the definition: each value is in the bucket with the boundaries
// around it, for each sign.
func Check(t testing.TB, point pmetric.ExponentialHistogramDataPoint, values []float64) {
	t.Helper()
	CheckCounts(t, point)
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

// CheckCounts checks a histogram of unknown values: the size and the sum of its buckets.
func CheckCounts(t testing.TB, point pmetric.ExponentialHistogramDataPoint) {
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
