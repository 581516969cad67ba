// SPDX-License-Identifier: Apache-2.0

// Package allowance bounds output by input. A message can refer to a part of itself any number of
// times: to a resource from each span, to a name from each frame, to a range of a list from each
// stack. If each use were written or read in full, a megabyte could become gigabytes.
package allowance

// Allowance is the amount, in bytes or steps, that may still be used for parts that are used
// repeatedly.
//
// Invariant: the sum of all amounts for which Spend has reported true is at most the amount that
// the allowance had when it was made. A refusal uses nothing, so that a smaller part can still fit.
type Allowance struct {
	left  int
	times int
	size  func() int // nil = already in left
}

// Of returns an allowance of n.
func Of(n int) Allowance { return Allowance{left: n} }

// Lazily returns an allowance of n plus a multiple of a size, which is slow to compute: it is
// computed when n is used up, which is rare.
func Lazily(n, times int, size func() int) Allowance { return Allowance{n, times, size} }

// Spend uses n. It reports false, and uses nothing, if less is left.
func (a *Allowance) Spend(n int) bool {
	if n > a.left && n > a.Left() {
		return false
	}
	a.left -= n
	return true
}

// Demand is Spend for output that is useless in part: it returns the error if less is left.
func (a *Allowance) Demand(n int, otherwise error) error {
	if !a.Spend(n) {
		return otherwise
	}
	return nil
}

// Left returns the amount that is left.
func (a *Allowance) Left() int {
	if a.size != nil {
		a.left += a.times * a.size()
		a.size = nil
	}
	return a.left
}
