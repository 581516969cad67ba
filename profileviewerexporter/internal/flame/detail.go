// SPDX-License-Identifier: Apache-2.0

package flame

import (
	"cmp"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Detail describes one function in a selection. Lists start with the heaviest entries.
type Detail struct {
	Frame       timeline.Frame
	Self, Total int64
	Samples     int64
	Lines       []LineWeight
	Spans       []SpanWeight
	Attributes  []AttributeValues
}

// LineWeight is the weight of a line of the function.
type LineWeight struct {
	Line, Column int64
	Address      uint64
	Self, Total  int64
}

// SpanWeight is the weight of the function in a span. The zero Link means no span.
type SpanWeight struct {
	Link  timeline.Link
	Total int64
}

// AttributeValues are the values of an attribute of the locations of the function and of their
// mappings.
type AttributeValues struct {
	Key, Unit string
	Values    []string // the first maxValues
	More      bool     // there are more values
}

// maxValues is the maximum number of listed values of an attribute.
const maxValues = 5

// Describe returns the details of a frame. The source must be the one that created the graph.
func (g *Graph) Describe(source Source, frame int32) (*Detail, error) {
	d := describer{
		wanted:     g.Frames[frame],
		out:        &Detail{Frame: g.Frames[frame]},
		lines:      map[LineWeight]*LineWeight{},
		spans:      map[timeline.Link]*SpanWeight{},
		attributes: map[string]*AttributeValues{},
		seen:       map[LineWeight]int{},
	}
	if err := source(d.add); err != nil {
		return nil, err
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
	lines      map[LineWeight]*LineWeight // by line with zero weights
	spans      map[timeline.Link]*SpanWeight
	attributes map[string]*AttributeValues
	visited    int                // lines
	stacks     int                // visited
	seen       map[LineWeight]int // the last stack with a line
	// Visited locations, mappings and attributes of the current profile.
	described map[dictionary.LocationIndex]bool
	mappings  map[dictionary.MappingIndex]bool
	collected map[dictionary.AttributeIndex]bool

	location dictionary.Location
	mapping  dictionary.Mapping
}

// occurrence describes the function in a stack.
type occurrence struct {
	found bool
	leaf  bool
	lines []LineWeight // with zero weights, without duplicates
}

func (d *describer) add(s Selection) error {
	p := s.Profile
	if err := p.CheckPositive(s.Filter); err != nil {
		return err
	}
	wanted := slices.Index(p.Frames, d.wanted)
	if wanted < 0 {
		return nil
	}
	d.described, d.mappings, d.collected = map[dictionary.LocationIndex]bool{}, map[dictionary.MappingIndex]bool{}, map[dictionary.AttributeIndex]bool{}
	stacks, sums := make([]*occurrence, len(p.Stacks)), make([]sum, len(p.Stacks))
	for _, sample := range p.Selected(s.Filter) {
		if sample.Weight == 0 {
			continue
		}
		if stacks[sample.Stack] == nil {
			stacks[sample.Stack] = d.find(p, sample.Stack, timeline.FrameIndex(wanted))
			if d.visited > timeline.MaxExportedFrames {
				return timeline.ErrTooLarge
			}
		}
		if stacks[sample.Stack].found {
			sums[sample.Stack].weight += sample.Weight
			sums[sample.Stack].count += sample.Count
			d.countSpan(p.Links[sample.Link], sample.Weight)
		}
	}
	for stack, at := range stacks {
		if at != nil && at.found {
			d.count(at, sums[stack])
		}
	}
	return nil
}

func (d *describer) find(p *timeline.Profile, stack timeline.StackIndex, wanted timeline.FrameIndex) *occurrence {
	var at occurrence
	d.stacks++
	for i, location := range p.Stacks[stack] {
		l := &p.Locations[location]
		d.visited += len(l.Lines)
		for j, line := range l.Lines {
			if line.Frame != wanted {
				continue
			}
			key := LineWeight{Line: line.Line, Column: line.Column, Address: l.Address}
			if d.seen[key] != d.stacks {
				d.seen[key] = d.stacks
				at.lines = append(at.lines, key)
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

func (d *describer) count(at *occurrence, sum sum) {
	d.out.Samples += sum.count
	d.out.Total += sum.weight
	if at.leaf {
		d.out.Self += sum.weight
	}
	for i, key := range at.lines {
		line := d.lines[key]
		if line == nil {
			line = &LineWeight{Line: key.Line, Column: key.Column, Address: key.Address}
			d.lines[key] = line
		}
		line.Total += sum.weight
		if i == 0 && at.leaf { // leaf first
			line.Self += sum.weight
		}
	}
}

func (d *describer) countSpan(link timeline.Link, weight int64) {
	if d.spans[link] == nil {
		d.spans[link] = &SpanWeight{Link: link}
	}
	d.spans[link].Total += weight
}

// describe collects the attributes of a location and of its mapping.
func (d *describer) describe(p *timeline.Profile, l *timeline.Location) {
	p.View.Location(l.Source, &d.location)
	d.collect(p, d.location.Attributes)
	if d.location.Mapping == 0 || d.mappings[d.location.Mapping] {
		return
	}
	d.mappings[d.location.Mapping] = true
	p.View.Mapping(d.location.Mapping, &d.mapping)
	d.value("mapping", "", p.View.Text(d.mapping.Filename))
	d.collect(p, d.mapping.Attributes)
}

func (d *describer) collect(p *timeline.Profile, list []dictionary.AttributeIndex) {
	for _, index := range list {
		if d.collected[index] {
			continue
		}
		d.collected[index] = true
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
