package translate

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/measure"
)

// What is kept of the structure of one exception. SDKs trim stacks; the longest recorded one has 43 frames, the most threads
// are 23.
const (
	maxExceptionUnits   = 64
	maxExceptionFrames  = 1000 // of all units and threads together
	maxExceptionThreads = 256
	maxExceptionImages  = 512
)

func exceptionRecord(r plog.LogRecord, e *measure.Event) {
	switch e.Exception.EffectiveSeverity() {
	case measure.SeverityFatal:
		r.SetEventName("app.crash")
		r.SetSeverityNumber(plog.SeverityNumberFatal)
		r.Attributes().PutStr("app.crash.id", e.ID.String())
	case measure.SeverityUnhandled:
		r.SetEventName("exception")
		r.SetSeverityNumber(plog.SeverityNumberError)
	default:
		r.SetEventName("exception")
		r.SetSeverityNumber(plog.SeverityNumberWarn)
	}
	putMeasureException(r, e, e.Exception)
	r.Attributes().PutStr("measure.exception.severity", e.Exception.EffectiveSeverity())
}

func anrRecord(r plog.LogRecord, e *measure.Event) {
	r.SetEventName("measure.anr")
	r.SetSeverityNumber(plog.SeverityNumberError)
	putMeasureException(r, e, e.ANR)
}

func putMeasureException(r plog.LogRecord, e *measure.Event, x *measure.Exception) {
	attrs, framework, data := r.Attributes(), x.EffectiveFramework(), x.Data()
	var first measure.ExceptionUnit
	if len(x.Exceptions) > 0 {
		first = x.Exceptions[0]
	}
	kind, message := firstText(first.Type, data.Code, first.Signal), first.Message
	if message == "" && data.Code != "" {
		message = strings.TrimSpace(data.Code + " " + intText(data.NumCode))
	}
	putText(attrs, "exception.type", kind)
	putText(attrs, "exception.message", message)
	putText(attrs, "exception.stacktrace", measureStacktrace(x.Exceptions, framework))
	if title := strings.TrimSuffix(kind+": "+message, ": "); title != "" {
		r.Body().SetStr(title)
	}
	putText(attrs, keyThreadName, firstText(first.ThreadName, e.Attribute.ThreadName))
	putText(attrs, keyOSBuild, first.OSBuildNumber)

	attrs.PutStr("measure.exception.framework", framework)
	flagOf(x.Foreground).put(attrs, "measure.exception.foreground")
	putTrue(attrs, "measure.exception.is_custom", x.IsCustom)
	putMeasureInt(attrs, "measure.exception.num_code", data.NumCode)
	putText(attrs, "measure.exception.code", data.Code)
	putRaw(attrs, "measure.exception.meta", data.Meta)
	putText(attrs, "measure.exception.signal", first.Signal)
	putMeasureInt(attrs, "measure.exception.thread_sequence", first.ThreadSequence)

	s := exceptionStructure{frames: maxExceptionFrames}
	s.units(attrs, x.Exceptions)
	s.threads(attrs, x.Threads)
	s.images(attrs, x.BinaryImages)
	if s.dropped > 0 {
		attrs.PutInt("measure.exception.parts_dropped", s.dropped)
	}
}

// exceptionStructure writes stacks as nested values under their original names: symbolication needs them.
type exceptionStructure struct {
	frames  int   // that may still be written
	dropped int64 // units, frames, threads and images that were too many
}

func (s *exceptionStructure) cut(n, most int) int {
	if n > most {
		s.dropped += int64(n - most)
		return most
	}
	return n
}

func (s *exceptionStructure) units(attrs pcommon.Map, units []measure.ExceptionUnit) {
	n := s.cut(len(units), maxExceptionUnits)
	if n == 0 {
		return
	}
	list := attrs.PutEmptySlice("measure.exception.units")
	list.EnsureCapacity(n)
	for i := range units[:n] {
		m := list.AppendEmpty().SetEmptyMap()
		putText(m, "type", units[i].Type)
		putText(m, "message", units[i].Message)
		putText(m, "signal", units[i].Signal)
		putText(m, "thread_name", units[i].ThreadName)
		putMeasureInt(m, "thread_sequence", units[i].ThreadSequence)
		putText(m, "os_build_number", units[i].OSBuildNumber)
		s.stack(m, units[i].Frames)
	}
}

func (s *exceptionStructure) threads(attrs pcommon.Map, threads []measure.Thread) {
	n := s.cut(len(threads), maxExceptionThreads)
	if n == 0 {
		return
	}
	list := attrs.PutEmptySlice("measure.exception.threads")
	list.EnsureCapacity(n)
	for i := range threads[:n] {
		m := list.AppendEmpty().SetEmptyMap()
		putText(m, "name", threads[i].Name)
		putMeasureInt(m, "sequence", threads[i].Sequence)
		s.stack(m, threads[i].Frames)
	}
}

func (s *exceptionStructure) stack(m pcommon.Map, frames []measure.Frame) {
	n := s.cut(len(frames), s.frames)
	s.frames -= n
	if n == 0 {
		return
	}
	list := m.PutEmptySlice("frames")
	list.EnsureCapacity(n)
	for i := range frames[:n] {
		f, m := &frames[i], list.AppendEmpty().SetEmptyMap()
		putText(m, "class_name", f.ClassName)
		putText(m, "method_name", f.MethodName)
		putText(m, "module_name", f.ModuleName)
		putText(m, "file_name", f.FileName)
		putMeasureInt(m, "line_num", f.Line)
		putMeasureInt(m, "col_num", f.Column)
		flagOf(f.InApp).put(m, "in_app")
		putText(m, "instruction_address", f.InstructionAddress)
		putMeasureInt(m, "frame_index", f.FrameIndex)
		putText(m, "binary_name", f.BinaryName)
		putText(m, "binary_address", f.BinaryAddress)
		putText(m, "symbol_address", f.SymbolAddress)
		putMeasureInt(m, "offset", f.Offset)
	}
}

func (s *exceptionStructure) images(attrs pcommon.Map, images []measure.BinaryImage) {
	n := s.cut(len(images), maxExceptionImages)
	if n == 0 {
		return
	}
	list := attrs.PutEmptySlice("measure.exception.binary_images")
	list.EnsureCapacity(n)
	for i := range images[:n] {
		image, m := &images[i], list.AppendEmpty().SetEmptyMap()
		putText(m, "start_addr", image.StartAddr)
		putText(m, "end_addr", image.EndAddr)
		putText(m, "base_addr", image.BaseAddr)
		flagOf(image.System).put(m, "system")
		putText(m, "name", image.Name)
		putText(m, "arch", image.Arch)
		putText(m, "uuid", image.UUID)
		putText(m, "path", image.Path)
	}
}
