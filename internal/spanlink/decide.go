package spanlink

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/dictionary"
)

// decision is about the observations of one sample.
type decision struct {
	*linker
	place *place

	// The link that the sample came with.
	had   dictionary.LinkIndex // 0 for none
	trace pcommon.TraceID
	id    pcommon.SpanID

	// The last span that was compared with it.
	compared int32
	isBelow  bool
}

// decide finds the link of each observation of a sample, for the splitter.
func (l *linker) decide(sample pprofile.Sample, p *place) {
	d := decision{linker: l, place: p, compared: none}
	l.split.links = l.split.links[:0]
	if d.had = dictionary.LinkIndex(sample.LinkIndex()); d.had != 0 {
		l.linked = true
		var ok bool
		if d.trace, d.id, ok = l.view.Link(d.had); !ok {
			d.had = 0 // broken
		}
	}
	times := sample.TimestampsUnixNano()
	at, count := 0, times.Len()
	for i := 0; i < count; {
		instant := l.shifted(times.At(i))
		if instant < p.timeline[at].from {
			at = 0 // not in order
		}
		at = p.timeline.at(instant, at)
		link, last := d.link(p.timeline[at]), p.timeline.last(at)
		for first := p.timeline[at].from; first <= instant && instant <= last; {
			d.count(p.timeline[at], instant)
			l.split.links = append(l.split.links, link)
			if i++; i == count {
				break
			}
			instant = l.shifted(times.At(i))
		}
	}
}

// link is the link of the observations in a piece of the timeline.
func (d *decision) link(p piece) dictionary.LinkIndex {
	if p.span == none || d.keeps(p) {
		return d.had
	}
	link := &d.linkOf[p.span]
	if *link == 0 {
		t := &d.forest.trees[p.span]
		*link = d.links.Index(t.trace, t.id)
	}
	return *link
}

// keeps says whether the link that the sample came with stays.
func (d *decision) keeps(p piece) bool {
	return d.had != 0 && (p.span == none || p.vague || !d.below(p.span))
}

// count counts what became of an observation in a piece.
func (d *decision) count(p piece, instant uint64) {
	switch {
	case d.keeps(p):
		d.stats.Kept++
	case p.span == none && p.vague:
		d.stats.Unlinked[Ambiguous]++
	case p.span == none:
		d.stats.Unlinked[d.place.reason(instant, &d.options)]++
	case p.vague:
		d.stats.Guessed++
	default:
		d.stats.Linked++
	}
}

// below says whether a span is below the one that the sample came with.
func (d *decision) below(span int32) bool {
	if d.compared != span {
		d.compared, d.isBelow = span, d.forest.below(span, d.trace, d.id)
	}
	return d.isBelow
}
