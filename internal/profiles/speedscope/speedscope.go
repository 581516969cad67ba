// SPDX-License-Identifier: Apache-2.0

// Package speedscope exports OTLP profiles to speedscope (https://www.speedscope.app): one profile
// per thread, with its samples and pauses in chronological order. It streams the samples.
// [Read] imports such files.
//
// https://www.speedscope.app/file-format-schema.json describes the format. Attributes, links and
// addresses are lost.
package speedscope

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
)

const schema = "https://www.speedscope.app/file-format-schema.json"

// frame is a line of a function.
type frame struct {
	Name   string       `json:"name"`
	File   string       `json:"file,omitempty"`
	Line   importer.Int `json:"line,omitempty"`
	Column importer.Int `json:"col,omitempty"`
}

// Writer writes one file.
type Writer struct {
	out     *bufio.Writer
	err     error // the first error of out, which returns it for all further writes
	frames  map[frame]int32
	list    []frame // by number
	count   int     // number of profiles
	written int     // frames in all samples

	// The profile that speedscope opens first: the thread that worked the most.
	active     int
	activeBusy int64
}

// NewWriter returns the writer of a file with a title.
func NewWriter(out io.Writer, title string) *Writer {
	w := &Writer{out: bufio.NewWriter(out), frames: map[frame]int32{}}
	w.text(`{"$schema":`)
	w.json(schema)
	w.text(`,"exporter":"otelcol-sentry","name":`)
	w.json(title)
	w.text(`,"profiles":[`)
	return w
}

// Add writes the selected samples of a profile, one thread after another. Threads of different
// profiles are not merged.
func (w *Writer) Add(p *timeline.Profile, filter timeline.Filter) error {
	if err := p.CheckPositive(filter); err != nil { // speedscope rejects such a file
		return err
	}
	stacks := make([][]int32, len(p.Stacks))
	for t := range p.Threads {
		thread := timeline.ThreadIndex(t)
		if filter.Thread != nil && *filter.Thread != thread {
			continue
		}
		one := filter
		one.Thread = &thread
		if err := w.thread(p, one, thread, stacks); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) thread(p *timeline.Profile, filter timeline.Filter, thread timeline.ThreadIndex, stacks [][]int32) error {
	weigh := weigher{unit: unit(p.Measure.Unit)}
	started := false
	for _, s := range p.Selected(filter) {
		if !started {
			started = true
			w.begin(p.Threads[thread], weigh.unit)
			weigh.at = s.Time
		}
		if stacks[s.Stack] == nil {
			stacks[s.Stack] = w.stack(p, s.Stack)
		}
		stack := stacks[s.Stack]
		if w.written += len(stack); w.written > timeline.MaxExportedFrames || len(w.list) > timeline.MaxExportedEntries {
			return timeline.ErrTooLarge
		}
		gap, weight := weigh.next(s)
		if gap > 0 {
			w.sample(&weigh, nil, gap)
		}
		if weight > 0 {
			w.sample(&weigh, stack, weight)
			if len(stack) > 0 && !p.Waits(s.Stack) {
				weigh.busy += weight
			}
		}
	}
	if started {
		w.end(p, filter, &weigh)
	}
	return w.err
}

// begin writes a profile up to its samples.
func (w *Writer) begin(t timeline.Thread, unit string) {
	if w.count > 0 {
		w.text(",")
	}
	w.text(`{"type":"sampled","name":`)
	w.json(threadName(t))
	w.text(`,"unit":`)
	w.json(unit)
	w.text(`,"startValue":0,"samples":[`)
}

// sample writes the frames of a sample.
func (w *Writer) sample(weigh *weigher, stack []int32, weight int64) {
	if weigh.count > 0 {
		w.text(",")
	}
	weigh.count++
	weigh.end += weight
	w.text("[")
	for i, frame := range stack {
		if i > 0 {
			w.text(",")
		}
		w.number(int64(frame))
	}
	w.text("]")
}

// end writes the rest of a profile: the weights, in the order of the samples.
func (w *Writer) end(p *timeline.Profile, filter timeline.Filter, written *weigher) {
	w.text(`],"weights":[`)
	weigh, started, any := weigher{unit: written.unit}, false, false
	push := func(weight int64) {
		if weight <= 0 {
			return
		}
		if any {
			w.text(",")
		}
		any = true
		w.number(weight)
	}
	for _, s := range p.Selected(filter) {
		if !started {
			started, weigh.at = true, s.Time
		}
		gap, weight := weigh.next(s)
		push(gap)
		push(weight)
	}
	w.text(`],"endValue":`)
	w.number(written.end)
	w.text("}")
	if written.busy > w.activeBusy {
		w.active, w.activeBusy = w.count, written.busy
	}
	w.count++
}

// Close writes the end of the file.
func (w *Writer) Close() error {
	w.text(`],"activeProfileIndex":`)
	w.number(int64(w.active))
	w.text(`,"shared":{"frames":[`)
	for i, f := range w.list {
		if i > 0 {
			w.text(",")
		}
		w.json(f)
	}
	w.text("]}}\n")
	return w.out.Flush()
}

// weigher computes the weights of the samples of a thread and of the pauses before them.
type weigher struct {
	unit  string
	at    uint64 // end of the last sample
	end   int64  // of all weights
	busy  int64  // of samples with a stack that does not wait
	count int
}

// next returns the pause before a sample and the weight of the sample, which is 0 if two samples
// have the same time.
func (w *weigher) next(s *timeline.Sample) (gap, weight int64) {
	if w.unit == unitNanoseconds && s.Time > w.at {
		gap = int64(s.Time - w.at)
	}
	w.at = max(w.at, s.Time) + uint64(s.Weight)
	return gap, s.Weight
}

// stack returns the frames of a stack, root first.
func (w *Writer) stack(p *timeline.Profile, index timeline.StackIndex) []int32 {
	list := []int32{}
	for _, location := range p.Stacks[index] {
		for _, line := range p.Locations[location].Lines {
			f := p.Frames[line.Frame]
			list = append(list, w.frame(frame{f.Name, f.File, importer.Int(line.Line), importer.Int(line.Column)}))
		}
	}
	slices.Reverse(list)
	return list
}

func (w *Writer) frame(f frame) int32 {
	i, known := w.frames[f]
	if !known {
		i = int32(len(w.list))
		w.frames[f] = i
		w.list = append(w.list, f)
	}
	return i
}

func (w *Writer) text(text string) { _, w.err = w.out.WriteString(text) }

func (w *Writer) number(n int64) {
	_, w.err = w.out.Write(strconv.AppendInt(w.out.AvailableBuffer(), n, 10))
}

func (w *Writer) json(value any) {
	encoded, _ := json.Marshal(value) // cannot fail for texts and numbers
	_, w.err = w.out.Write(encoded)
}

// allSamples is the name of a profile of no thread.
const allSamples = "all samples"

func threadName(t timeline.Thread) string {
	switch {
	case t.ID == "":
		return allSamples
	case t.Name == "" || t.Name == t.ID:
		return "thread " + t.ID
	}
	return fmt.Sprintf("%s (thread %s)", t.Name, t.ID)
}

const unitNanoseconds = "nanoseconds"

// unit returns the speedscope name of a unit, or "none".
func unit(u string) string {
	switch u {
	case unitNanoseconds, "microseconds", "milliseconds", "seconds", "bytes":
		return u
	}
	return "none"
}
