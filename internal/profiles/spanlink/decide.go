// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
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
		link, counter := d.outcome(piece)
		l.split.add(link, int32(to-from))
		if counter != nil {
			*counter += int64(to - from)
		} else {
			d.countWithoutSpan(times, from, to)
		}
		from = to
	}
}

// outcome is the link of the observations in a piece of the timeline, and where they are counted: nil if that depends on the
// instant.
func (d *decision) outcome(p piece) (link dictionary.LinkIndex, counter *int64) {
	switch {
	case d.had != 0 && (p.span == none || p.vague || !d.below(p.span)):
		return d.had, &d.stats.Kept
	case p.span == none && p.vague:
		return 0, &d.stats.Unlinked[Ambiguous]
	case p.span == none:
		return 0, nil
	case p.vague:
		return d.linkTo(p.span), &d.stats.Guessed
	case d.place.assumed:
		return d.linkTo(p.span), &d.stats.Assumed
	}
	return d.linkTo(p.span), &d.stats.Linked
}

func (d *decision) linkTo(span int32) dictionary.LinkIndex {
	link := &d.linkOf[span]
	if *link == 0 {
		t := &d.forest.trees[span]
		*link = d.links.Index(t.trace, t.id)
	}
	return *link
}

func (d *decision) countWithoutSpan(times pcommon.UInt64Slice, from, to int) {
	for i := from; i < to; i++ {
		instant := times.At(i) + uint64(d.options.Shift)
		d.stats.Unlinked[d.place.reason(instant, &d.options)]++
	}
}

// below says whether a span is below the one that the sample came with.
func (d *decision) below(span int32) bool {
	if d.compared != span {
		d.compared, d.isBelow = span, d.forest.below(span, d.trace, d.id)
	}
	return d.isBelow
}
