// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// decision decides the links of the observations of one sample.
type decision struct {
	*linker
	track *sampleTrack

	// The existing link of the sample.
	existing      dictionary.LinkIndex // 0 for none
	existingTrace pcommon.TraceID
	existingSpan  pcommon.SpanID

	// The span that was last compared with the existing link.
	lastCompared     int32
	lastIsDescendant bool
}

// decide passes the link of each observation of a sample to the splitter.
func (l *linker) decide(sample pprofile.Sample, track *sampleTrack) {
	d := decision{linker: l, track: track, lastCompared: none}
	if d.existing = dictionary.LinkIndex(sample.LinkIndex()); d.existing != 0 {
		l.linked = true
		var ok bool
		if d.existingTrace, d.existingSpan, ok = l.view.Link(d.existing); !ok {
			d.existing = 0 // a dangling reference
		}
	}
	times, shift := sample.TimestampsUnixNano(), uint64(l.options.Shift)
	for from, count := 0, times.Len(); from < count; {
		section, last := track.timeline.at(times.At(from) + shift)
		to := from + 1
		for ; to < count; to++ { // the next observations are mostly in the same section
			if instant := times.At(to) + shift; instant < section.from || instant > last {
				break
			}
		}
		link, counter := d.outcome(section)
		l.split.add(link, int32(to-from))
		if counter != nil {
			*counter += int64(to - from)
		} else {
			d.countUnlinked(times, from, to)
		}
		from = to
	}
}

// outcome returns the link for the observations in a section of the timeline, and their counter.
// The counter is nil if it depends on the instant.
func (d *decision) outcome(s section) (link dictionary.LinkIndex, counter *int64) {
	switch {
	case d.existing != 0 && (s.span == none || s.ambiguous || !d.isDescendant(s.span)):
		return d.existing, &d.stats.Kept
	case s.span == none && s.ambiguous:
		return 0, &d.stats.Unlinked[Ambiguous]
	case s.span == none:
		return 0, nil
	case s.ambiguous:
		return d.linkTo(s.span), &d.stats.Guessed
	case d.track.assumed:
		return d.linkTo(s.span), &d.stats.Assumed
	}
	return d.linkTo(s.span), &d.stats.Linked
}

func (d *decision) linkTo(span int32) dictionary.LinkIndex {
	link := &d.linkOf[span]
	if *link == 0 {
		t := &d.tree.nodes[span]
		*link = d.links.Index(t.trace, t.id)
	}
	return *link
}

func (d *decision) countUnlinked(times pcommon.UInt64Slice, from, to int) {
	for i := from; i < to; i++ {
		instant := times.At(i) + uint64(d.options.Shift)
		d.stats.Unlinked[d.track.unlinkedReason(instant, &d.options)]++
	}
}

// isDescendant reports whether a span is a descendant of the span that the sample was linked to.
func (d *decision) isDescendant(span int32) bool {
	if d.lastCompared != span {
		d.lastCompared, d.lastIsDescendant = span, d.tree.isDescendant(span, d.existingTrace, d.existingSpan)
	}
	return d.lastIsDescendant
}
