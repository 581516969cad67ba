// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Profile is the display form of one OTLP profile. It refers to its message, which must not change.
type Profile struct {
	Measure Measure
	Start   uint64 // Unix nanoseconds
	End     uint64 // exclusive; 0 for profiles without times

	Threads   []Thread // in order of their first sample
	Links     []Link   // entry 0: no span
	Stacks    []Stack  // entry 0: no stack, the thread was idle
	Locations []Location
	Frames    []Frame

	// Broken is the number of references that point outside their tables. Their targets are
	// omitted.
	Broken int

	// Symbolicated reports that frames have names from symbol files; see [Reader.Raw].
	Symbolicated bool

	wall bool // it measures wall-clock time

	// View and OTLP give access to attributes and mappings.
	View dictionary.View
	OTLP pprofile.Profile
}

// Measure states what weights measure.
type Measure struct {
	Type string // for instance wall, cpu, alloc_space
	Unit string // for instance nanoseconds, bytes, count
}

// Indices into the tables of a Profile.
type (
	StackIndex    int32
	LocationIndex int32
	FrameIndex    int32
	LinkIndex     int32
	ThreadIndex   int32
)

// Thread is one thread and its samples.
type Thread struct {
	ID   string // text of thread.id; empty if samples state no thread
	Name string
	// Samples are in chronological order.
	Samples []Sample
}

// Sample is one observation, or one total.
type Sample struct {
	Time   uint64 // Unix nanoseconds; 0: unknown
	Weight int64  // in the profile's Unit
	Count  int64  // observations
	Stack  StackIndex
	Link   LinkIndex
	// Source is the index of the OTLP sample in the profile, for its attributes.
	Source int32
}

// Link is the span that was running.
type Link struct {
	Trace pcommon.TraceID
	Span  pcommon.SpanID
}

// Stack is a list of locations, leaf first.
type Stack []LocationIndex

// Location is a location in the code. If it has several lines, all but the last are inlined, and
// each is the caller of the one before it.
type Location struct {
	Lines   []Line
	Unnamed bool // the profiler states no function: the only line is named after the address
	Waiting bool // a thread waits in the first line; see package waiting
	Address uint64
	Source  dictionary.LocationIndex
}

// Line is a line of a function.
type Line struct {
	Frame        FrameIndex
	Line, Column int64 // from 1; 0: unknown
}

// Frame is a function. Frames are comparable: equal frames are the same function.
type Frame struct {
	Name      string // never empty
	System    string // the linker name, if it differs
	File      string
	StartLine int64
	Module    string
	InApp     InApp
	Guessed   bool // the profiler does not state InApp
	JVM       bool // it is a method of a class, and Module is the class
}

// InApp states whether code belongs to the application or to a library.
type InApp int8

// The values of InApp.
const (
	InAppUnknown InApp = iota
	InAppYes
	InAppNo
)

// Range is a half-open range of Unix nanoseconds. The zero value is everything.
type Range struct{ From, To uint64 }

// Contains reports whether a time is in the range. Only the zero range contains unknown times.
func (r Range) Contains(t uint64) bool { return r == Range{} || t >= r.From && t < r.end() }

func (r Range) end() uint64 {
	if r.To == 0 {
		return math.MaxUint64
	}
	return r.To
}

// Filter selects samples. The zero value selects all.
type Filter struct {
	Thread *ThreadIndex
	Link   *Link
	Range  Range
	Active bool            // see Profile.Active
	Spans  func(Link) bool // of the samples with a span; nil: with any span or none
}

// Selected returns the samples that the filter selects.
func (p *Profile) Selected(f Filter) func(yield func(ThreadIndex, *Sample) bool) {
	return func(yield func(ThreadIndex, *Sample) bool) {
		first, end := ThreadIndex(0), ThreadIndex(len(p.Threads))
		if f.Thread != nil {
			if *f.Thread < 0 || *f.Thread >= end {
				return
			}
			first, end = *f.Thread, *f.Thread+1
		}
		for t := first; t < end; t++ {
			samples := p.Threads[t].Samples
			for i := range samples {
				s := &samples[i]
				if f.Link != nil && p.Links[s.Link] != *f.Link || !f.Range.Contains(s.Time) {
					continue
				}
				if f.Active && !p.Active(s) {
					continue
				}
				if f.Spans != nil && (s.Link == 0 || !f.Spans(p.Links[s.Link])) {
					continue
				}
				if !yield(t, s) {
					return
				}
			}
		}
	}
}

// Waits reports whether a stack ends in a function in which a thread waits. Idle threads have no
// stack, and profiles of other measures than wall-clock time no waiting threads.
func (p *Profile) Waits(stack StackIndex) bool {
	s := p.Stacks[stack]
	return p.wall && len(s) > 0 && p.Locations[s[0]].Waiting
}

// Active reports whether the thread of a sample works, or waits as a part of a span.
func (p *Profile) Active(s *Sample) bool { return p.Links[s.Link] != (Link{}) || !p.Waits(s.Stack) }

// CheckPositive returns ErrNegative if a selected sample has a negative weight.
func (p *Profile) CheckPositive(f Filter) error {
	for _, s := range p.Selected(f) {
		if s.Weight < 0 {
			return ErrNegative
		}
	}
	return nil
}

// FindThread returns the thread with an ID.
func (p *Profile) FindThread(id string) (ThreadIndex, bool) {
	for i := range p.Threads {
		if p.Threads[i].ID == id {
			return ThreadIndex(i), true
		}
	}
	return 0, false
}
