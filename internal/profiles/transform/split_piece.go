// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"cmp"
	"math"
	"slices"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
)

// piece is some of the observations of a profile.
type piece []portion

// portion is some of the observations of a sample, in the order of time.
type portion struct {
	sample int
	times  []uint64
	values []int64
}

// pieceOf is the whole of a profile.
func pieceOf(profile pprofile.Profile) piece {
	p := make(piece, 0, profile.Samples().Len())
	for i, s := range profile.Samples().All() {
		portion := portion{i, s.TimestampsUnixNano().AsRaw(), s.Values().AsRaw()}
		portion.sort()
		p = append(p, portion)
	}
	return p
}

func (p portion) sort() {
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

// span is the time of the first and the last observation; timed is false where none has a time.
func (p piece) span() (first, last uint64, timed bool) {
	first = math.MaxUint64
	for _, portion := range p {
		if n := len(portion.times); n > 0 {
			first, last, timed = min(first, portion.times[0]), max(last, portion.times[n-1]), true
		}
	}
	return first, last, timed
}

// lasting is how long observations last in total: the last one for one interval, the range being half open.
func lasting(first, last, interval uint64) uint64 {
	if gap := last - first; gap < math.MaxUint64-interval {
		return gap + interval
	}
	return math.MaxUint64
}

// interval is how long an observation lasts, at least 1 ns.
func interval(p pprofile.Profiles, profile pprofile.Profile) uint64 {
	_, unit, _ := dictionary.NewView(p.Dictionary()).ValueType(profile.PeriodType())
	if unit == "nanoseconds" && profile.Period() > 0 {
		return uint64(profile.Period())
	}
	return 1
}

// cut halves a piece: in time where it has any, between samples else, inside the last sample else. The second half is empty
// where there is nothing to cut.
func (p piece) cut() (piece, piece) {
	first, last, timed := p.span()
	switch {
	case timed && first < last:
		return p.cutAt(first + (last-first)/2 + 1)
	case len(p) > 1:
		return p[:len(p)/2], p[len(p)/2:]
	case len(p) == 1 && len(p[0].times) > 1:
		head, tail := p[0].cutAfter(len(p[0].times) / 2)
		return piece{head}, piece{tail}
	default:
		return p, nil
	}
}

// cutAt parts the observations before an instant from the others. Samples without times stay with the first.
func (p piece) cutAt(instant uint64) (before, after piece) {
	for _, portion := range p {
		n, _ := slices.BinarySearch(portion.times, instant)
		head, tail := portion.cutAfter(n)
		if len(head.times) > 0 || len(portion.times) == 0 {
			before = append(before, head)
		}
		if len(tail.times) > 0 {
			after = append(after, tail)
		}
	}
	return before, after
}

func (p portion) cutAfter(n int) (head, tail portion) {
	head, tail = p, p
	head.times, tail.times = p.times[:n], p.times[n:]
	if len(p.times) > 0 && len(p.values) > 0 {
		head.values, tail.values = p.values[:n], p.values[n:]
	}
	return head, tail
}

// join makes one piece of several, the last of which comes first in time.
func join(pieces []piece) (joined piece) {
	at := map[int]int{} // sample → its portion
	for _, p := range slices.Backward(pieces) {
		for _, portion := range p {
			i, known := at[portion.sample]
			if !known {
				at[portion.sample] = len(joined)
				portion.times, portion.values = slices.Clone(portion.times), slices.Clone(portion.values)
				joined = append(joined, portion)
				continue
			}
			joined[i].times = append(joined[i].times, portion.times...)
			joined[i].values = append(joined[i].values, portion.values...)
		}
	}
	return joined
}
