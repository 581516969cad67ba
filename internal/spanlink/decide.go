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
	at, last := 0, uint64(0)
	for i := range times.Len() {
		instant := l.shifted(times.At(i))
		if instant < last {
			at = 0 // not in order
		}
		at, last = p.timeline.at(instant, at), instant
		l.split.links = append(l.split.links, d.link(p.timeline[at], instant))
	}
}

// link applies a piece of the timeline to an instant in it.
func (d *decision) link(p piece, instant uint64) dictionary.LinkIndex {
	switch {
	case d.had != 0 && (p.span == none || p.vague || !d.below(p.span)):
		d.stats.Kept++
		return d.had
	case p.span == none && p.vague:
		d.stats.Unlinked[Ambiguous]++
		return 0
	case p.span == none:
		d.stats.Unlinked[d.place.reason(instant, &d.options)]++
		return 0
	case p.vague:
		d.stats.Guessed++
	default:
		d.stats.Linked++
	}
	link := &d.linkOf[p.span]
	if *link == 0 {
		t := &d.forest.trees[p.span]
		*link = d.links.Index(t.trace, t.id)
	}
	return *link
}

// below says whether a span is below the one that the sample came with.
func (d *decision) below(span int32) bool {
	if d.compared != span {
		d.compared, d.isBelow = span, d.forest.below(span, d.trace, d.id)
	}
	return d.isBelow
}
