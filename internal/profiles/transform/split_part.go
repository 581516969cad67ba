// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"cmp"
	"math"
	"slices"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// part is a subset of the observations of a profile.
type part []samplePart

// samplePart is a subset of the observations of a sample, in chronological order.
type samplePart struct {
	sample int
	times  []uint64
	values []int64
}

// wholeOf returns all observations of a profile.
func wholeOf(profile pprofile.Profile) part {
	whole := make(part, 0, profile.Samples().Len())
	for i, s := range profile.Samples().All() {
		sp := samplePart{i, s.TimestampsUnixNano().AsRaw(), s.Values().AsRaw()}
		sp.sort()
		whole = append(whole, sp)
	}
	return whole
}

func (p samplePart) sort() {
	if slices.IsSorted(p.times) {
		return
	}
	order := make([]int, len(p.times))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.times[a], p.times[b]) })
	times, values := slices.Clone(p.times), slices.Clone(p.values)
	for to, from := range order {
		p.times[to] = times[from]
		if len(values) > 0 {
			p.values[to] = values[from]
		}
	}
}

// timeRange returns the times of the first and the last observation. timed is false if no
// observation has a time.
func (p part) timeRange() (first, last uint64, timed bool) {
	first = math.MaxUint64
	for _, sp := range p {
		if n := len(sp.times); n > 0 {
			first, last, timed = min(first, sp.times[0]), max(last, sp.times[n-1]), true
		}
	}
	return first, last, timed
}

// duration returns the duration of a half-open range of observations: the last one lasts one
// interval.
func duration(first, last, interval uint64) uint64 {
	if gap := last - first; gap < math.MaxUint64-interval {
		return gap + interval
	}
	return math.MaxUint64
}

// interval returns how long an observation lasts, at least 1 ns.
func interval(p pprofile.Profiles, profile pprofile.Profile) uint64 {
	_, unit, _ := dictionary.NewView(p.Dictionary()).ValueType(profile.PeriodType())
	if unit == "nanoseconds" && profile.Period() > 0 {
		return uint64(profile.Period())
	}
	return 1
}

// halves splits a part: by time if it spans any, else between samples, else inside the only sample.
// The second half is empty if the part cannot be split.
func (p part) halves() (part, part) {
	first, last, timed := p.timeRange()
	switch {
	case timed && first < last:
		return p.splitAt(first + (last-first)/2 + 1)
	case len(p) > 1:
		return p[:len(p)/2], p[len(p)/2:]
	case len(p) == 1 && len(p[0].times) > 1:
		head, tail := p[0].splitAfter(len(p[0].times) / 2)
		return part{head}, part{tail}
	default:
		return p, nil
	}
}

// splitAt splits the observations at an instant. Samples without times stay with the first half.
func (p part) splitAt(instant uint64) (before, after part) {
	for _, sp := range p {
		n, _ := slices.BinarySearch(sp.times, instant)
		head, tail := sp.splitAfter(n)
		if len(head.times) > 0 || len(sp.times) == 0 {
			before = append(before, head)
		}
		if len(tail.times) > 0 {
			after = append(after, tail)
		}
	}
	return before, after
}

func (p samplePart) splitAfter(n int) (head, tail samplePart) {
	head, tail = p, p
	head.times, tail.times = p.times[:n], p.times[n:]
	if len(p.times) > 0 && len(p.values) > 0 {
		head.values, tail.values = p.values[:n], p.values[n:]
	}
	return head, tail
}

// join merges parts that are in reverse chronological order.
func join(parts []part) (joined part) {
	positions := map[int]int{} // sample → its part
	for _, p := range slices.Backward(parts) {
		for _, sp := range p {
			i, known := positions[sp.sample]
			if !known {
				positions[sp.sample] = len(joined)
				sp.times, sp.values = slices.Clone(sp.times), slices.Clone(sp.values)
				joined = append(joined, sp)
				continue
			}
			joined[i].times = append(joined[i].times, sp.times...)
			joined[i].values = append(joined[i].values, sp.values...)
		}
	}
	return joined
}
