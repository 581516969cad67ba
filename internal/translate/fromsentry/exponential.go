// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pmetric"
)

// Exponential histograms: bucket i holds the values in (base^i, base^(i+1)] with base = 2^(2^-scale), so that a bucket is an
// interval open below, and every second scale halves its width in the logarithm.
// https://opentelemetry.io/docs/specs/otel/metrics/data-model/#exponentialhistogram
const (
	// maxScale and maxBuckets are what OpenTelemetry's SDKs begin with. 160 buckets over the whole range of a double, 2^-1074
	// to 2^1024, still leave scale -4: no set of values does not fit.
	maxScale   = 20
	maxBuckets = 160
)

// fillExponential puts at least one finite value into a histogram, at the finest scale that holds both signs in maxBuckets.
func fillExponential(point pmetric.ExponentialHistogramDataPoint, values []float64) {
	var positive, negative []int // bucket of each value at maxScale
	least, most, sum := values[0], values[0], 0.0
	for _, v := range values {
		least, most, sum = min(least, v), max(most, v), sum+v
		switch {
		case v > 0:
			positive = append(positive, bucketIndex(v))
		case v < 0:
			negative = append(negative, bucketIndex(-v))
		}
	}
	point.SetCount(uint64(len(values)))
	point.SetZeroCount(uint64(len(values) - len(positive) - len(negative)))
	point.SetMin(least)
	point.SetMax(most)
	if len(negative) == 0 { // OTLP: no sum where there are negative values, it would not be monotonic
		point.SetSum(sum)
	}
	shift := max(shiftToFit(positive), shiftToFit(negative))
	point.SetScale(maxScale - int32(shift))
	fillBuckets(point.Positive(), positive, shift)
	fillBuckets(point.Negative(), negative, shift)
}

// bucketIndex is the bucket of a positive value at maxScale: ceil(log2(v) * 2^maxScale) - 1. The whole power of two is taken
// off first, and the logarithm is that of 1+x, so that powers of two fall exactly on their boundary, and the next double
// falls beyond.
func bucketIndex(v float64) int {
	fraction, exponent := math.Frexp(v) // v = fraction * 2^exponent with fraction in [1/2, 1)
	above := math.Log1p(2*fraction-1) / math.Ln2
	return (exponent-1)<<maxScale + int(math.Ceil(math.Ldexp(above, maxScale))) - 1
}

// shiftToFit is by how many scales the buckets must become coarser. One scale less puts buckets 2i and 2i+1 into one.
func shiftToFit(indices []int) (shift int) {
	if len(indices) == 0 {
		return 0
	}
	low, high := indexRange(indices)
	for high>>shift-low>>shift >= maxBuckets {
		shift++
	}
	return shift
}

func fillBuckets(buckets pmetric.ExponentialHistogramDataPointBuckets, indices []int, shift int) {
	if len(indices) == 0 {
		return
	}
	low, high := indexRange(indices)
	counts := make([]uint64, high>>shift-low>>shift+1)
	for _, i := range indices {
		counts[i>>shift-low>>shift]++
	}
	buckets.SetOffset(int32(low >> shift))
	buckets.BucketCounts().FromRaw(counts)
}

func indexRange(indices []int) (low, high int) {
	low, high = indices[0], indices[0]
	for _, i := range indices {
		low, high = min(low, i), max(high, i)
	}
	return low, high
}
