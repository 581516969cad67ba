package flame

import (
	"cmp"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/internal/timeline"
)

// Detail is everything there is to say about one function in a selection. Lists are the heaviest first.
type Detail struct {
	Frame       timeline.Frame
	Self, Total int64
	Samples     int64
	Lines       []LineWeight
	Spans       []SpanWeight
	Attributes  []AttributeValues
}

// LineWeight is what a line of the function weighs.
type LineWeight struct {
	Line, Column int64
	Address      uint64
	Self, Total  int64
}

// SpanWeight is what the function weighs in a span; the zero Link is no span.
type SpanWeight struct {
	Link  timeline.Link
	Total int64
}

// AttributeValues are the values of an attribute of the function's locations, and of the mappings they are in.
type AttributeValues struct {
	Key, Unit string
	Values    []string // no more than maxValues
	More      bool     // there are others
}

// maxValues of one attribute: enough to see what varies.
const maxValues = 5

// Describe says everything about a frame of a graph of the same selection.
func (g *Graph) Describe(selections []Selection, frame int32) (*Detail, error) {
	d := describer{
		wanted:     g.Frames[frame],
		out:        &Detail{Frame: g.Frames[frame]},
		lines:      map[LineWeight]*LineWeight{},
		spans:      map[timeline.Link]*SpanWeight{},
		attributes: map[string]*AttributeValues{},
		seen:       map[LineWeight]int{},
	}
	for _, s := range selections {
		if err := d.add(s); err != nil {
			return nil, err
		}
	}
	for _, line := range d.lines {
		d.out.Lines = append(d.out.Lines, *line)
	}
	slices.SortFunc(d.out.Lines, func(a, b LineWeight) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Address, b.Address))
	})
	for _, span := range d.spans {
		d.out.Spans = append(d.out.Spans, *span)
	}
	slices.SortFunc(d.out.Spans, func(a, b SpanWeight) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), slices.Compare(a.Link.Span[:], b.Link.Span[:]))
	})
	for _, values := range d.attributes {
		d.out.Attributes = append(d.out.Attributes, *values)
	}
	slices.SortFunc(d.out.Attributes, func(a, b AttributeValues) int { return cmp.Compare(a.Key, b.Key) })
	return d.out, nil
}

type describer struct {
	wanted     timeline.Frame
	out        *Detail
	lines      map[LineWeight]*LineWeight // by place, with zero weights
	spans      map[timeline.Link]*SpanWeight
	attributes map[string]*AttributeValues
	walked     int
	stacks     int                               // looked at
	seen       map[LineWeight]int                // places, and the last of the stacks they were in
	described  map[dictionary.LocationIndex]bool // of the profile that is being looked at

	location dictionary.Location
	mapping  dictionary.Mapping
}

// occurrence is where in a stack the function is.
type occurrence struct {
	found bool
	leaf  bool
	lines []LineWeight // without weights, each once
}

func (d *describer) add(s Selection) error {
	p := s.Profile
	wanted := slices.Index(p.Frames, d.wanted)
	if wanted < 0 {
		return nil
	}
	d.described = map[dictionary.LocationIndex]bool{}
	stacks := make([]*occurrence, len(p.Stacks))
	for _, sample := range p.Selected(s.Filter) {
		if sample.Weight <= 0 {
			continue
		}
		if stacks[sample.Stack] == nil {
			stacks[sample.Stack] = d.find(p, sample.Stack, timeline.FrameIndex(wanted))
			if d.walked > timeline.MaxExportedFrames {
				return timeline.ErrTooLarge
			}
		}
		if at := stacks[sample.Stack]; at.found {
			d.count(p, sample, at)
		}
	}
	return nil
}

func (d *describer) find(p *timeline.Profile, stack timeline.StackIndex, wanted timeline.FrameIndex) *occurrence {
	var at occurrence
	d.stacks++
	for i, location := range p.Stacks[stack] {
		l := &p.Locations[location]
		d.walked += len(l.Lines)
		for j, line := range l.Lines {
			if line.Frame != wanted {
				continue
			}
			place := LineWeight{Line: line.Line, Column: line.Column, Address: l.Address}
			if d.seen[place] != d.stacks {
				d.seen[place] = d.stacks
				at.lines = append(at.lines, place)
			}
			if !at.found {
				at.leaf = i == 0 && j == 0
			}
			at.found = true
			if !d.described[l.Source] {
				d.described[l.Source] = true
				d.describe(p, l)
			}
		}
	}
	return &at
}

func (d *describer) count(p *timeline.Profile, sample *timeline.Sample, at *occurrence) {
	d.out.Samples += sample.Count
	d.out.Total += sample.Weight
	if at.leaf {
		d.out.Self += sample.Weight
	}
	for i, place := range at.lines {
		line := d.lines[place]
		if line == nil {
			line = &LineWeight{Line: place.Line, Column: place.Column, Address: place.Address}
			d.lines[place] = line
		}
		line.Total += sample.Weight
		if i == 0 && at.leaf { // leaf first
			line.Self += sample.Weight
		}
	}
	link := p.Links[sample.Link]
	if d.spans[link] == nil {
		d.spans[link] = &SpanWeight{Link: link}
	}
	d.spans[link].Total += sample.Weight
}

// describe collects the attributes of a location and of its mapping.
func (d *describer) describe(p *timeline.Profile, l *timeline.Location) {
	p.View.Location(l.Source, &d.location)
	d.collect(p, d.location.Attributes)
	if d.location.Mapping == 0 {
		return
	}
	p.View.Mapping(d.location.Mapping, &d.mapping)
	d.value("mapping", "", p.View.Text(d.mapping.Filename))
	d.collect(p, d.mapping.Attributes)
}

func (d *describer) collect(p *timeline.Profile, list []dictionary.AttributeIndex) {
	for _, index := range list {
		if a, ok := p.View.Attribute(index); ok && a.Key != "" {
			d.value(a.Key, a.Unit, a.Value.AsString())
		}
	}
}

func (d *describer) value(key, unit, value string) {
	if value == "" {
		return
	}
	values := d.attributes[key]
	if values == nil {
		values = &AttributeValues{Key: key, Unit: unit}
		d.attributes[key] = values
	}
	switch {
	case slices.Contains(values.Values, value):
	case len(values.Values) < maxValues:
		values.Values = append(values.Values, value)
	default:
		values.More = true
	}
}
