// SPDX-License-Identifier: Apache-2.0

package flame

import "math"

// chance tests whether two graphs differ by chance. A profiler samples at arbitrary moments: a
// function that takes 1% of the time has 10 of 1,000 samples in one recording, and 16 in the next.
//
// The rule is Fisher's exact test: if a function has the same share in both programs, its samples
// are distributed over the graphs like a random selection of all samples. Chance explains a
// difference unless a selection that is as uneven has a probability below the level. For many
// samples, the normal approximation (the two-proportion z-test) gives the same result.
type chance struct {
	before, after float64 // samples of the graphs
	level         float64
}

// errorRate is the family-wise error rate: the probability that a comparison of two recordings
// without a difference shows one anywhere. It is divided by the number of boxes (Bonferroni),
// because a graph has thousands.
const errorRate = 0.05

func chanceOf(before, after int64, boxes int) chance {
	return chance{float64(before), float64(after), errorRate / float64(boxes)}
}

// approximate is the minimum variance for the normal approximation. It bounds the number of terms
// of the exact test to a few hundred. maxExact is the number of samples up to which the exact test
// is exact: pprof's values are counts that clients state, and floating-point numbers from 2^53 on
// are not integers, so that the terms would not decrease.
const (
	approximate = 1000
	maxExact    = 1 << 40
)

// explains reports whether chance explains the difference between numbers of samples in a function.
func (c chance) explains(before, after int64) bool {
	all, found := c.before+c.after, float64(before+after)
	if c.before <= 0 || c.after <= 0 || found <= 0 || found >= all {
		return true // there is nothing to compare, or the numbers are too large
	}
	expected := found * c.after / all
	variance := expected * c.before / all * (all - found) / (all - 1)
	if variance >= approximate || all > maxExact {
		return math.Erfc(math.Abs(float64(after)-expected)/math.Sqrt(2*variance)) >= c.level
	}
	larger, tail := float64(after), chance{c.before, c.after, 0}
	if larger < expected {
		larger, tail.before, tail.after = float64(before), c.after, c.before
	}
	return 2*tail.atLeast(larger, found) >= c.level
}

// atLeast returns the probability that a random selection of found samples has at least n of the
// second graph, if n is more than expected.
func (c chance) atLeast(n, found float64) (sum float64) {
	term := math.Exp(logChoices(c.after, n) + logChoices(c.before, found-n) - logChoices(c.before+c.after, found))
	for ; term > sum*1e-9; n++ {
		sum += term
		term *= (c.after - n) * (found - n) / ((n + 1) * (c.before - found + n + 1))
	}
	return sum
}

// logChoices returns the logarithm of the number of ways to select k of n.
func logChoices(n, k float64) float64 {
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return a - b - c
}
