// SPDX-License-Identifier: Apache-2.0

package toissues

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/stacktext"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/exception"
)

// parsed is an exception with its parsed stack.
type parsed struct {
	exception.Texts // of the thrown exception
	platform        string
	trace           stacktext.Trace
	unparsed        string // text of the stack, if it has no frames
	kind            string // type and position: see Event.Kind
	failure         string // equal for all records of one failure in one trace
}

// stackLanguages maps platforms to languages.
var stackLanguages = map[string]stacktext.Language{
	"python": stacktext.Python, "java": stacktext.Java, "android": stacktext.Java, "javascript": stacktext.JavaScript, "node": stacktext.JavaScript,
	"csharp": stacktext.DotNet, "go": stacktext.Go, "ruby": stacktext.Ruby, "php": stacktext.PHP, "native": stacktext.Native,
	"rust": stacktext.Native, "elixir": stacktext.Elixir,
}

func newException(attrs pcommon.Map, platform string) *parsed {
	e := &parsed{Texts: exception.ReadReported(attrs), platform: platform} // Sentry does its own symbolication
	trace, ok := stacktext.Parse(e.Stacktrace, stackLanguages[platform])
	if !ok {
		e.unparsed = e.Stacktrace
	} else {
		e.trace = trace
		e.takeHeadline()
	}
	if e.platform == "" || e.platform == otherPlatform {
		e.platform = attr.FirstText(exception.Platforms[trace.Language], otherPlatform)
	}
	e.kind = e.identify()
	e.failure = e.kind
	if e.platform == "go" && e.Message != "" {
		// Go's errors have no stack: each span records the stack of its own call, and log records
		// have none. For a wrapped error, spans state the type of the wrapper, and log records the
		// type inside.
		e.failure = attr.HashID("go", e.Message)
	}
	return e
}

const otherPlatform = "other"

// takeHeadline sets type and message from the text if the record has none. In logs, Python's SDK
// records only the first argument of an exception as its message. The text has the message that
// Sentry's SDK sends.
func (e *parsed) takeHeadline() {
	thrown := &e.trace.Exceptions[0]
	if e.Type == "" {
		e.Type = thrown.Type
	}
	if strings.ReplaceAll(thrown.Type, "$", ".") == e.Type { // spans of Java's SDK have canonical names: Shop.Error instead of Shop$Error
		e.Type = thrown.Type
	}
	sameType := lastComponent(e.Type) == lastComponent(thrown.Type)
	python := e.trace.Language == stacktext.Python && !strings.HasPrefix(thrown.Message, e.Message+"\n") // otherwise, the additional lines are notes
	if e.Message == "" && sameType || python && sameType && thrown.Message != "" {
		e.Message = thrown.Message
	}
}

// identify returns a text that is equal for all records of an exception: the last component of its
// type, and its innermost frame or, without frames, its message.
func (e *parsed) identify() string {
	parts := []string{lastComponent(e.Type)}
	if len(e.trace.Exceptions) > 0 && len(e.trace.Exceptions[0].Frames) > 0 {
		frames := e.trace.Exceptions[0].Frames
		f := frames[len(frames)-1]
		parts = append(parts, f.Module, f.Function, f.File, strconv.FormatUint(uint64(f.Line), 10))
	} else {
		parts = append(parts, e.Message, e.unparsed)
	}
	return attr.HashID(parts...)
}

// lastComponent returns PaymentError for shop.payment.PaymentError, Shop::PaymentError and
// Shop\PaymentError.
func lastComponent(name string) string {
	return name[strings.LastIndexAny(name, `.:\`)+1:]
}

// chain returns the exceptions in Sentry's order: the oldest cause first, the thrown one last.
func (e *parsed) chain(handled jsonscan.Optional[bool]) []event.Exception {
	thrown := event.Exception{Mechanism: &event.Mechanism{Type: "otel", Handled: handled}}
	thrown.Type, thrown.Module = e.splitType(e.Type)
	thrown.Value = attr.Clip(e.Message, maxValue)
	parsed := e.trace.Exceptions
	if len(parsed) == 0 {
		return []event.Exception{thrown}
	}
	thrown.Stacktrace = e.stacktrace(parsed[0].Frames)
	chain := make([]event.Exception, len(parsed))
	chain[len(parsed)-1] = thrown
	for i := 1; i < len(parsed); i++ {
		p := &parsed[i]
		c := event.Exception{Value: attr.Clip(p.Message, maxValue), Stacktrace: e.stacktrace(p.Frames)}
		if c.Type, c.Module = e.splitType(p.Type); strings.TrimSpace(c.Type+c.Value) == "" {
			c.Type = unknownType
		}
		c.Mechanism = &event.Mechanism{Type: "chained", Source: e.source(p.Relation), ParentID: jsonscan.Some(int64(p.Parent))}
		chain[len(parsed)-1-i] = c
	}
	if len(parsed) > 1 {
		for i := range chain {
			chain[i].Mechanism.ExceptionID = jsonscan.Some(int64(len(parsed) - 1 - i))
		}
	}
	for _, p := range parsed {
		if p.Relation == stacktext.Member {
			chain[len(parsed)-1-p.Parent].Mechanism.Group = jsonscan.Some(true)
		}
	}
	return chain
}

// unknownType is the type of a cause with neither type nor message, which Sentry rejects.
const unknownType = "<unknown>"

// source returns the member of the parent that contains an exception, as named in its language.
func (e *parsed) source(relation stacktext.Relation) string {
	switch {
	case relation == stacktext.Context:
		return "__context__"
	case relation == stacktext.Suppressed:
		return "suppressed"
	case relation == stacktext.Member && e.trace.Language == stacktext.DotNet:
		return "InnerExceptions"
	case relation == stacktext.Member:
		return "exceptions"
	case e.trace.Language == stacktext.Python:
		return "__cause__"
	case e.trace.Language == stacktext.DotNet:
		return "InnerException"
	case e.trace.Language == stacktext.PHP:
		return "previous"
	}
	return "cause"
}

// splitType splits the module off a type, as Sentry's SDKs for Python and Java do.
func (e *parsed) splitType(name string) (kind, module string) {
	name = attr.Clip(name, maxFrameText)
	if e.platform == "python" || e.platform == "java" || e.platform == "android" {
		if dot := strings.LastIndexByte(name, '.'); dot > 0 && dot < len(name)-1 {
			return name[dot+1:], name[:dot]
		}
	}
	return name, ""
}

// stacktrace returns the frames of an exception, or nil if it has none.
func (e *parsed) stacktrace(frames []stacktext.Frame) *event.Stacktrace {
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

func (e *parsed) eventFrame(f *stacktext.Frame) event.EventFrame {
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

// inApp reports whether a frame belongs to the application. It is absent for Java, because the
// project's settings decide.
func (e *parsed) inApp(f *stacktext.Frame) jsonscan.Optional[bool] {
	if e.trace.Language == stacktext.Java {
		return jsonscan.Optional[bool]{}
	}
	own, _ := exception.InApp(e.trace.Language, f)
	return jsonscan.Some(own)
}
