// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"cmp"
	"fmt"
	"path"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/inapp"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/waiting"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// code resolves each location once.
type code struct {
	texts
	locations  map[dictionary.LocationIndex]LocationIndex
	frames     map[Frame]FrameIndex
	scratch    dictionary.Location
	attributes []dictionary.Attribute
	mapping    dictionary.Mapping
	raw        rawFrame
	useRaw     bool
	inApp      inapp.Memo
}

func (c *code) location(index dictionary.LocationIndex, out *Profile) (i LocationIndex, broken int) {
	if i, known := c.locations[index]; known {
		return i, 0
	}
	if !c.view.Location(index, &c.scratch) {
		broken++
	}
	location := Location{Address: c.scratch.Address, Source: index}
	var shared Frame
	frameType := ""
	c.attributes = c.attributes[:0]
	c.raw = rawFrame{}
	for _, a := range c.scratch.Attributes {
		attribute, _ := c.view.Attribute(a)
		c.raw.read(attribute, func() string { return c.value(a, attribute.Value) })
		switch {
		case attribute.Key == semconv.SentryFrameModule:
			shared.Module = c.value(a, attribute.Value)
		case attribute.Key == semconv.ProfileFrameType:
			frameType = c.value(a, attribute.Value)
		case attribute.Key == semconv.SentryFrameInApp && attribute.Value.Type() == pcommon.ValueTypeBool:
			shared.InApp = InAppNo
			if attribute.Value.Bool() {
				shared.InApp = InAppYes
			}
		}
	}
	shared.JVM = frameType == "jvm"
	out.Symbolicated = out.Symbolicated || c.raw.replaced
	lines := c.scratch.Lines
	if c.useRaw && c.raw.replaced {
		frame := c.rawFrame(shared)
		c.guess(&frame, frameType)
		location.Lines, lines = append(location.Lines, Line{c.intern(frame, out), c.raw.line, c.raw.column}), nil
	}
	for _, line := range lines {
		frame, ok := c.frame(line.Function, shared)
		if !ok {
			broken++
		}
		c.guess(&frame, frameType)
		if len(location.Lines) == 0 {
			location.Waiting = waiting.In(c.described(&frame, frameType))
		}
		location.Lines = append(location.Lines, Line{c.intern(frame, out), line.Line, line.Column})
	}
	if len(location.Lines) == 0 {
		shared.Name = c.addressName()
		c.guess(&shared, frameType)
		location.Lines, location.Unnamed = []Line{{Frame: c.intern(shared, out)}}, true
	}
	i = LocationIndex(len(out.Locations))
	c.locations[index] = i
	out.Locations = append(out.Locations, location)
	return i, broken
}

func (c *code) frame(index dictionary.FunctionIndex, frame Frame) (Frame, bool) {
	function, ok := c.view.Function(index)
	name, system, file := c.text(function.Name), c.text(function.SystemName), c.text(function.Filename)
	// Node.js and browsers state the name "" for anonymous functions: use the file instead.
	frame.Name = cmp.Or(name, system, anonymous(file), c.addressName())
	if system != frame.Name {
		frame.System = system
	}
	frame.File, frame.StartLine = file, function.StartLine
	frame.JVM = frame.JVM || isJVM(file)
	return frame, ok
}

// guess sets InApp if the profiler does not state it.
func (c *code) guess(frame *Frame, frameType string) {
	if frame.InApp != InAppUnknown {
		return
	}
	inApp, known := c.inApp.Guess(c.described(frame, frameType))
	if !known {
		return
	}
	frame.InApp, frame.Guessed = InAppNo, true
	if inApp {
		frame.InApp = InAppYes
	}
}

// described returns what the rules for functions read.
func (c *code) described(frame *Frame, frameType string) inapp.Frame {
	c.view.Mapping(c.scratch.Mapping, &c.mapping)
	return inapp.Frame{Type: frameType, Function: frame.Name, Module: frame.Module, File: frame.File, Package: c.text(c.mapping.Filename)}
}

func anonymous(file string) string {
	if file == "" {
		return ""
	}
	return "(anonymous in " + baseName(file) + ")"
}

// maxBase is the maximum length of a file name in the names of anonymous functions, of which a file
// may have many.
const maxBase = 200

func baseName(file string) string { return Clip(path.Base(file), maxBase) }

// addressName returns a name for native code without symbols: its binary and the offset in the file
// (https://github.com/google/pprof/blob/main/proto/profile.proto, Mapping.file_offset).
func (c *code) addressName() string {
	address := c.scratch.Address
	if address == 0 {
		return "(unknown)"
	}
	c.view.Mapping(c.scratch.Mapping, &c.mapping)
	if file := c.text(c.mapping.Filename); file != "" && address >= c.mapping.Start {
		return fmt.Sprintf("%s+0x%x", baseName(file), address-c.mapping.Start+c.mapping.FileOffset)
	}
	return "0x" + strconv.FormatUint(address, 16)
}

func (c *code) intern(frame Frame, out *Profile) FrameIndex {
	i, known := c.frames[frame]
	if !known {
		i = FrameIndex(len(out.Frames))
		c.frames[frame] = i
		out.Frames = append(out.Frames, frame)
	}
	return i
}
