// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
)

// splitter makes of a sample one for each link of its observations. It is told the links of all samples of a profile first, so
// that it knows how many samples there will be.
type splitter struct {
	samples   []linkedSample
	groups    []group   // of the samples, one after another
	stretches []stretch // likewise

	first   int32   // group of the sample that links are added to
	groupOf []int32 // by link: the group that had it last
	times   []uint64
	values  []int64
}

// linkedSample is a sample whose links are known.
type linkedSample struct {
	position          int32
	groups, stretches int32 // where its first ones are
}

// group is the observations of a sample with one link.
type group struct {
	link       dictionary.LinkIndex
	count, end int32 // they are at [end-count:end] of times and values
}

// stretch is observations one after another with one link.
type stretch struct{ group, count int32 }

func (s *splitter) begin() {
	s.samples, s.groups, s.stretches = s.samples[:0], s.groups[:0], s.stretches[:0]
}

// sample says of which sample the links are that are added next.
func (s *splitter) sample(position int32) {
	s.first = int32(len(s.groups))
	s.samples = append(s.samples, linkedSample{position, s.first, int32(len(s.stretches))})
}

// add adds the link of the next observations.
func (s *splitter) add(link dictionary.LinkIndex, count int32) {
	if int(link) >= len(s.groupOf) {
		s.groupOf = append(s.groupOf, make([]int32, int(link)+1-len(s.groupOf))...)
	}
	at := s.groupOf[link]
	if at < s.first || int(at) >= len(s.groups) || s.groups[at].link != link {
		at = int32(len(s.groups))
		s.groups = append(s.groups, group{link: link})
		s.groupOf[link] = at
	}
	s.groups[at].count += count
	s.stretches = append(s.stretches, stretch{at, count})
}

// apply sets the links of the samples, and adds samples for further links. It says whether that changes anything.
func (s *splitter) apply(samples pprofile.SampleSlice) (changed bool) {
	samples.EnsureCapacity(samples.Len() + len(s.groups) - len(s.samples))
	end := linkedSample{groups: int32(len(s.groups)), stretches: int32(len(s.stretches))}
	for i, of := range s.samples {
		next := end
		if i+1 < len(s.samples) {
			next = s.samples[i+1]
		}
		sample, groups := samples.At(int(of.position)), s.groups[of.groups:next.groups]
		if len(groups) == 1 {
			link := int32(groups[0].link)
			changed = changed || sample.LinkIndex() != link
			sample.SetLinkIndex(link)
			continue
		}
		changed = true
		s.layOut(sample, groups, s.stretches[of.stretches:next.stretches])
		s.divide(sample, groups, samples)
	}
	return changed
}

// layOut puts the observations of each group side by side.
func (s *splitter) layOut(sample pprofile.Sample, groups []group, stretches []stretch) {
	count := int32(0)
	for i := range groups {
		groups[i].end = count
		count += groups[i].count
	}
	times, values := sample.TimestampsUnixNano(), sample.Values()
	s.times = slices.Grow(s.times[:0], int(count))[:count]
	s.values = s.values[:0]
	if values.Len() == int(count) {
		s.values = slices.Grow(s.values, int(count))[:count]
	}
	i := 0
	for _, stretch := range stretches {
		g := &s.groups[stretch.group]
		for range stretch.count {
			s.times[g.end] = times.At(i)
			if len(s.values) > 0 {
				s.values[g.end] = values.At(i)
			}
			g.end++
			i++
		}
	}
}

// divide makes a sample of each group. The first stays where it was.
func (s *splitter) divide(sample pprofile.Sample, groups []group, samples pprofile.SampleSlice) {
	part := sample
	for i, g := range groups {
		if i > 0 {
			part = samples.AppendEmpty()
			part.SetStackIndex(sample.StackIndex())
			sample.AttributeIndices().CopyTo(part.AttributeIndices())
		}
		part.SetLinkIndex(int32(g.link))
		part.TimestampsUnixNano().FromRaw(s.times[g.end-g.count : g.end])
		if len(s.values) > 0 {
			part.Values().FromRaw(s.values[g.end-g.count : g.end])
		}
	}
}
