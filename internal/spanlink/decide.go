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

// decide tells the splitter the link of each observation of a sample.
func (l *linker) decide(sample pprofile.Sample, p *place) {
	d := decision{linker: l, place: p, compared: none}
	if d.had = dictionary.LinkIndex(sample.LinkIndex()); d.had != 0 {
		l.linked = true
		var ok bool
		if d.trace, d.id, ok = l.view.Link(d.had); !ok {
			d.had = 0 // broken
		}
	}
	times, shift := sample.TimestampsUnixNano(), uint64(l.options.Shift)
	for from, count := 0, times.Len(); from < count; {
		piece, last := p.timeline.at(times.At(from) + shift)
		to := from + 1
		for ; to < count; to++ { // mostly the next ones are in the same piece
			if instant := times.At(to) + shift; instant < piece.from || instant > last {
				break
			}
		}
		l.split.add(d.link(piece), int32(to-from))
		d.count(piece, times, from, to)
		from = to
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

// count counts what became of some observations in a piece.
func (d *decision) count(p piece, times pcommon.UInt64Slice, from, to int) {
	count := int64(to - from)
	switch {
	case d.keeps(p):
		d.stats.Kept += count
	case p.span == none && p.vague:
		d.stats.Unlinked[Ambiguous] += count
	case p.span == none:
		for i := from; i < to; i++ {
			d.stats.Unlinked[d.place.reason(times.At(i)+uint64(d.options.Shift), &d.options)]++
		}
	case p.vague:
		d.stats.Guessed += count
	default:
		d.stats.Linked += count
	}
}

// below says whether a span is below the one that the sample came with.
func (d *decision) below(span int32) bool {
	if d.compared != span {
		d.compared, d.isBelow = span, d.forest.below(span, d.trace, d.id)
	}
	return d.isBelow
}
