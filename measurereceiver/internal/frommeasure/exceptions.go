// SPDX-License-Identifier: Apache-2.0

package frommeasure

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
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
	attr.PutText(attrs, semconv.ExceptionType, kind)
	attr.PutText(attrs, semconv.ExceptionMessage, message)
	attr.PutText(attrs, semconv.ExceptionStacktrace, stacktraceText(x.Exceptions, framework))
	if title := strings.TrimSuffix(kind+": "+message, ": "); title != "" {
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

	s := exceptionStructure{frames: maxExceptionFrames}
	s.units(attrs, x.Exceptions)
	s.threads(attrs, x.Threads)
	s.images(attrs, x.BinaryImages)
	if s.dropped > 0 {
		attrs.PutInt(semconv.MeasureExceptionPartsDropped, s.dropped)
	}
}

// exceptionStructure writes stacks as nested values with their original names, which symbolication
// needs.
type exceptionStructure struct {
	frames  int   // number that may still be written
	dropped int64 // units, frames, threads and images above the limits
}

func (s *exceptionStructure) clamp(n, limit int) int {
	if n > limit {
		s.dropped += int64(n - limit)
		return limit
	}
	return n
}

func (s *exceptionStructure) units(attrs pcommon.Map, units []measure.ExceptionUnit) {
	n := s.clamp(len(units), maxExceptionUnits)
	if n == 0 {
		return
	}
	list := attrs.PutEmptySlice(semconv.MeasureExceptionUnits)
	list.EnsureCapacity(n)
	for i := range units[:n] {
		m := list.AppendEmpty().SetEmptyMap()
		attr.PutText(m, "type", units[i].Type)
		attr.PutText(m, "message", units[i].Message)
		attr.PutText(m, "signal", units[i].Signal)
		attr.PutText(m, "thread_name", units[i].ThreadName)
		putInt(m, "thread_sequence", units[i].ThreadSequence)
		attr.PutText(m, "os_build_number", units[i].OSBuildNumber)
		s.stack(m, units[i].Frames)
	}
}

func (s *exceptionStructure) threads(attrs pcommon.Map, threads []measure.Thread) {
	n := s.clamp(len(threads), maxExceptionThreads)
	if n == 0 {
		return
	}
	list := attrs.PutEmptySlice(semconv.MeasureExceptionThreads)
	list.EnsureCapacity(n)
	for i := range threads[:n] {
		m := list.AppendEmpty().SetEmptyMap()
		attr.PutText(m, "name", threads[i].Name)
		putInt(m, "sequence", threads[i].Sequence)
		s.stack(m, threads[i].Frames)
	}
}

func (s *exceptionStructure) stack(m pcommon.Map, frames []measure.Frame) {
	n := s.clamp(len(frames), s.frames)
	s.frames -= n
	if n == 0 {
		return
	}
	list := m.PutEmptySlice("frames")
	list.EnsureCapacity(n)
	for i := range frames[:n] {
		f, m := &frames[i], list.AppendEmpty().SetEmptyMap()
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
}

func (s *exceptionStructure) images(attrs pcommon.Map, images []measure.BinaryImage) {
	n := s.clamp(len(images), maxExceptionImages)
	if n == 0 {
		return
	}
	list := attrs.PutEmptySlice(semconv.MeasureExceptionBinaryImages)
	list.EnsureCapacity(n)
	for i := range images[:n] {
		image, m := &images[i], list.AppendEmpty().SetEmptyMap()
		attr.PutText(m, "start_addr", image.StartAddr)
		attr.PutText(m, "end_addr", image.EndAddr)
		attr.PutText(m, "base_addr", image.BaseAddr)
		flagOf(image.System).put(m, "system")
		attr.PutText(m, "name", image.Name)
		attr.PutText(m, "arch", image.Arch)
		attr.PutText(m, "uuid", image.UUID)
		attr.PutText(m, "path", image.Path)
	}
}
