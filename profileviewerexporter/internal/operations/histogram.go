// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"maps"
	"math"
	"slices"
)

const (
	// precision is the maximum relative error of a percentile. (DDSketch: A Fast and
	// Fully-Mergeable Quantile Sketch with Relative-Error Guarantees,
	// https://arxiv.org/abs/1908.10693.)
	precision = 0.005
	growth    = (1 + precision) / (1 - precision)
)

// histogram counts durations in buckets with exponential bounds. Durations between a microsecond
// and a minute have 1,800 buckets.
type histogram map[int16]int

var logGrowth = math.Log(growth)

func (h histogram) add(duration uint64, count int) {
	bucket := bucketOf(duration)
	if h[bucket] += count; h[bucket] == 0 {
		delete(h, bucket)
	}
}

// bucketOf returns the bucket with the durations up to growth^bucket. Zero has its own.
func bucketOf(duration uint64) int16 {
	if duration == 0 {
		return -1
	}
	return int16(math.Ceil(math.Log(float64(duration)) / logGrowth))
}

func durationOf(bucket int16) uint64 {
	if bucket < 0 {
		return 0
	}
	return uint64(math.Round(2 * math.Pow(growth, float64(bucket)) / (growth + 1)))
}

func (h histogram) plus(other histogram) {
	for bucket, count := range other {
		h[bucket] += count
	}
}

// percentiles returns the durations below which the given shares of all durations are, in ascending
// order of the shares.
func (h histogram) percentiles(shares ...float64) []uint64 {
	all := 0
	for _, count := range h {
		all += count
	}
	out, passed := make([]uint64, 0, len(shares)), 0
	for _, bucket := range slices.Sorted(maps.Keys(h)) {
		passed += h[bucket]
		for len(out) < len(shares) && passed >= rank(shares[len(out)], all) {
			out = append(out, durationOf(bucket))
		}
	}
	return append(out, make([]uint64, len(shares)-len(out))...)
}

// rank returns the position of a percentile in a sorted list, from 1.
func rank(share float64, all int) int { return max(1, int(math.Ceil(share*float64(all)))) }
