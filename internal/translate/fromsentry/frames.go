// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"slices"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// frameTranslator translates each frame and stack that samples refer to once. In browser chunks,
// nine of ten stacks are unused.
type frameTranslator struct {
	b         *dictionary.Builder
	images    *imageMap
	frames    []profile.Frame
	locations []dictionary.LocationIndex // by frame; 0 = not translated yet, or an empty frame

	platform  string // of the profile
	frameType string // of frames without their own platform
	tagged    bool   // addresses contain pointer authentication codes

	// Scratch memory; the builder copies the content.
	lines [1]dictionary.Line
	attrs []dictionary.AttributeIndex
}

func newFrameTranslator(b *dictionary.Builder, images *imageMap, frames []profile.Frame, platform string) *frameTranslator {
	b.Grow(dictionary.Hints{Functions: len(frames) / 2, Locations: len(frames)})
	return &frameTranslator{
		b: b, images: images, frames: frames, platform: platform, frameType: attr.Platforms[platform].FrameType,
		locations: make([]dictionary.LocationIndex, len(frames)),
	}
}

// profileFrames returns the translator for a V1 profile, which states its architecture and runtime.
func profileFrames(b *dictionary.Builder, images *imageMap, p *profile.Profile) *frameTranslator {
	t := newFrameTranslator(b, images, p.Frames, p.Platform)
	t.tagged = p.Platform == "cocoa" && strings.HasPrefix(deref(p.Device.Architecture), "arm64")
	if p.Runtime.Name == attr.HermesFrameType {
		t.frameType = attr.HermesFrameType
	}
	return t
}

// untranslated marks a stack that no sample has referred to yet.
const untranslated = -1

func (t *frameTranslator) stacks(s *profile.Sampled) []dictionary.StackIndex {
	stacks := slices.Repeat([]dictionary.StackIndex{untranslated}, s.Stacks.Len())
	var locations []dictionary.LocationIndex
	for _, stack := range s.Samples.Stack {
		if stacks[stack] != untranslated {
			continue
		}
		locations = slices.Grow(locations[:0], len(s.Stacks.At(stack)))
		for _, frame := range s.Stacks.At(stack) {
			location := t.locations[frame]
			if location == 0 {
				location = t.translate(&t.frames[frame])
				t.locations[frame] = location
			}
			locations = append(locations, location)
		}
		stacks[stack] = t.b.Stack(locations)
	}
	return stacks
}

func (t *frameTranslator) translate(f *profile.Frame) dictionary.LocationIndex {
	location := dictionary.Location{Address: f.InstructionAddr}
	if f.InstructionAddr != 0 {
		location.Mapping, location.Address = t.images.find(f.InstructionAddr, t.tagged)
	}
	function := t.b.Function(dictionary.Function{Name: t.b.String(f.Function), Filename: t.b.String(functionFile(f))})
	line := dictionary.Line{Function: function, Line: int64(f.Line), Column: int64(f.Column)}
	if line != (dictionary.Line{}) {
		t.lines[0] = line
		location.Lines = t.lines[:]
	}
	location.Attributes = t.attributes(f, location.Address)
	return t.b.Location(location)
}

// functionFile returns the best path of the file: the absolute path if the SDK sends it. An
// attribute keeps the other path, so that tosentry can restore both:
//
//	sent                     Function.filename   attribute
//	filename and abs_path    abs_path            sentry.frame.filename = filename
//	abs_path only            abs_path            sentry.frame.abs_path = abs_path
//	filename only            filename            none
func functionFile(f *profile.Frame) string { return attr.FirstText(f.AbsPath, f.Filename) }

func (t *frameTranslator) attributes(f *profile.Frame, address uint64) []dictionary.AttributeIndex {
	list := attributeList{b: t.b, indices: t.attrs[:0]}
	if f.Platform != "" && f.Platform != t.platform {
		list.text(semconv.ProfileFrameType, attr.Platforms[f.Platform].FrameType)
	} else {
		list.text(semconv.ProfileFrameType, t.frameType)
	}
	list.text(semconv.SentryFramePlatform, f.Platform)
	list.text(semconv.SentryFrameModule, f.Module)
	list.text(semconv.SentryFramePackage, f.Package)
	switch {
	case f.AbsPath != "" && f.Filename != "":
		list.text(semconv.SentryFrameFilename, f.Filename)
	case f.AbsPath != "":
		list.text(semconv.SentryFrameAbsPath, f.AbsPath)
	}
	if f.InApp != profile.InAppAbsent {
		list.add(semconv.SentryFrameInApp, dictionary.BoolValue(f.InApp == profile.InAppTrue), "")
	}
	if address != f.InstructionAddr {
		list.text(semconv.SentryFrameInstructionAddr, attr.AddressText(f.InstructionAddr))
	}
	t.attrs = list.indices
	return list.indices
}
