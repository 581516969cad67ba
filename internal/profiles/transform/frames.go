// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"errors"
	"fmt"
	"regexp"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Values of Frames.Action.
const (
	ActionKeep     = "keep"
	ActionDrop     = "drop"
	ActionCollapse = "collapse"
)

// Frames shortens stacks: it keeps only matching frames, drops them, or replaces each run of them
// with one frame called Name. A stack that would become empty gets one frame called Name, because
// an empty stack means that the thread was idle.
//
// It drops frames, but no samples; samples whose stacks become equal are merged. Inlined calls of
// one location are separate frames.
type Frames struct {
	Action string       `mapstructure:"action"`
	Match  []FrameMatch `mapstructure:"match"` // a frame matches if one of them does
	Name   string       `mapstructure:"name"`
}

// FrameMatch is a test for a frame. All conditions that are set must match. Patterns are regular
// expressions (RE2) that match anywhere in the text.
type FrameMatch struct {
	Module   *regexp.Regexp `mapstructure:"module"` // sentry.frame.module, else the file name of the binary (the mapping)
	Function *regexp.Regexp `mapstructure:"function"`
	File     *regexp.Regexp `mapstructure:"file"`   // absolute or relative path
	InApp    *bool          `mapstructure:"in_app"` // sentry.frame.in_app; false if the SDK does not state it
}

// DefaultFrameName is the default name of replacement frames.
const DefaultFrameName = "(other)"

func (s *Frames) Validate() error {
	switch s.Action {
	case ActionKeep, ActionDrop, ActionCollapse:
	default:
		return fmt.Errorf("frames: action: is %q, must be keep, drop or collapse", s.Action)
	}
	if s.Name == "" {
		return fmt.Errorf("frames: name: must not be empty; omit it for %s", DefaultFrameName)
	}
	if len(s.Match) == 0 {
		return errors.New("frames: match: must have at least one test, e.g. match: [{module: '^django'}]")
	}
	for i, match := range s.Match {
		if match == (FrameMatch{}) {
			return fmt.Errorf("frames: match[%d]: set at least one of module, function, file and in_app", i)
		}
	}
	return nil
}

func (s *Frames) apply(m *message) {
	r := &reframer{Frames: s, message: m, stacks: map[int32]dictionary.StackIndex{}, frames: map[dictionary.LocationIndex][]dictionary.LocationIndex{}}
	r.other = m.edit.Location(dictionary.Location{Lines: []dictionary.Line{
		{Function: m.edit.Function(dictionary.Function{Name: m.edit.String(s.Name)})},
	}})
	r.tests = newFrameTests(m, s.Match)
	m.each(func(_ pcommon.Resource, profile pprofile.Profile) {
		for _, sample := range profile.Samples().All() {
			if i := sample.StackIndex(); i != 0 {
				sample.SetStackIndex(int32(r.stack(i)))
			}
		}
	})
}

// reframer caches the results for stacks and locations.
type reframer struct {
	*Frames
	*message
	other    dictionary.LocationIndex // the replacement frame
	stacks   map[int32]dictionary.StackIndex
	frames   map[dictionary.LocationIndex][]dictionary.LocationIndex
	tests    *frameTests
	expanded int // number of frames from split locations

	// The current location, and the data that its lines share.
	location dictionary.Location
	mapping  dictionary.Mapping
	module   matches
	relative matches // results for its relative path; nil if it has none
	inApp    bool
}

func (r *reframer) stack(i int32) dictionary.StackIndex {
	if stack, known := r.stacks[i]; known {
		return stack
	}
	locations, _ := r.view.Stack(dictionary.StackIndex(i), nil)
	if len(locations) == 0 {
		return 0
	}
	var kept []dictionary.LocationIndex
	for _, l := range locations {
		for _, k := range r.limitExpansion(r.framesOf(l)) {
			if k != r.other || len(kept) == 0 || kept[len(kept)-1] != r.other { // merge runs of replacement frames
				kept = append(kept, k)
			}
		}
	}
	if len(kept) == 0 {
		kept = append(kept, r.other)
	}
	r.stacks[i] = r.edit.Stack(kept)
	return r.stacks[i]
}

// maxExpanded bounds the frames that split locations add to stacks. The largest recorded chunk has
// 165,623 frames, none of them inlined; a hostile stack can refer a million times to a location
// with a million lines.
const maxExpanded = 1 << 20

// limitExpansion keeps only one frame of a location once maxExpanded is reached.
func (r *reframer) limitExpansion(frames []dictionary.LocationIndex) []dictionary.LocationIndex {
	if len(frames) > 1 {
		if r.expanded += len(frames); r.expanded > maxExpanded {
			return frames[:1]
		}
	}
	return frames
}

// framesOf returns the frames that replace a location: the location itself, a part of it, nothing,
// or the replacement frame.
func (r *reframer) framesOf(i dictionary.LocationIndex) []dictionary.LocationIndex {
	if frames, known := r.frames[i]; known {
		return frames
	}
	r.readLocation(i)
	frames := r.splitLines(i)
	r.frames[i] = frames
	return frames
}

func (r *reframer) readLocation(i dictionary.LocationIndex) {
	r.view.Location(i, &r.location)
	r.view.Mapping(r.location.Mapping, &r.mapping)
	r.module, r.relative, r.inApp = r.tests.binary.matchesOf(r.mapping.Filename), nil, false
	for _, index := range r.location.Attributes {
		switch a, _ := r.view.Attribute(index); a.Key {
		case semconv.SentryFrameModule:
			r.module = r.tests.module.matchesOf(index)
		case semconv.SentryFrameFilename:
			r.relative = r.tests.relative.matchesOf(index)
		case semconv.SentryFrameInApp:
			r.inApp = a.Value.Bool()
		}
	}
}

// maxRepeated bounds the attributes that the parts of a location repeat. A frame has five
// attributes, and thirty levels of inlining are rare; a hostile location can have a million of
// each.
const maxRepeated = 10_000

func (r *reframer) splitLines(i dictionary.LocationIndex) (frames []dictionary.LocationIndex) {
	lines := r.location.Lines
	switch {
	case len(lines) == 0: // it has only an address
		lines = []dictionary.Line{{}}
	case len(lines)*len(r.location.Attributes) > maxRepeated: // keep or drop it according to its first line
		lines = lines[:1]
	}
	run := 0 // the start of a run of lines that stay
	stay := func(end int) {
		switch {
		case run == 0 && end == len(lines):
			frames = append(frames, i)
		case run < end:
			part := r.location
			part.Lines = lines[run:end]
			frames = append(frames, r.edit.Location(part))
		}
	}
	for k, line := range lines {
		if r.isMatch(line) == (r.Action == ActionKeep) {
			continue
		}
		stay(k)
		run = k + 1
		if r.Action == ActionCollapse {
			frames = append(frames, r.other)
		}
	}
	stay(len(lines))
	return frames
}

// isMatch reports whether a line of the current location matches.
func (r *reframer) isMatch(line dictionary.Line) bool {
	function, _ := r.view.Function(line.Function)
	names, files := r.tests.function.matchesOf(function.Name), r.tests.file.matchesOf(function.Filename)
	for i, match := range r.Match {
		if names[i] && r.module[i] && (files[i] || r.relative != nil && r.relative[i]) &&
			(match.InApp == nil || *match.InApp == r.inApp) {
			return true
		}
	}
	return false
}
