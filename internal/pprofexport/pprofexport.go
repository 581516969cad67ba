// Package pprofexport makes pprof profiles of OTLP profiles, by google/pprof's own package.
//
//	OTLP                         pprof
//	samples by identity          samples: observations, and nanoseconds where they are known
//	thread.id, other attributes  labels; numbers as numeric labels with their unit
//	link                         labels trace_id and span_id
//	build ids, debug ids         build id of the mapping
//	time, duration, period       the same
//
// Lost: the times of samples, attributes of locations, and samples without a stack: tools for pprof have no notion of a thread
// that did nothing, so a comment says how much that was.
package pprofexport

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"

	"github.com/google/pprof/profile"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/internal/timeline"
)

// Labels of samples that belong to a span.
const (
	labelTrace = "trace_id"
	labelSpan  = "span_id"
)

// Export makes one pprof profile of the selected samples of profiles. They must be of one measure.
func Export(profiles []*timeline.Profile, filter func(*timeline.Profile) timeline.Filter) (*profile.Profile, error) {
	if len(profiles) == 0 {
		return nil, errors.New("nothing to export")
	}
	list := make([]*profile.Profile, 0, len(profiles))
	for _, p := range profiles {
		if p.Measure != profiles[0].Measure {
			return nil, fmt.Errorf("profiles of %s and of %s do not add up", p.Measure.Type, profiles[0].Measure.Type)
		}
		one, err := export(p, filter(p))
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	if len(list) == 1 {
		return list[0], list[0].CheckValid()
	}
	return profile.Merge(list)
}

func export(p *timeline.Profile, filter timeline.Filter) (*profile.Profile, error) {
	b := builder{
		in:        p,
		mappings:  map[dictionary.MappingIndex]*profile.Mapping{},
		functions: make([]*profile.Function, len(p.Frames)),
		locations: make([]*profile.Location, len(p.Locations)),
		samples:   map[int32]*profile.Sample{},
		out: &profile.Profile{
			SampleType:    sampleTypes(p.Measure),
			TimeNanos:     signed(p.Start),
			DurationNanos: signed(p.OTLP.DurationNano()),
			Period:        p.OTLP.Period(),
		},
	}
	b.out.DefaultSampleType = b.out.SampleType[len(b.out.SampleType)-1].Type
	if typ, unit, _ := p.View.ValueType(p.OTLP.PeriodType()); typ != "" {
		b.out.PeriodType = &profile.ValueType{Type: typ, Unit: unit}
	}
	var idle int64
	for _, s := range p.Selected(filter) {
		if len(p.Stacks[s.Stack]) == 0 {
			idle += s.Weight
			continue
		}
		b.sample(s)
		if b.frames > timeline.MaxExportedFrames {
			return nil, timeline.ErrTooLarge
		}
	}
	if idle != 0 {
		b.out.Comments = append(b.out.Comments, fmt.Sprintf("without a stack: %d %s", idle, p.Measure.Unit))
	}
	return b.out, nil
}

// sampleTypes: the observations, and what they weigh where that is something else.
func sampleTypes(m timeline.Measure) []*profile.ValueType {
	weight := &profile.ValueType{Type: m.Type, Unit: m.Unit}
	if m.Unit != "nanoseconds" {
		return []*profile.ValueType{weight}
	}
	return []*profile.ValueType{{Type: "samples", Unit: "count"}, weight}
}

type builder struct {
	in        *timeline.Profile
	out       *profile.Profile
	mappings  map[dictionary.MappingIndex]*profile.Mapping
	functions []*profile.Function
	locations []*profile.Location
	samples   map[int32]*profile.Sample // by OTLP sample, which is one identity already
	frames    int                       // of all samples
	scratch   dictionary.Location
	mapping   dictionary.Mapping
	list      []dictionary.Attribute
}

func (b *builder) sample(s *timeline.Sample) {
	sample := b.samples[s.Source]
	if sample == nil {
		sample = &profile.Sample{Value: make([]int64, len(b.out.SampleType))}
		for _, location := range b.in.Stacks[s.Stack] {
			sample.Location = append(sample.Location, b.location(location))
		}
		b.labels(sample, s)
		b.samples[s.Source] = sample
		b.frames += len(sample.Location)
		b.out.Sample = append(b.out.Sample, sample)
	}
	if len(sample.Value) > 1 {
		sample.Value[0] += s.Count
	}
	sample.Value[len(sample.Value)-1] += s.Weight
}

func (b *builder) labels(sample *profile.Sample, s *timeline.Sample) {
	b.list, _ = b.in.View.Attributes(b.in.OTLP.Samples().At(int(s.Source)).AttributeIndices(), b.list[:0])
	for _, a := range b.list {
		if a.Value.Type() == pcommon.ValueTypeInt {
			if sample.NumLabel == nil {
				sample.NumLabel, sample.NumUnit = map[string][]int64{}, map[string][]string{}
			}
			sample.NumLabel[a.Key] = append(sample.NumLabel[a.Key], a.Value.Int())
			sample.NumUnit[a.Key] = append(sample.NumUnit[a.Key], a.Unit)
			continue
		}
		setLabel(sample, a.Key, a.Value.AsString())
	}
	if link := b.in.Links[s.Link]; link != (timeline.Link{}) {
		setLabel(sample, labelTrace, hex.EncodeToString(link.Trace[:]))
		setLabel(sample, labelSpan, hex.EncodeToString(link.Span[:]))
	}
}

func setLabel(sample *profile.Sample, key, value string) {
	if sample.Label == nil {
		sample.Label = map[string][]string{}
	}
	sample.Label[key] = append(sample.Label[key], value)
}

func (b *builder) location(index timeline.LocationIndex) *profile.Location {
	if location := b.locations[index]; location != nil {
		return location
	}
	in := &b.in.Locations[index]
	b.in.View.Location(in.Source, &b.scratch)
	location := &profile.Location{
		ID:      uint64(len(b.out.Location) + 1),
		Address: in.Address,
		Mapping: b.mappingOf(b.scratch.Mapping),
	}
	for _, line := range in.Lines {
		location.Line = append(location.Line, profile.Line{
			Function: b.function(line.Frame), Line: line.Line, Column: line.Column,
		})
	}
	b.locations[index] = location
	b.out.Location = append(b.out.Location, location)
	return location
}

func (b *builder) function(index timeline.FrameIndex) *profile.Function {
	if b.functions[index] == nil {
		frame := &b.in.Frames[index]
		function := &profile.Function{
			ID: uint64(len(b.out.Function) + 1), Name: frame.Name, SystemName: frame.System, Filename: frame.File,
			StartLine: frame.StartLine,
		}
		if function.SystemName == "" {
			function.SystemName = frame.Name
		}
		b.functions[index] = function
		b.out.Function = append(b.out.Function, function)
	}
	return b.functions[index]
}

// keysBuildID are the attributes of a mapping that identify its file, the best first.
var keysBuildID = []string{
	"process.executable.build_id.gnu", "process.executable.build_id.go", "process.executable.build_id.htlhash", "sentry.debug_id",
}

// mappingOf gives the mapping of native code. Interpreted code has none, and gets none here.
func (b *builder) mappingOf(index dictionary.MappingIndex) *profile.Mapping {
	if index == 0 {
		return nil
	}
	if mapping := b.mappings[index]; mapping != nil {
		return mapping
	}
	b.in.View.Mapping(index, &b.mapping)
	mapping := &profile.Mapping{
		ID: uint64(len(b.out.Mapping) + 1), Start: b.mapping.Start, Limit: b.mapping.Limit, Offset: b.mapping.FileOffset,
		File:         b.in.View.Text(b.mapping.Filename),
		HasFunctions: true, // names are what we have; nothing is left to look up by address
	}
	mapping.BuildID = b.buildID()
	b.mappings[index] = mapping
	b.out.Mapping = append(b.out.Mapping, mapping)
	return mapping
}

func (b *builder) buildID() string {
	for _, key := range keysBuildID {
		for _, index := range b.mapping.Attributes {
			if a, ok := b.in.View.Attribute(index); ok && a.Key == key {
				return a.Value.AsString()
			}
		}
	}
	return ""
}

// signed: pprof counts in signed numbers.
func signed(n uint64) int64 { return int64(min(n, math.MaxInt64)) }
