// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"hash/maphash"
	"math"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

func (d *sampledDecoder) resetFrames() {
	clear(d.out.Frames)
	d.frameByHash = cleared(d.frameByHash)
	clear(d.frameTexts)
	d.out.Frames, d.frameOf = d.out.Frames[:0], d.frameOf[:0]
	d.frameTexts, d.sameHash, d.successors = d.frameTexts[:0], d.sameHash[:0], d.successors[:0]
}

// frames decodes the array "frames". It decodes each distinct text once.
func (d *sampledDecoder) frames() {
	d.resetFrames()
	if !d.expect('[', "frames") {
		return
	}
	d.Open('[')
	before := int32(absent)
	for n := 0; d.Element(&n); {
		frame := d.frameAfter(before)
		if frame == absent {
			frame = d.frame()
		}
		if before != absent && frame != absent {
			d.successors[before] = frame
		}
		d.frameOf = push(d, d.frameOf, frame)
		before = frame
	}
}

// frameAfter skips the next frame and returns its index if it is the one that last followed the
// frame `before`, because Node repeats runs of frames. A JSON object delimits itself, so equal
// bytes are the same object.
func (d *sampledDecoder) frameAfter(before int32) int32 {
	if before == absent {
		return absent
	}
	d.Peek()
	guess := d.successors[before]
	if guess == absent || !hasPrefixAt(d.Data, d.Pos, d.frameTexts[guess]) {
		return absent
	}
	d.Pos += len(d.frameTexts[guess])
	return guess
}

// frame decodes the next frame and returns its index in Frames.
func (d *sampledDecoder) frame() int32 {
	if !d.expect('{', "frames") {
		return absent
	}
	start := d.Pos
	frame := d.out.decodeFrame(&d.Scanner)
	if d.Err != nil {
		return absent
	}
	text := d.Data[start:d.Pos]
	hash := maphash.Bytes(frameSeed, text)
	first, seen := d.frameByHash[hash]
	if !seen {
		first = absent
	}
	for index := first; index != absent; index = d.sameHash[index] {
		if string(d.frameTexts[index]) == string(text) {
			return index
		}
	}
	index := int32(len(d.out.Frames))
	if index == sentry.MaxFrames {
		d.Stop(discard.Errorf(discard.ReasonTooManyFrames, "more than %d distinct frames", sentry.MaxFrames))
		return absent
	}
	d.out.Frames = push(d, d.out.Frames, frame)
	d.frameTexts = push(d, d.frameTexts, text)
	d.successors = push(d, d.successors, absent)
	d.sameHash = push(d, d.sameHash, first)
	if !d.reserve(mapEntryBytes) {
		return absent
	}
	d.frameByHash[hash] = index
	return index
}

var frameSeed = maphash.MakeSeed()

// decodeFrame decodes a frame.
func (out *Sampled) decodeFrame(s *jsonscan.Scanner) (f Frame) {
	s.Open('{')
	for n := 0; ; {
		key, ok := s.Member(&n)
		if !ok {
			return f
		}
		switch string(key) {
		case "function", "name":
			f.Function = out.frameText(s, "frames.function")
		case "module":
			f.Module = out.frameText(s, "frames.module")
		case "filename", "file":
			f.Filename = out.frameText(s, "frames.filename")
		case "abs_path":
			f.AbsPath = out.frameText(s, "frames.abs_path")
		case "package":
			f.Package = out.frameText(s, "frames.package")
		case "platform":
			f.Platform = out.frameText(s, "frames.platform")
		case "lineno", "line":
			f.Line = out.frameNumber(s, "frames.lineno")
		case "colno", "column":
			f.Column = out.frameNumber(s, "frames.colno")
		case "instruction_addr":
			f.InstructionAddr = out.frameAddress(s)
		case "in_app":
			f.InApp = out.frameInApp(s)
		default:
			s.Skip()
		}
	}
}

func (out *Sampled) frameText(s *jsonscan.Scanner, field string) string {
	switch s.Peek() {
	case '"':
		return jsonscan.View(s.Text())
	case 'n':
	default:
		out.addFlaw(field)
	}
	s.Skip()
	return ""
}

func (out *Sampled) frameNumber(s *jsonscan.Scanner, field string) uint32 {
	if s.Peek() == 'n' {
		s.Skip()
		return 0
	}
	text, quoted, ok := s.Scalar()
	value, isUint := jsonscan.ParseUint(text)
	usable := ok && isUint && value <= math.MaxUint32
	if quoted || !usable {
		out.addFlaw(field)
	}
	if !usable {
		return 0
	}
	return uint32(value)
}

func (out *Sampled) frameAddress(s *jsonscan.Scanner) uint64 {
	address := s.Address()
	if address.Bad {
		out.addFlaw("frames.instruction_addr")
	}
	return address.Value
}

func (out *Sampled) frameInApp(s *jsonscan.Scanner) InApp {
	switch c := s.Peek(); c {
	case 't', 'f':
		s.Skip()
		if c == 't' {
			return InAppTrue
		}
		return InAppFalse
	case 'n':
	default:
		out.addFlaw("frames.in_app")
	}
	s.Skip()
	return InAppAbsent
}
