// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// splitter splits each sample into one sample per link of its observations. It first collects the
// links of all samples of a profile, to know the resulting number of samples.
type splitter struct {
	samples   []linkedSample
	parts     []part     // sample by sample
	sequences []sequence // the same

	firstPart int32   // first part of the current sample
	partOf    []int32 // by link: the last part with this link
	times     []uint64
	values    []int64
}

// linkedSample is a sample with known links.
type linkedSample struct {
	position         int32
	parts, sequences int32 // positions of the first part and the first sequence
}

// part is the set of observations of a sample that have the same link.
type part struct {
	link       dictionary.LinkIndex
	count, end int32 // its observations are at [end-count:end] in times and values
}

// sequence is a run of consecutive observations with the same link.
type sequence struct{ part, count int32 }

func (s *splitter) reset() {
	s.samples, s.parts, s.sequences = s.samples[:0], s.parts[:0], s.sequences[:0]
}

// beginSample starts the next sample.
func (s *splitter) beginSample(position int32) {
	s.firstPart = int32(len(s.parts))
	s.samples = append(s.samples, linkedSample{position, s.firstPart, int32(len(s.sequences))})
}

// add adds the link of the next observations of the current sample.
func (s *splitter) add(link dictionary.LinkIndex, count int32) {
	if int(link) >= len(s.partOf) {
		s.partOf = append(s.partOf, make([]int32, int(link)+1-len(s.partOf))...)
	}
	at := s.partOf[link]
	if at < s.firstPart || int(at) >= len(s.parts) || s.parts[at].link != link {
		at = int32(len(s.parts))
		s.parts = append(s.parts, part{link: link})
		s.partOf[link] = at
	}
	s.parts[at].count += count
	s.sequences = append(s.sequences, sequence{at, count})
}

// apply sets the links of the samples and adds samples for further links. It reports whether it
// changed the profile.
func (s *splitter) apply(samples pprofile.SampleSlice) (changed bool) {
	samples.EnsureCapacity(samples.Len() + len(s.parts) - len(s.samples))
	end := linkedSample{parts: int32(len(s.parts)), sequences: int32(len(s.sequences))}
	for i, linked := range s.samples {
		next := end
		if i+1 < len(s.samples) {
			next = s.samples[i+1]
		}
		sample, parts := samples.At(int(linked.position)), s.parts[linked.parts:next.parts]
		if len(parts) == 1 {
			link := int32(parts[0].link)
			changed = changed || sample.LinkIndex() != link
			sample.SetLinkIndex(link)
			continue
		}
		changed = true
		s.arrange(sample, parts, s.sequences[linked.sequences:next.sequences])
		s.split(sample, parts, samples)
	}
	return changed
}

// arrange groups the observations of a sample by part.
func (s *splitter) arrange(sample pprofile.Sample, parts []part, sequences []sequence) {
	count := int32(0)
	for i := range parts {
		parts[i].end = count
		count += parts[i].count
	}
	times, values := sample.TimestampsUnixNano(), sample.Values()
	s.times = slices.Grow(s.times[:0], int(count))[:count]
	s.values = s.values[:0]
	if values.Len() == int(count) {
		s.values = slices.Grow(s.values, int(count))[:count]
	}
	i := 0
	for _, sequence := range sequences {
		p := &s.parts[sequence.part]
		for range sequence.count {
			s.times[p.end] = times.At(i)
			if len(s.values) > 0 {
				s.values[p.end] = values.At(i)
			}
			p.end++
			i++
		}
	}
}

// split creates a sample for each part. The first part stays in place.
func (s *splitter) split(sample pprofile.Sample, parts []part, samples pprofile.SampleSlice) {
	out := sample
	for i, p := range parts {
		if i > 0 {
			out = samples.AppendEmpty()
			out.SetStackIndex(sample.StackIndex())
			sample.AttributeIndices().CopyTo(out.AttributeIndices())
		}
		out.SetLinkIndex(int32(p.link))
		out.TimestampsUnixNano().FromRaw(s.times[p.end-p.count : p.end])
		if len(s.values) > 0 {
			out.Values().FromRaw(s.values[p.end-p.count : p.end])
		}
	}
}
