// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"errors"
	"fmt"
	"regexp"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// What Frames does with the frames that match.
const (
	ActionKeep     = "keep"
	ActionDrop     = "drop"
	ActionCollapse = "collapse"
)

// Frames shortens stacks: it keeps only the frames that match, drops them, or makes one frame called Name of each run of
// them. A stack of which nothing is left becomes one frame called Name, as an empty stack would say that the thread was idle.
//
// It drops those frames, no samples: samples whose stacks became the same become one, with the observations of all. Calls
// that were inlined into one location are frames of their own here.
type Frames struct {
	Action string       `mapstructure:"action"`
	Match  []FrameMatch `mapstructure:"match"` // one of them suffices
	Name   string       `mapstructure:"name"`
}

// FrameMatch is a test for a frame: everything that is given must match. Patterns are regular expressions (RE2) that match
// anywhere in the text.
type FrameMatch struct {
	Module   *regexp.Regexp `mapstructure:"module"` // sentry.frame.module, else the file name of the mapping (the binary)
	Function *regexp.Regexp `mapstructure:"function"`
	File     *regexp.Regexp `mapstructure:"file"`   // absolute or relative path
	InApp    *bool          `mapstructure:"in_app"` // sentry.frame.in_app; false where the SDK does not say
}

// DefaultFrameName is the name of the frame that stands for others.
const DefaultFrameName = "(other)"

func (s *Frames) Validate() error {
	switch s.Action {
	case ActionKeep, ActionDrop, ActionCollapse:
	default:
		return fmt.Errorf("frames: action: %q is none of keep, drop and collapse", s.Action)
	}
	if s.Name == "" {
		return fmt.Errorf("frames: name: must not be empty; leave it out for %s", DefaultFrameName)
	}
	if len(s.Match) == 0 {
		return errors.New("frames: match: give at least one test, as in match: [{module: '^django'}]")
	}
	for i, match := range s.Match {
		if match == (FrameMatch{}) {
			return fmt.Errorf("frames: match[%d]: give at least one of module, function, file and in_app", i)
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

// reframer remembers what became of stacks and locations.
type reframer struct {
	*Frames
	*message
	other  dictionary.LocationIndex // stands for frames that are gone
	stacks map[int32]dictionary.StackIndex
	frames map[dictionary.LocationIndex][]dictionary.LocationIndex
	tests  *frameTests
	pieces int // frames of locations that were taken apart

	// The location at hand, and what its lines have in common.
	location dictionary.Location
	mapping  dictionary.Mapping
	module   answers
	relative answers // to its path; nil without one
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
		for _, k := range r.bounded(r.reframe(l)) {
			if k != r.other || len(kept) == 0 || kept[len(kept)-1] != r.other { // a run of them is one
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

// maxPieces bounds what taking locations apart adds to stacks. The largest recorded chunk has 165,623 frames, none of them
// inlined; a hostile stack can refer a million times to a location with a million lines.
const maxPieces = 1 << 20

// bounded leaves one frame of a location when too many were taken apart.
func (r *reframer) bounded(frames []dictionary.LocationIndex) []dictionary.LocationIndex {
	if len(frames) > 1 {
		if r.pieces += len(frames); r.pieces > maxPieces {
			return frames[:1]
		}
	}
	return frames
}

// reframe is what becomes of a location: itself, a part of it, nothing, or the frame that stands for others.
func (r *reframer) reframe(i dictionary.LocationIndex) []dictionary.LocationIndex {
	if frames, known := r.frames[i]; known {
		return frames
	}
	r.read(i)
	frames := r.lines(i)
	r.frames[i] = frames
	return frames
}

func (r *reframer) read(i dictionary.LocationIndex) {
	r.view.Location(i, &r.location)
	r.view.Mapping(r.location.Mapping, &r.mapping)
	r.module, r.relative, r.inApp = r.tests.binary.of(r.mapping.Filename), nil, false
	for _, index := range r.location.Attributes {
		switch a, _ := r.view.Attribute(index); a.Key {
		case semconv.SentryFrameModule:
			r.module = r.tests.module.of(index)
		case semconv.SentryFrameFilename:
			r.relative = r.tests.relative.of(index)
		case semconv.SentryFrameInApp:
			r.inApp = a.Value.Bool()
		}
	}
}

// maxRepeated bounds the attributes that the parts of a location repeat. A frame has five, and a call that was inlined thirty
// levels deep is rare; in a hostile location, both are a million.
const maxRepeated = 10_000

func (r *reframer) lines(i dictionary.LocationIndex) (frames []dictionary.LocationIndex) {
	lines := r.location.Lines
	switch {
	case len(lines) == 0: // only an address
		lines = []dictionary.Line{{}}
	case len(lines)*len(r.location.Attributes) > maxRepeated: // stays or goes as its first line does
		lines = lines[:1]
	}
	run := 0 // where a run of lines that stay begins
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
		if r.matches(line) == (r.Action == ActionKeep) {
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

// matches tests one line of the location at hand.
func (r *reframer) matches(line dictionary.Line) bool {
	function, _ := r.view.Function(line.Function)
	names, files := r.tests.function.of(function.Name), r.tests.file.of(function.Filename)
	for i, match := range r.Match {
		if names[i] && r.module[i] && (files[i] || r.relative != nil && r.relative[i]) &&
			(match.InApp == nil || *match.InApp == r.inApp) {
			return true
		}
	}
	return false
}
