// SPDX-License-Identifier: Apache-2.0

package firefox

import (
	"cmp"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
)

const (
	processedVersion = 47
	geckoVersion     = 29
	processID        = "0"

	// The name and the ID of samples without a thread.
	noThread   = "samples"
	noThreadID = "0"
)

// Writer writes one file.
type Writer struct {
	out     io.Writer
	file    content
	frames  int // in all stack tables
	samples int
}

// NewWriter returns the writer of a file with a title.
func NewWriter(out io.Writer, title string) *Writer {
	return &Writer{out: out, file: content{Libs: []any{}, Threads: []*thread{}, Meta: meta{
		Product: title, Version: geckoVersion, PreprocessedProfileVersion: processedVersion, Symbolicated: true, MarkerSchema: []any{},
		Categories: []*category{{Name: "Other", Color: "grey", Subcategories: []string{"Other"}}},
	}}}
}

// Add writes the selected samples of a profile, a thread for each of its threads.
func (w *Writer) Add(p *timeline.Profile, filter timeline.Filter) error {
	if start := float64(p.Start) / nanosPerMilli; len(w.file.Threads) == 0 {
		w.file.Meta.StartTime = start
	}
	w.file.Meta.Interval = cmp.Or(w.file.Meta.Interval, float64(p.OTLP.Period())/nanosPerMilli)
	origin := uint64(math.Round(w.file.Meta.StartTime * nanosPerMilli))
	for i := range p.Threads {
		index := timeline.ThreadIndex(i)
		if filter.Thread != nil && *filter.Thread != index {
			continue
		}
		one := filter
		one.Thread = &index
		t := threadWriter{in: p, out: newThread(&p.Threads[i], w.file.Meta.Product),
			strings: map[string]int32{}, functions: map[function]int32{}, lines: map[line]int32{}, stacks: map[stack]int32{},
			written: make([]*int32, len(p.Stacks))}
		t.out.Samples.WeightType = weightType(p.Measure.Unit)
		for _, s := range p.Selected(one) {
			t.sample(s, origin)
			w.samples++
			if w.frames+len(t.out.StackTable.Frame)+w.samples > timeline.MaxExportedFrames {
				return timeline.ErrTooLarge
			}
		}
		w.frames += len(t.out.StackTable.Frame)
		if t.finish(); t.out.Samples.Length > 0 {
			w.file.Threads = append(w.file.Threads, &t.out)
		}
	}
	return nil
}

// Close writes the file.
func (w *Writer) Close() error {
	if w.file.Meta.Interval == 0 {
		w.file.Meta.Interval = 1
	}
	return json.NewEncoder(w.out).Encode(w.file)
}

const nanosPerMilli = 1e6

func weightType(unit string) string {
	switch unit {
	case "nanoseconds":
		return weightMillis
	case "bytes":
		return weightBytes
	}
	return weightSamples
}

func newThread(t *timeline.Thread, process string) thread {
	out := thread{
		Name: cmp.Or(t.Name, t.ID, noThread), TID: cmp.Or(t.ID, noThreadID), PID: processID, ProcessName: process,
		IsMainThread: t.Name == "main" || t.Name == "MainThread", PausedRanges: []any{},
		Markers: noMarkers(), ResourceTable: noResources(), NativeSymbols: noSymbols(),
	}
	// Readers of JSON have numbers of 53 bits; other IDs stay texts.
	if n, err := strconv.ParseInt(t.ID, 10, 54); err == nil && strconv.FormatInt(n, 10) == t.ID {
		out.TID = n
	}
	return out
}

type function struct{ name, file int32 }

type line struct {
	function     int32
	line, column int64
}

type stack struct{ prefix, frame int32 }

// threadWriter fills the tables of a thread.
type threadWriter struct {
	in        *timeline.Profile
	out       thread
	strings   map[string]int32
	functions map[function]int32
	lines     map[line]int32
	stacks    map[stack]int32
	written   []*int32 // by stack of the profile
}

func (t *threadWriter) sample(s *timeline.Sample, origin uint64) {
	weight := float64(s.Weight)
	if t.out.Samples.WeightType == weightMillis {
		weight /= nanosPerMilli
	}
	at := 0.0
	if s.Time > 0 {
		at = float64(int64(s.Time-origin)) / nanosPerMilli
	}
	t.out.Samples.Time = append(t.out.Samples.Time, at)
	t.out.Samples.Weight = append(t.out.Samples.Weight, weight)
	t.out.Samples.Stack = append(t.out.Samples.Stack, t.stack(s.Stack))
}

// stack returns the index of a stack, nil for none.
func (t *threadWriter) stack(index timeline.StackIndex) *int32 {
	if index == 0 || t.written[index] != nil {
		return t.written[index]
	}
	prefix := int32(-1)
	for _, location := range slices.Backward(t.in.Stacks[index]) {
		for _, l := range slices.Backward(t.in.Locations[location].Lines) {
			prefix = t.node(stack{prefix, t.frame(l)})
		}
	}
	t.written[index] = &prefix
	return &prefix
}

func (t *threadWriter) node(s stack) int32 {
	table := &t.out.StackTable
	return once(t.stacks, s, func() {
		var prefix *int32
		if s.prefix >= 0 {
			prefix = &s.prefix
		}
		table.Prefix, table.Frame = append(table.Prefix, prefix), append(table.Frame, s.frame)
		table.Category, table.Subcategory = append(table.Category, 0), append(table.Subcategory, 0)
	})
}

func (t *threadWriter) frame(l timeline.Line) int32 {
	f := &t.in.Frames[l.Frame]
	called := t.function(f)
	table := &t.out.FrameTable
	return once(t.lines, line{called, l.Line, l.Column}, func() {
		table.Address, table.InlineDepth = append(table.Address, -1), append(table.InlineDepth, 0)
		table.Category, table.Subcategory = append(table.Category, nil), append(table.Subcategory, nil)
		table.Func, table.NativeSymbol = append(table.Func, called), append(table.NativeSymbol, nil)
		table.InnerWindowID, table.Implementation = append(table.InnerWindowID, nil), append(table.Implementation, nil)
		table.Line, table.Column = append(table.Line, known(l.Line)), append(table.Column, known(l.Column))
	})
}

func (t *threadWriter) function(f *timeline.Frame) int32 {
	name, file := t.text(f.Name), int32(-1)
	if f.File != "" {
		file = t.text(f.File)
	}
	table := &t.out.FuncTable
	return once(t.functions, function{name, file}, func() {
		var fileName *int32
		if file >= 0 {
			fileName = &file
		}
		table.Name, table.FileName = append(table.Name, name), append(table.FileName, fileName)
		table.IsJS, table.RelevantForJS = append(table.IsJS, false), append(table.RelevantForJS, false)
		table.Resource = append(table.Resource, -1)
		table.LineNumber, table.ColumnNumber = append(table.LineNumber, known(f.StartLine)), append(table.ColumnNumber, nil)
	})
}

func (t *threadWriter) text(text string) int32 {
	return once(t.strings, text, func() { t.out.StringArray = append(t.out.StringArray, text) })
}

// once returns the position of an entry in its table. It appends the entry if it is new.
func once[K comparable](known map[K]int32, key K, appendEntry func()) int32 {
	index, ok := known[key]
	if !ok {
		index = int32(len(known))
		known[key] = index
		appendEntry()
	}
	return index
}

// known returns a number of a line or column, nil if it is unknown.
func known(n int64) *int64 {
	if n <= 0 {
		return nil
	}
	return &n
}

func (t *threadWriter) finish() {
	out := &t.out
	out.Samples.Length = len(out.Samples.Stack)
	out.StackTable.Length = len(out.StackTable.Frame)
	out.FrameTable.Length = len(out.FrameTable.Func)
	out.FuncTable.Length = len(out.FuncTable.Name)
	if out.Samples.Length == 0 || out.StackTable.Length > 0 {
		return
	}
	// A thread that was always idle. Columns must be lists.
	out.StringArray = []string{}
	out.StackTable = stackTable{Prefix: []*int32{}, Frame: []int32{}, Category: []int32{}, Subcategory: []int32{}}
	out.FrameTable = frameTable{Address: []int64{}, InlineDepth: []int32{}, Category: []*int32{}, Subcategory: []*int32{}, Func: []int32{},
		NativeSymbol: []*int32{}, InnerWindowID: []*int64{}, Implementation: []*int32{}, Line: []*int64{}, Column: []*int64{}}
	out.FuncTable = funcTable{Name: []int32{}, IsJS: []bool{}, RelevantForJS: []bool{}, Resource: []int32{}, FileName: []*int32{},
		LineNumber: []*int64{}, ColumnNumber: []*int64{}}
}
