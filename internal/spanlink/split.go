package spanlink

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/dictionary"
)

// splitter makes of a sample one for each link of its observations.
type splitter struct {
	links []dictionary.LinkIndex // by observation

	groups  []group
	groupOf []int32 // by link, plus one
	times   []uint64
	values  []int64
}

// group is the observations with one link.
type group struct {
	link       dictionary.LinkIndex
	count, end int // they are at [end-count:end] of times and values
}

// apply sets the link of a sample, and adds samples for other links. It says whether that changes anything.
func (s *splitter) apply(samples pprofile.SampleSlice, sample pprofile.Sample) bool {
	if s.group(); len(s.groups) == 1 {
		link := int32(s.groups[0].link)
		changed := sample.LinkIndex() != link
		sample.SetLinkIndex(link)
		return changed
	}
	s.layOut(sample)
	for i := range s.groups {
		part := sample // the first group stays where it was
		if i > 0 {
			part = samples.AppendEmpty()
			part.SetStackIndex(sample.StackIndex())
			sample.AttributeIndices().CopyTo(part.AttributeIndices())
		}
		s.fill(part, s.groups[i])
	}
	return true
}

// group finds the links that there are, in the order of their first observations.
func (s *splitter) group() {
	s.groups = s.groups[:0]
	for _, link := range s.links {
		for int(link) >= len(s.groupOf) {
			s.groupOf = append(s.groupOf, 0)
		}
		of := &s.groupOf[link]
		if *of == 0 {
			s.groups = append(s.groups, group{link: link})
			*of = int32(len(s.groups))
		}
		s.groups[*of-1].count++
	}
	if len(s.groups) == 1 {
		s.groupOf[s.groups[0].link] = 0
	}
}

// layOut puts the observations of each group side by side.
func (s *splitter) layOut(sample pprofile.Sample) {
	end := 0
	for i := range s.groups {
		s.groups[i].end = end
		end += s.groups[i].count
	}
	times, values := sample.TimestampsUnixNano(), sample.Values()
	s.times = slices.Grow(s.times[:0], end)[:end]
	s.values = s.values[:0]
	if values.Len() == end {
		s.values = slices.Grow(s.values, end)[:end]
	}
	for i, link := range s.links {
		g := &s.groups[s.groupOf[link]-1]
		s.times[g.end] = times.At(i)
		if len(s.values) > 0 {
			s.values[g.end] = values.At(i)
		}
		g.end++
	}
	for i := range s.groups {
		s.groupOf[s.groups[i].link] = 0
	}
}

func (s *splitter) fill(part pprofile.Sample, g group) {
	part.SetLinkIndex(int32(g.link))
	part.TimestampsUnixNano().FromRaw(s.times[g.end-g.count : g.end])
	if len(s.values) > 0 {
		part.Values().FromRaw(s.values[g.end-g.count : g.end])
	}
}
