// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// decider decides the links of the observations of samples, counts them, and passes them to the
// splitter.
type decider struct {
	options *Options
	tree    *spanTree
	view    dictionary.View
	links   *dictionary.Links
	linkOf  []dictionary.LinkIndex // by position in the tree; 0 if not yet known
	split   splitter
	stats   LinkStats
	linked  bool // a sample already had a link

	// The existing link of the current sample.
	existing      dictionary.LinkIndex // 0 for none
	existingTrace pcommon.TraceID
	existingSpan  pcommon.SpanID

	// The span that was last compared with the existing link.
	lastCompared     int32
	lastIsDescendant bool
}

func (d *decider) begin(tree *spanTree, o *Options, dict pprofile.ProfilesDictionary) {
	d.tree, d.options, d.stats, d.linked = tree, o, LinkStats{}, false
	d.view, d.links = dictionary.NewView(dict), dictionary.NewLinks(dict)
}

// release drops references to the message.
func (d *decider) release() {
	d.links.Release()
	d.options, d.view, d.links = nil, dictionary.View{}, nil
}

func (d *decider) memory() int {
	return bytesOf(d.linkOf) + bytesOf(d.split.samples) + bytesOf(d.split.parts) + bytesOf(d.split.sequences) +
		bytesOf(d.split.times) + bytesOf(d.split.values) + bytesOf(d.split.partOf)
}

// beginProfile begins a profile, whose spans are in the tree.
func (d *decider) beginProfile(observations int) {
	d.linkOf = filled(d.linkOf, len(d.tree.nodes), 0)
	d.links.Grow(min(len(d.tree.nodes), observations))
	d.split.reset()
}

// keep counts a sample that stays unchanged: it has no timestamps or too many attributes.
func (d *decider) keep(sample pprofile.Sample) {
	observations, reason := int64(sample.TimestampsUnixNano().Len()), Attributes
	if observations == 0 {
		observations, reason = 1, Aggregated
	}
	if sample.LinkIndex() != 0 {
		d.stats.Kept += observations
	} else {
		d.stats.Unlinked[reason] += observations
	}
}

// decide decides the links of a sample.
func (d *decider) decide(position int32, sample pprofile.Sample, track *sampleTrack) {
	d.split.beginSample(position)
	d.lastCompared = none
	if d.existing = dictionary.LinkIndex(sample.LinkIndex()); d.existing != 0 {
		d.linked = true
		var ok bool
		if d.existingTrace, d.existingSpan, ok = d.view.Link(d.existing); !ok {
			d.existing = 0 // a dangling reference
		}
	}
	times, shift := sample.TimestampsUnixNano(), uint64(d.options.Shift)
	for from, count := 0, times.Len(); from < count; {
		section, last := track.timeline.at(times.At(from) + shift)
		to := from + 1
		for ; to < count; to++ { // the next observations are mostly in the same section
			if instant := times.At(to) + shift; instant < section.from || instant > last {
				break
			}
		}
		link, counter := d.outcome(section, track)
		d.split.add(link, int32(to-from))
		if counter != nil {
			*counter += int64(to - from)
		} else {
			for i := from; i < to; i++ {
				d.stats.Unlinked[track.unlinkedReason(times.At(i)+shift, d.options)]++
			}
		}
		from = to
	}
}

// outcome returns the link for the observations in a section of the timeline, and their counter.
// The counter is nil if it depends on the instant.
func (d *decider) outcome(s section, track *sampleTrack) (link dictionary.LinkIndex, counter *int64) {
	switch {
	case d.existing != 0 && (s.span == none || s.ambiguous || !d.isDescendant(s.span)):
		return d.existing, &d.stats.Kept
	case s.span == none && s.ambiguous:
		return 0, &d.stats.Unlinked[Ambiguous]
	case s.span == none:
		return 0, nil
	case s.ambiguous:
		return d.linkTo(s.span), &d.stats.Guessed
	case track.assumed:
		return d.linkTo(s.span), &d.stats.Assumed
	}
	return d.linkTo(s.span), &d.stats.Linked
}

func (d *decider) linkTo(span int32) dictionary.LinkIndex {
	link := &d.linkOf[span]
	if *link == 0 {
		t := &d.tree.nodes[span]
		*link = d.links.Index(t.trace, t.id)
	}
	return *link
}

// isDescendant reports whether a span is a descendant of the span that the sample was linked to.
func (d *decider) isDescendant(span int32) bool {
	if d.lastCompared != span {
		d.lastCompared, d.lastIsDescendant = span, d.tree.isDescendant(span, d.existingTrace, d.existingSpan)
	}
	return d.lastIsDescendant
}
