// SPDX-License-Identifier: Apache-2.0

package exceptions

import (
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/stacktext"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/exception"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/proguard"
)

// texts returns the texts with names in the lines of the stack, and reports whether there are any.
func (w *writer) texts(s *source, t exception.Texts) (named exception.Texts, changed bool) {
	t.Stacktrace = stacktext.Rewrite(t.Stacktrace, stacktext.Rewriter{
		Frame: func(f stacktext.Frame) ([]stacktext.Frame, bool) {
			frames, ok := w.textFrame(s, f)
			changed = changed || ok
			return frames, ok
		},
		Type: func(name string) string {
			class, ok := w.class(s, name)
			if !ok {
				return name
			}
			changed = true
			return class
		},
	})
	if class, ok := w.class(s, t.Type); ok {
		t.Type, changed = class, true
	}
	return t, changed
}

func (w *writer) textFrame(s *source, f stacktext.Frame) (frames []stacktext.Frame, ok bool) {
	var found []symbols.Frame
	class := f.Module != ""
	switch {
	case class && s.mapping != "":
		found, ok = w.method(s, f)
	case !class && !f.Runtime && f.Line > 0 && symbolicate.IsScript(f.File):
		found = w.script(s, f.Function, f.File, int64(f.Line), int64(f.Column))
		ok = len(found) > 0
	}
	size := 0
	for _, at := range found[:min(len(found), exception.MaxNames)] {
		frame := stacktext.Frame{Function: at.Function, File: at.File, Line: uint32(at.Line), Column: uint32(at.Column)}
		if class {
			frame.Module, frame.Function = splitName(at.Function)
			frame.File = strings.ReplaceAll(frame.File, ")", "")
		}
		size += len(frame.Module) + len(frame.Function) + len(frame.File) + 32
		frames = append(frames, frame)
	}
	return frames, ok && w.spend(size)
}

// method looks up a frame of an obfuscated program. Outlines stay in the text, and their callers
// keep the line of the call: resolving them requires the whole stack, which only Sentry's frames
// provide.
func (w *writer) method(s *source, f stacktext.Frame) ([]symbols.Frame, bool) {
	mapping, status := w.files.Mapping(s.mapping)
	var found []symbols.Frame
	if status == symbols.OK {
		found, status = mapping.Lookup(nil, proguard.Place{Class: f.Module, Method: f.Function, Line: int64(f.Line)})
	}
	w.counts[status]++
	return found, len(found) > 0
}
