// SPDX-License-Identifier: Apache-2.0

package event

import (
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Stacktrace contains the frames in wire order, callers before callees, so the last frame is the
// current one. Stacks of profiles have the opposite order. The frames of a hang that MetricKit
// reports are a tree (IsTree).
// https://develop.sentry.dev/sdk/data-model/event-payloads/stacktrace/
type Stacktrace struct {
	Frames []EventFrame
	Rest   []NamedValue
}

// Stacktraces is the table of Stacktrace.
var Stacktraces = newTable("stacktrace", func(s *Stacktrace) *[]NamedValue { return &s.Rest },
	list(KindFrames, "frames", Frames, func(s *Stacktrace) *[]EventFrame { return &s.Frames }, nil),
	carried[Stacktrace](KindObject, "registers"), // native crashes
	carried[Stacktrace](KindFlag, "snapshot"),    // java: of a thread that kept running
	carried[Stacktrace](KindText, "instruction_addr_adjustment"),
	carried[Stacktrace](KindText, "lang"),
)

// stacktrace is the stack trace of an exception, a thread or a message.
func stacktrace[T any](at func(*T) **Stacktrace) row[T] {
	r := pointer(KindStack, "stacktrace", Stacktraces, at)
	r.aliases = []string{"sentry.interfaces.Stacktrace"}
	return r
}

// EventFrame is one frame of an error event; frames of profiles have fewer fields.
type EventFrame struct {
	Function        string
	Module          string
	Filename        string
	AbsPath         string
	Package         string
	Platform        string
	InstructionAddr jsonscan.Address
	AddrMode        string // "abs", or "rel:N": relative to image N of debug_meta.images
	Line            uint32 // 0 = none
	Column          uint32 // 0 = none
	InApp           jsonscan.Optional[bool]
	Native          jsonscan.Optional[bool] // java: a native method
	PreContext,
	PostContext []string // source lines around
	ContextLine string
	ParentIndex jsonscan.Optional[int64] // of the caller, -1 = none; see IsTree
	SampleCount jsonscan.Optional[int64] // of a frame of a tree, with its callees
	Rest        []NamedValue
}

// Frames is the table of EventFrame.
var Frames = newTable("frame", func(f *EventFrame) *[]NamedValue { return &f.Rest },
	text("function", func(f *EventFrame) *string { return &f.Function }),
	carried[EventFrame](KindText, "raw_function"), // mangled name, if function is demangled
	carried[EventFrame](KindText, "symbol"),
	text("module", func(f *EventFrame) *string { return &f.Module }),
	text("filename", func(f *EventFrame) *string { return &f.Filename }),
	text("abs_path", func(f *EventFrame) *string { return &f.AbsPath }),
	carried[EventFrame](KindText, "file_revision"),
	position("lineno", func(f *EventFrame) *uint32 { return &f.Line }),
	position("colno", func(f *EventFrame) *uint32 { return &f.Column }),
	flag("in_app", func(f *EventFrame) *jsonscan.Optional[bool] { return &f.InApp }),
	flag("native", func(f *EventFrame) *jsonscan.Optional[bool] { return &f.Native }),
	text("package", func(f *EventFrame) *string { return &f.Package }),
	text("platform", func(f *EventFrame) *string { return &f.Platform }),
	address("instruction_addr", func(f *EventFrame) *jsonscan.Address { return &f.InstructionAddr }),
	text("addr_mode", func(f *EventFrame) *string { return &f.AddrMode }),
	carried[EventFrame](KindAddress, "function_id"), // .NET
	carried[EventFrame](KindAddress, "symbol_addr"),
	carried[EventFrame](KindAddress, "image_addr"),
	carried[EventFrame](KindText, "trust"), // of an unwinder: cfi, fp, scan
	carried[EventFrame](KindText, "lang"),
	carried[EventFrame](KindFlag, "stack_start"),
	integer("parent_index", func(f *EventFrame) *jsonscan.Optional[int64] { return &f.ParentIndex }),
	integer("sample_count", func(f *EventFrame) *jsonscan.Optional[int64] { return &f.SampleCount }),
	texts("pre_context", func(f *EventFrame) *[]string { return &f.PreContext }),
	text("context_line", func(f *EventFrame) *string { return &f.ContextLine }),
	texts("post_context", func(f *EventFrame) *[]string { return &f.PostContext }),
	carried[EventFrame](KindMembers, "vars"), // local variables: a list from PHP
	carried[EventFrame](KindObject, "lock"),  // Android's ANR events
	carried[EventFrame](KindObject, "data"),
)

// IsTree reports whether the first and the last frame have a parent_index: the frames are the nodes
// of a call tree, depth first, and parent_index is the position of the caller in the list
// (sentry-cocoa, SentryMXCallStackTree+Parsing.swift, for hangs).
func (s *Stacktrace) IsTree() bool {
	n := len(s.Frames)
	return n > 0 && s.Frames[0].ParentIndex.Set && s.Frames[n-1].ParentIndex.Set
}

// IsRelative reports whether an address mode makes addresses relative to an image, as .NET does
// ("rel:0"). Such an address means nothing without the image.
func IsRelative(addrMode string) bool { return strings.HasPrefix(addrMode, "rel") }
