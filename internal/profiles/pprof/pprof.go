// SPDX-License-Identifier: Apache-2.0

// Package pprof reads pprof profiles, and exports OTLP profiles as one
// (https://github.com/google/pprof/blob/main/proto/profile.proto). It streams the samples, because
// google/pprof's own package keeps all of them in memory, with a kilobyte of maps each.
//
//	OTLP                         pprof
//	samples by identity          samples: observations, and nanoseconds if known
//	thread.id, other attributes  labels; numbers as numeric labels with their unit
//	link                         labels trace_id and span_id
//	build ids, debug ids         build id of the mapping
//	time, duration, period       the same
//	pprof.profile.comment        comments
//
// Functions, locations and mappings of several profiles are merged. Samples are not merged, because
// tools sum them.
//
// The times of samples and the attributes of locations are lost. Samples without a stack are
// omitted, because pprof tools do not support idle threads; a comment states the idle time.
package pprof

import (
	"compress/gzip"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/sampletype"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Labels of samples with a link.
const (
	labelTrace = "trace_id"
	labelSpan  = "span_id"
)

// Writer writes one pprof profile.
type Writer struct {
	out       *gzip.Writer
	err       error // the first error
	strings   map[string]uint64
	functions map[string]uint64 // by their encoding
	mappings  map[string]uint64
	locations map[string]uint64

	mappingList []string        // encodings, which Close writes
	unnamed     map[uint64]bool // mappings with a location without a function
	comments    []string
	commented   map[string]bool

	measure         timeline.Measure
	begun           bool
	counts          bool // samples have numbers of observations
	start, duration uint64
	period          int64
	idle            int64 // weight of samples without a stack
	frames          int   // in all samples
}

// NewWriter returns a writer of a compressed file.
func NewWriter(out io.Writer) *Writer {
	return &Writer{
		out:       gzip.NewWriter(out),
		strings:   map[string]uint64{},
		functions: map[string]uint64{},
		mappings:  map[string]uint64{},
		unnamed:   map[uint64]bool{},
		commented: map[string]bool{},
		locations: map[string]uint64{},
	}
}

// Add writes the selected samples of a profile. All profiles must have the same measure.
func (w *Writer) Add(p *timeline.Profile, filter timeline.Filter) error {
	if !w.begun {
		w.begin(p)
	} else if p.Measure != w.measure {
		return fmt.Errorf("profiles of %s and of %s do not add up", p.Measure.Type, w.measure.Type)
	}
	if w.start == 0 || p.Start != 0 && p.Start < w.start {
		w.start = p.Start
	}
	w.duration += p.OTLP.DurationNano()
	w.period = max(w.period, p.OTLP.Period())
	if err := w.comment(p); err != nil {
		return err
	}
	a := adder{
		Writer: w, in: p,
		written: make([]uint64, len(p.Locations)),
		frames:  make([]uint64, len(p.Frames)),
		labels:  map[dictionary.AttributeIndex]string{},
		mapped:  map[dictionary.MappingIndex]uint64{},
	}
	return a.samples(filter)
}

// comment collects the comments of a profile.
func (w *Writer) comment(p *timeline.Profile) error {
	comments, ok := p.View.Get(p.OTLP.AttributeIndices(), semconv.PprofProfileComment)
	if !ok || comments.Type() != pcommon.ValueTypeSlice {
		return nil
	}
	for _, c := range comments.Slice().All() {
		if w.frames++; w.frames > timeline.MaxExportedFrames {
			return timeline.ErrTooLarge
		}
		if text := timeline.Clip(c.AsString(), timeline.MaxText); !w.commented[text] {
			w.commented[text] = true
			w.comments = append(w.comments, text)
		}
	}
	return nil
}

// begin writes the properties that all profiles must share.
func (w *Writer) begin(p *timeline.Profile) {
	w.begun, w.measure = true, p.Measure
	w.string("")
	// The number of observations, and their weight if it differs.
	weight := w.valueType(p.Measure.Type, p.Measure.Unit)
	if w.counts = observed(p); w.counts {
		w.write(appendBytes(nil, profileSampleType, w.valueType("samples", "count")))
	}
	w.write(appendBytes(nil, profileSampleType, weight))
	if typ, unit, _ := p.View.ValueType(p.OTLP.PeriodType()); typ != "" {
		w.write(appendBytes(nil, profilePeriodType, w.valueType(timeline.Clip(typ, timeline.MaxText), timeline.Clip(unit, timeline.MaxText))))
	}
	w.write(appendNumber(nil, profileDefaultSampleType, w.string(p.Measure.Type)))
}

// observed reports whether the numbers of observations are known in addition to their time. Sums of
// time do not contain them.
func observed(p *timeline.Profile) bool {
	if p.Measure.Unit != sampletype.UnitNanoseconds {
		return false
	}
	t, _ := sampletype.Of(p.View, p.OTLP)
	return t.Counts || slices.ContainsFunc(p.Threads, func(t timeline.Thread) bool {
		return slices.ContainsFunc(t.Samples, func(s timeline.Sample) bool { return s.Time > 0 })
	})
}

// Close writes the end of the file.
func (w *Writer) Close() error {
	if !w.begun {
		return errors.New("nothing to export")
	}
	for i, encoded := range w.mappingList {
		mapping := append(appendNumber(nil, entryID, uint64(i+1)), encoded...)
		if !w.unnamed[uint64(i+1)] { // otherwise, pprof finds functions by the addresses
			mapping = appendNumber(mapping, mappingHasFunctions, 1)
		}
		w.write(appendBytes(nil, profileMapping, mapping))
	}
	for _, c := range w.comments {
		w.write(appendNumber(nil, profileComment, w.string(c)))
	}
	if w.idle != 0 {
		w.write(appendNumber(nil, profileComment, w.string(fmt.Sprintf("without a stack: %d %s", w.idle, w.measure.Unit))))
	}
	w.write(appendNumber(nil, profileTimeNanos, signed(w.start)))
	w.write(appendNumber(nil, profileDurationNanos, signed(w.duration)))
	w.write(appendNumber(nil, profilePeriod, uint64(w.period)))
	return errors.Join(w.err, w.out.Close())
}

// adder writes the samples of one profile.
type adder struct {
	*Writer
	in      *timeline.Profile
	written []uint64 // IDs of locations; 0: not written yet
	frames  []uint64 // IDs of functions
	labels  map[dictionary.AttributeIndex]string
	mapped  map[dictionary.MappingIndex]uint64 // IDs of mappings

	scratch dictionary.Location
	mapping dictionary.Mapping
	ids     []byte
	message []byte
	record  []byte
}

// total is the sum of the observations of one OTLP sample.
type total struct {
	count, weight int64
	stack         timeline.StackIndex
	link          timeline.LinkIndex
	any           bool
}

func (a *adder) samples(filter timeline.Filter) error {
	totals := make([]total, a.in.OTLP.Samples().Len())
	for _, s := range a.in.Selected(filter) {
		if len(a.in.Stacks[s.Stack]) == 0 {
			a.idle += s.Weight
			continue
		}
		t := &totals[s.Source]
		t.count, t.weight = t.count+s.Count, t.weight+s.Weight
		t.stack, t.link, t.any = s.Stack, s.Link, true
	}
	for source := range totals {
		if !totals[source].any {
			continue
		}
		a.sample(int32(source), &totals[source])
		if a.Writer.frames += len(a.in.Stacks[totals[source].stack]); a.Writer.frames > timeline.MaxExportedFrames {
			return timeline.ErrTooLarge
		}
		if a.err != nil {
			return a.err
		}
	}
	return nil
}

func (a *adder) sample(source int32, t *total) {
	a.ids = a.ids[:0]
	for _, location := range a.in.Stacks[t.stack] {
		a.ids = appendVarint(a.ids, a.location(location))
	}
	a.message = appendBytes(a.message[:0], sampleLocationIDs, a.ids)
	a.ids = a.ids[:0]
	if a.counts {
		a.ids = appendVarint(a.ids, uint64(t.count))
	}
	a.message = appendBytes(a.message, sampleValues, appendVarint(a.ids, uint64(t.weight)))
	attributes := a.in.OTLP.Samples().At(int(source)).AttributeIndices()
	for i := range attributes.Len() {
		a.message = append(a.message, a.label(dictionary.AttributeIndex(attributes.At(i)))...)
	}
	if link := a.in.Links[t.link]; link != (timeline.Link{}) {
		a.message = appendBytes(a.message, sampleLabel, a.textLabel(labelTrace, hex.EncodeToString(link.Trace[:])))
		a.message = appendBytes(a.message, sampleLabel, a.textLabel(labelSpan, hex.EncodeToString(link.Span[:])))
	}
	a.record = appendBytes(a.record[:0], profileSample, a.message)
	a.write(a.record)
}

// label returns the encoded label of an attribute, or "" if the attribute is broken.
func (a *adder) label(index dictionary.AttributeIndex) string {
	label, known := a.labels[index]
	if known {
		return label
	}
	if attribute, ok := a.in.View.Attribute(index); index != 0 && (ok || attribute.Key != "") {
		key := timeline.Clip(attribute.Key, timeline.MaxText)
		var encoded []byte
		if attribute.Value.Type() == pcommon.ValueTypeInt {
			encoded = appendNumber(nil, labelKey, a.string(key))
			encoded = appendNumber(encoded, labelNumber, uint64(attribute.Value.Int()))
			encoded = appendNumber(encoded, labelUnit, a.string(timeline.Clip(attribute.Unit, timeline.MaxText)))
		} else {
			encoded = a.textLabel(key, timeline.Clip(attribute.Value.AsString(), timeline.MaxText))
		}
		label = string(appendBytes(nil, sampleLabel, encoded))
	}
	a.labels[index] = label
	return label
}

func (w *Writer) textLabel(key, value string) []byte {
	return appendNumber(appendNumber(nil, labelKey, w.string(key)), labelText, w.string(value))
}

func (a *adder) location(index timeline.LocationIndex) uint64 {
	if id := a.written[index]; id != 0 {
		return id
	}
	in := &a.in.Locations[index]
	a.in.View.Location(in.Source, &a.scratch)
	mapping := a.mappingOf(a.scratch.Mapping)
	encoded := appendNumber(nil, locationMapping, mapping)
	encoded = appendNumber(encoded, locationAddress, in.Address)
	lines := in.Lines
	if in.Unnamed && in.Address != 0 {
		lines = nil // pprof finds the function by the address
		a.unnamed[mapping] = true
	}
	for _, line := range lines {
		l := appendNumber(nil, lineFunction, a.function(line.Frame))
		l = appendNumber(l, lineLine, uint64(line.Line))
		encoded = appendBytes(encoded, locationLine, appendNumber(l, lineColumn, uint64(line.Column)))
	}
	a.written[index] = a.entry(a.locations, profileLocation, encoded)
	return a.written[index]
}

func (a *adder) function(index timeline.FrameIndex) uint64 {
	if id := a.frames[index]; id != 0 {
		return id
	}
	frame := &a.in.Frames[index]
	system := frame.System
	if system == "" {
		system = frame.Name
	}
	encoded := appendNumber(nil, functionName, a.string(frame.Name))
	encoded = appendNumber(encoded, functionSystemName, a.string(system))
	encoded = appendNumber(encoded, functionFilename, a.string(frame.File))
	encoded = appendNumber(encoded, functionStartLine, uint64(frame.StartLine))
	a.frames[index] = a.entry(a.functions, profileFunction, encoded)
	return a.frames[index]
}

// keysBuildID are the attributes of a mapping that identify its file, in order of preference.
var keysBuildID = []string{
	semconv.ProcessExecutableBuildIDGNU, semconv.ProcessExecutableBuildIDGo, semconv.ProcessExecutableBuildIDHtlhash,
	semconv.SentryDebugID,
}

// mappingOf returns the ID of the mapping of native code. Interpreted code has no mapping.
func (a *adder) mappingOf(index dictionary.MappingIndex) uint64 {
	if index == 0 {
		return 0
	}
	if id := a.mapped[index]; id != 0 {
		return id
	}
	a.in.View.Mapping(index, &a.mapping)
	encoded := appendNumber(nil, mappingStart, a.mapping.Start)
	encoded = appendNumber(encoded, mappingLimit, a.mapping.Limit)
	encoded = appendNumber(encoded, mappingOffset, a.mapping.FileOffset)
	encoded = appendNumber(encoded, mappingFilename, a.string(timeline.Clip(a.in.View.Text(a.mapping.Filename), timeline.MaxText)))
	encoded = appendNumber(encoded, mappingBuildID, a.string(timeline.Clip(a.buildID(), timeline.MaxText)))
	id, known := a.mappings[string(encoded)]
	if !known {
		a.mappingList = append(a.mappingList, string(encoded))
		id = uint64(len(a.mappingList))
		a.mappings[string(encoded)] = id
		if id > timeline.MaxExportedEntries && a.err == nil {
			a.err = timeline.ErrTooLarge
		}
	}
	a.mapped[index] = id
	return id
}

func (a *adder) buildID() string {
	for _, key := range keysBuildID {
		for _, index := range a.mapping.Attributes {
			if a, ok := a.in.View.Attribute(index); ok && a.Key == key {
				return a.Value.AsString()
			}
		}
	}
	return ""
}

// entry returns the ID of a table entry, which it writes if it is new.
func (w *Writer) entry(table map[string]uint64, field int, encoded []byte) uint64 {
	id, known := table[string(encoded)]
	if !known {
		id = uint64(len(table) + 1)
		if id > timeline.MaxExportedEntries && w.err == nil {
			w.err = timeline.ErrTooLarge
			return id
		}
		table[string(encoded)] = id
		w.write(appendBytes(nil, field, append(appendNumber(nil, entryID, id), encoded...)))
	}
	return id
}

// string returns the index of a text in the string table.
func (w *Writer) string(text string) uint64 {
	index, known := w.strings[text]
	if !known {
		index = uint64(len(w.strings))
		w.strings[text] = index
		w.write(appendBytes(nil, profileString, []byte(text)))
	}
	return index
}

func (w *Writer) valueType(typ, unit string) []byte {
	return appendNumber(appendNumber(nil, valueTypeType, w.string(typ)), valueTypeUnit, w.string(unit))
}

func (w *Writer) write(encoded []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(encoded)
	}
}

// signed converts a number to the signed type of pprof.
func signed(n uint64) uint64 { return min(n, math.MaxInt64) }
