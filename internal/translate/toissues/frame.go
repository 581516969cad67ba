// SPDX-License-Identifier: Apache-2.0

package toissues

import (
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/stacktext"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// stacktrace returns the frames of an exception, or nil if it has none.
func (e *exception) stacktrace(frames []stacktext.Frame) *event.Stacktrace {
	frames = withoutRecorder(frames)
	if len(frames) == 0 {
		return nil
	}
	stack := &event.Stacktrace{Frames: make([]event.EventFrame, len(frames))}
	for i := range frames {
		stack.Frames[i] = e.eventFrame(&frames[i])
	}
	return stack
}

// withoutRecorder removes the frames of OpenTelemetry's Python SDK from the outer end: use_span is
// a context manager around application code, and its frames are absent in events of Sentry's SDK.
func withoutRecorder(frames []stacktext.Frame) []stacktext.Frame {
	for len(frames) > 1 && isRecorder(&frames[0]) {
		frames = frames[1:]
	}
	return frames
}

func isRecorder(f *stacktext.Frame) bool {
	file := strings.ReplaceAll(f.File, `\`, "/")
	return strings.Contains(file, "/opentelemetry/trace/") || strings.Contains(file, "/opentelemetry/sdk/") || file == "<frozen contextlib>" ||
		strings.HasSuffix(file, "/contextlib.py") && f.Function == "__exit__"
}

func (e *exception) eventFrame(f *stacktext.Frame) event.EventFrame {
	clip := func(text string) string { return attr.Clip(text, maxFrameText) }
	frame := event.EventFrame{
		Function: clip(f.Function), Module: clip(f.Module), Package: clip(f.Package), Line: f.Line, Column: f.Column,
		InstructionAddr: jsonscan.Address{Value: f.Address, Set: f.Address != 0}, ContextLine: clip(f.Source), InApp: e.inApp(f),
	}
	frame.AbsPath, frame.Filename = paths(f.File)
	if e.trace.Language == stacktext.Java && f.Runtime {
		frame.Native = jsonscan.Some(true)
	}
	if e.trace.Language == stacktext.JavaScript && frame.Function == "" {
		frame.Function = "?" // as in Sentry's SDKs
	}
	if frame.Function == "" && frame.Filename == "" && !frame.InstructionAddr.Set {
		frame.Function = "<unknown>"
	}
	return frame
}

// paths returns the path of a file, if it is absolute, and its name. As in Sentry's SDK for Python,
// the name is the path relative to the folder of the package manager or the standard library.
func paths(file string) (abs, name string) {
	file = attr.Clip(strings.TrimPrefix(file, "file://"), maxFrameText)
	name = file
	for _, folder := range []string{"/site-packages/", "/dist-packages/"} {
		if i := strings.LastIndex(file, folder); i >= 0 {
			name = file[i+len(folder):]
		}
	}
	if _, library, found := strings.Cut(name, "/lib/python"); found {
		_, name, _ = strings.Cut(library, "/")
	}
	if strings.HasPrefix(file, "/") || strings.Contains(file, "://") || len(file) > 2 && file[1] == ':' {
		return file, name
	}
	return "", name
}

// frameTypes maps languages to the frame types of profiles, which have the same rules.
var frameTypes = map[stacktext.Language]string{
	stacktext.DotNet: "dotnet", stacktext.Go: "go", stacktext.Ruby: "ruby", stacktext.Elixir: "beam",
}

// inApp reports whether a frame belongs to the application, by the rules of Sentry's SDK for the
// language. It is absent for Java, because the project's settings decide.
func (e *exception) inApp(f *stacktext.Frame) jsonscan.Optional[bool] {
	file := strings.ReplaceAll(f.File, `\`, "/")
	switch e.trace.Language {
	case stacktext.Java:
		return jsonscan.Optional[bool]{}
	case stacktext.Python:
		return jsonscan.Some(!containsAny(file, "/site-packages/", "/dist-packages/", "/lib/python", "/Lib/", "<frozen "))
	case stacktext.JavaScript:
		return jsonscan.Some(!f.Runtime && file != "" && !containsAny(file, "node_modules/", "-extension://"))
	case stacktext.PHP:
		return jsonscan.Some(!f.Runtime && !strings.Contains(file, "/vendor/"))
	case stacktext.Native:
		return jsonscan.Some(!isNativeLibrary(f, file))
	}
	if f.Runtime || f.File == "" && e.trace.Language == stacktext.Elixir {
		return jsonscan.Some(false)
	}
	p := profile.Frame{Function: f.Function, Module: f.Module, AbsPath: f.File, Package: f.Package}
	return jsonscan.Some(tosentry.InApp(&p, frameTypes[e.trace.Language]) == profile.InAppTrue && !isOTPApplication(f.Package))
}

// isOTPApplication reports whether an Elixir application is part of the language.
func isOTPApplication(name string) bool {
	switch name {
	case "elixir", "stdlib", "kernel", "logger", "mix", "iex", "ex_unit", "eex", "erts", "ssl", "crypto", "opentelemetry", "opentelemetry_api":
		return true
	}
	return false
}

func isNativeLibrary(f *stacktext.Frame, file string) bool {
	if f.Package != "" && containsAny(f.Package, ".so", "/lib/", ".dylib", ".dll") {
		return true
	}
	if containsAny(file, "/rustc/", "/.cargo/registry/", "/usr/local/cargo/registry/", "/usr/include/", "/rustlib/", "/csu/") {
		return true
	}
	name := strings.TrimLeft(f.Function, "<&")
	for _, prefix := range []string{"std::", "core::", "alloc::", "__libc", "_start", "rust_begin_unwind"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return f.Function == ""
}

func containsAny(text string, parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}
