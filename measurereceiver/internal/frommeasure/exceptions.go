// SPDX-License-Identifier: Apache-2.0

package frommeasure

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/exception"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

// Limits of the structured form of an exception. SDKs trim stacks; the longest recorded stack has
// 43 frames, and the largest number of threads is 23.
const (
	maxExceptionUnits   = 64
	maxExceptionFrames  = 1000 // of all units and threads together
	maxExceptionThreads = 256
	maxExceptionImages  = 512
)

func exceptionRecord(r plog.LogRecord, e *measure.Event) {
	switch e.Exception.EffectiveSeverity() {
	case measure.SeverityFatal:
		r.SetEventName(semconv.EventAppCrash)
		r.SetSeverityNumber(plog.SeverityNumberFatal)
		r.Attributes().PutStr(semconv.AppCrashID, e.ID.String())
	case measure.SeverityUnhandled:
		r.SetEventName("exception")
		r.SetSeverityNumber(plog.SeverityNumberError)
	default:
		r.SetEventName("exception")
		r.SetSeverityNumber(plog.SeverityNumberWarn)
	}
	putException(r, e, e.Exception)
	r.Attributes().PutStr(semconv.MeasureExceptionSeverity, e.Exception.EffectiveSeverity())
}

func anrRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName(semconv.EventMeasureANR)
	r.SetSeverityNumber(plog.SeverityNumberError)
	putException(r, e, e.ANR)
}

func putException(r plog.LogRecord, e *measure.Event, x *measure.Exception) {
	attrs, framework, data := r.Attributes(), x.EffectiveFramework(), x.Data()
	var first measure.ExceptionUnit
	if len(x.Exceptions) > 0 {
		first = x.Exceptions[0]
	}
	kind, message := attr.FirstText(first.Type, data.Code, first.Signal), first.Message
	if message == "" && data.Code != "" {
		message = strings.TrimSpace(data.Code + " " + intText(data.NumCode))
	}
	texts := exception.Texts{Type: kind, Message: message, Stacktrace: stacktraceText(x.Exceptions, framework)}
	texts.Put(attrs)
	if title := texts.Headline(); title != "" {
		r.Body().SetStr(title)
	}
	attr.PutText(attrs, semconv.ThreadName, attr.FirstText(first.ThreadName, e.Attribute.ThreadName))
	attr.PutText(attrs, semconv.OSBuildID, first.OSBuildNumber)

	attrs.PutStr(semconv.MeasureExceptionFramework, framework)
	flagOf(x.Foreground).put(attrs, semconv.MeasureExceptionForeground)
	putTrue(attrs, semconv.MeasureExceptionIsCustom, x.IsCustom)
	putInt(attrs, semconv.MeasureExceptionNumCode, data.NumCode)
	attr.PutText(attrs, semconv.MeasureExceptionCode, data.Code)
	attr.PutRaw(attrs, semconv.MeasureExceptionMeta, data.Meta)
	attr.PutText(attrs, semconv.MeasureExceptionSignal, first.Signal)
	putInt(attrs, semconv.MeasureExceptionThreadSequence, first.ThreadSequence)

	s := parts{frames: maxExceptionFrames}
	putParts(&s, attrs, semconv.MeasureExceptionUnits, x.Exceptions, maxExceptionUnits, s.unit)
	putParts(&s, attrs, semconv.MeasureExceptionThreads, x.Threads, maxExceptionThreads, s.thread)
	putParts(&s, attrs, semconv.MeasureExceptionBinaryImages, x.BinaryImages, maxExceptionImages, putImage)
	if s.dropped > 0 {
		attrs.PutInt(semconv.MeasureExceptionPartsDropped, s.dropped)
	}
}

// parts writes stacks as nested values with their original names, which symbolication needs.
type parts struct {
	frames  int   // number that may still be written
	dropped int64 // units, frames, threads and images above the limits
}

// putParts writes a list of at most limit parts, and returns their number.
func putParts[T any](s *parts, in pcommon.Map, key string, all []T, limit int, put func(pcommon.Map, *T)) int {
	n := min(len(all), limit)
	s.dropped += int64(len(all) - n)
	if n == 0 {
		return 0
	}
	list := in.PutEmptySlice(key)
	list.EnsureCapacity(n)
	for i := range all[:n] {
		put(list.AppendEmpty().SetEmptyMap(), &all[i])
	}
	return n
}

func (s *parts) unit(m pcommon.Map, unit *measure.ExceptionUnit) {
	attr.PutText(m, "type", unit.Type)
	attr.PutText(m, "message", unit.Message)
	attr.PutText(m, "signal", unit.Signal)
	attr.PutText(m, "thread_name", unit.ThreadName)
	putInt(m, "thread_sequence", unit.ThreadSequence)
	attr.PutText(m, "os_build_number", unit.OSBuildNumber)
	s.stack(m, unit.Frames)
}

func (s *parts) thread(m pcommon.Map, thread *measure.Thread) {
	attr.PutText(m, "name", thread.Name)
	putInt(m, "sequence", thread.Sequence)
	s.stack(m, thread.Frames)
}

func (s *parts) stack(m pcommon.Map, frames []measure.Frame) {
	s.frames -= putParts(s, m, "frames", frames, s.frames, putFrame)
}

func putFrame(m pcommon.Map, f *measure.Frame) {
	attr.PutText(m, "class_name", f.ClassName)
	attr.PutText(m, "method_name", f.MethodName)
	attr.PutText(m, "module_name", f.ModuleName)
	attr.PutText(m, "file_name", f.FileName)
	putInt(m, "line_num", f.Line)
	putInt(m, "col_num", f.Column)
	flagOf(f.InApp).put(m, "in_app")
	attr.PutText(m, "instruction_address", f.InstructionAddress)
	putInt(m, "frame_index", f.FrameIndex)
	attr.PutText(m, "binary_name", f.BinaryName)
	attr.PutText(m, "binary_address", f.BinaryAddress)
	attr.PutText(m, "symbol_address", f.SymbolAddress)
	putInt(m, "offset", f.Offset)
}

func putImage(m pcommon.Map, image *measure.BinaryImage) {
	attr.PutText(m, "start_addr", image.StartAddr)
	attr.PutText(m, "end_addr", image.EndAddr)
	attr.PutText(m, "base_addr", image.BaseAddr)
	flagOf(image.System).put(m, "system")
	attr.PutText(m, "name", image.Name)
	attr.PutText(m, "arch", image.Arch)
	attr.PutText(m, "uuid", image.UUID)
	attr.PutText(m, "path", image.Path)
}
