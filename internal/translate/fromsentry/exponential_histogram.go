// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pmetric"
)

// Bucket i of an exponential histogram contains the values in (base^i, base^(i+1)] with
// base = 2^(2^-scale). A bucket is open below, and each scale step halves its width in the
// logarithm.
// https://opentelemetry.io/docs/specs/otel/metrics/data-model/#exponentialhistogram

// The defaults of OpenTelemetry's SDKs. At scale -4, 160 buckets cover the range of a double,
// 2^-1074 to 2^1024: every set of values fits.
const (
	maxHistogramScale   = 20
	maxHistogramBuckets = 160
)

// fillHistogram sets a histogram of finite values, at least one, with the finest scale at which
// both signs fit into maxHistogramBuckets.
func fillHistogram(point pmetric.ExponentialHistogramDataPoint, values []float64) {
	var positive, negative []int // bucket of each value at maxHistogramScale
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
	if len(negative) == 0 { // OTLP: no sum with negative values, because it would not be monotonic
		point.SetSum(sum)
	}
	shift := max(shiftToFit(positive), shiftToFit(negative))
	point.SetScale(maxHistogramScale - int32(shift))
	fillBuckets(point.Positive(), positive, shift)
	fillBuckets(point.Negative(), negative, shift)
}

// bucketIndex returns the bucket of a positive value at maxHistogramScale: ceil(log2(v) *
// 2^maxHistogramScale) - 1. It separates the exponent and uses the logarithm of 1+x, so that powers
// of two are exactly on their boundary and the next double is above it.
func bucketIndex(v float64) int {
	fraction, exponent := math.Frexp(v) // v = fraction * 2^exponent with fraction in [1/2, 1)
	above := math.Log1p(2*fraction-1) / math.Ln2
	return (exponent-1)<<maxHistogramScale + int(math.Ceil(math.Ldexp(above, maxHistogramScale))) - 1
}

// shiftToFit returns the number of scale steps until the buckets fit. Each step merges buckets 2i
// and 2i+1.
func shiftToFit(indices []int) (shift int) {
	if len(indices) == 0 {
		return 0
	}
	low, high := indexRange(indices)
	for high>>shift-low>>shift >= maxHistogramBuckets {
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
