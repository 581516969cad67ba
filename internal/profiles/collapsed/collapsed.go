// SPDX-License-Identifier: Apache-2.0

// Package collapsed reads and writes collapsed stacks, the input of flamegraph.pl: a line for each
// stack, with its frames root first and its weight.
//
//	main;handle;query 120
//
// Files, lines of code, threads, times, attributes and units are lost. Frames keep their names; ";"
// and line ends in them become "," and blanks.
package collapsed

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Writer writes one file.
type Writer struct {
	out     *bufio.Writer
	weights map[string]int64 // by stack
	frames  int              // of all stacks
}

// NewWriter returns the writer of a file.
func NewWriter(out io.Writer) *Writer {
	return &Writer{out: bufio.NewWriter(out), weights: map[string]int64{}}
}

// Add adds the weights of the selected samples of a profile to their stacks. Samples without a
// stack are lost.
func (w *Writer) Add(p *timeline.Profile, filter timeline.Filter) error {
	if err := p.CheckPositive(filter); err != nil { // flamegraph.pl skips such lines
		return err
	}
	weights := map[timeline.StackIndex]int64{}
	for _, s := range p.Selected(filter) {
		if s.Stack != 0 {
			weights[s.Stack] = dictionary.AddSaturated(weights[s.Stack], s.Weight)
		}
	}
	for stack, weight := range weights {
		text, frames := line(p, stack)
		if w.frames += frames; w.frames > timeline.MaxExportedFrames {
			return timeline.ErrTooLarge
		}
		w.weights[text] = dictionary.AddSaturated(w.weights[text], weight)
	}
	return nil
}

var unsafe = strings.NewReplacer(";", ",", "\n", " ", "\r", " ")

func line(p *timeline.Profile, stack timeline.StackIndex) (text string, frames int) {
	var names []string
	for _, location := range p.Stacks[stack] {
		for _, l := range p.Locations[location].Lines {
			names = append(names, unsafe.Replace(p.Frames[l.Frame].Name))
		}
	}
	slices.Reverse(names)
	return strings.Join(names, ";"), len(names)
}

// Close writes the file, in the order of the stacks. Weights of 0 are not written.
func (w *Writer) Close() error {
	stacks := make([]string, 0, len(w.weights))
	for stack, weight := range w.weights {
		if weight > 0 {
			stacks = append(stacks, stack)
		}
	}
	slices.Sort(stacks)
	for _, stack := range stacks {
		_, _ = w.out.WriteString(stack + " " + strconv.FormatInt(w.weights[stack], 10) + "\n")
	}
	return w.out.Flush() // returns the first error of all writes
}
