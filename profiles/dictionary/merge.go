// SPDX-License-Identifier: Apache-2.0

package dictionary

import (
	"cmp"
	"math"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// merger merges samples with the same identity.
type merger struct {
	sets   map[string]int32   // sorted attribute indices → number of the set
	first  map[identity]int32 // → position among the samples
	target []int32            // sample → the sample that it is merged into, mostly itself

	set    []int32
	points []point
}

// identity identifies a sample. It includes the shape, because merged samples of different shapes
// would have no valid shape.
type identity struct {
	stack, link, set int32
	shape            Shape
}

// point is one observation of a sample.
type point struct {
	time  uint64
	value int64
}

func newMerger() *merger {
	return &merger{sets: map[string]int32{}, first: map[identity]int32{}}
}

func (m *merger) merge(samples pprofile.SampleSlice) {
	clear(m.first)
	m.target = m.target[:0]
	grown := map[int32]bool{}
	for i, s := range samples.All() {
		at := int32(i)
		if shape := ShapeOf(s); shape != ShapeNone {
			id := identity{s.StackIndex(), s.LinkIndex(), m.setOf(s.AttributeIndices()), shape}
			if first, known := m.first[id]; known {
				at = first
				grown[at] = true
				mergeInto(samples.At(int(at)), s, shape)
			} else {
				m.first[id] = at
			}
		}
		m.target = append(m.target, at)
	}
	if len(grown) == 0 {
		return
	}
	for i := range grown {
		m.sort(samples.At(int(i)))
	}
	i := int32(-1)
	samples.RemoveIf(func(pprofile.Sample) bool {
		i++
		return m.target[i] != i
	})
}

// setOf returns the number of a set of attributes. The table has no duplicates at this point, so
// equal sets have equal indices.
func (m *merger) setOf(list pcommon.Int32Slice) int32 {
	m.set = m.set[:0]
	for j := range list.Len() {
		m.set = append(m.set, list.At(j))
	}
	slices.Sort(m.set)
	key := indexBytes(m.set)
	number, known := m.sets[string(key)]
	if !known {
		number = int32(len(m.sets))
		m.sets[string(key)] = number
	}
	return number
}

func mergeInto(to, from pprofile.Sample, shape Shape) {
	if shape == ShapeTotal {
		to.Values().SetAt(0, AddSaturated(to.Values().At(0), from.Values().At(0)))
		return
	}
	from.Values().MoveAndAppendTo(to.Values())
	from.TimestampsUnixNano().MoveAndAppendTo(to.TimestampsUnixNano())
}

// sort sorts the observations of a sample by time, and by value at equal times, so that the result
// does not depend on the order of merging.
func (m *merger) sort(s pprofile.Sample) {
	times, values := s.TimestampsUnixNano(), s.Values()
	m.points = m.points[:0]
	for i := range times.Len() {
		p := point{time: times.At(i)}
		if values.Len() > 0 {
			p.value = values.At(i)
		}
		m.points = append(m.points, p)
	}
	slices.SortFunc(m.points, func(a, b point) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.value, b.value))
	})
	for i, p := range m.points {
		times.SetAt(i, p.time)
		if values.Len() > 0 {
			values.SetAt(i, p.value)
		}
	}
}

// AddSaturated adds values of samples. Sums beyond the range of int64 become its maximum or minimum
// instead of changing their sign. Valid data does not reach these limits.
func AddSaturated(a, b int64) int64 {
	switch sum := a + b; {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	default:
		return sum
	}
}
