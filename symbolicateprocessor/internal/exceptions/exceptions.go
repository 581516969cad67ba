// SPDX-License-Identifier: Apache-2.0

package exceptions

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/allowance"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/exception"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
)

// Logs finds names for the exceptions of log records.
func Logs(logs plog.Logs, files symbolicate.Files) symbolicate.Write {
	w := newWriter(files, func() int { return new(plog.ProtoMarshaler).LogsSize(logs) })
	for _, resource := range logs.ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			for _, record := range scope.LogRecords().All() {
				w.exception(resource.Resource().Attributes(), record.Attributes())
			}
		}
	}
	return w.write
}

// Traces finds names for the exceptions of span events.
func Traces(traces ptrace.Traces, files symbolicate.Files) symbolicate.Write {
	w := newWriter(files, func() int { return new(ptrace.ProtoMarshaler).TracesSize(traces) })
	for _, resource := range traces.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			for _, span := range scope.Spans().All() {
				for _, event := range span.Events().All() {
					w.exception(resource.Resource().Attributes(), event.Attributes())
				}
			}
		}
	}
	return w.write
}

// writer writes names into one message.
type writer struct {
	files    symbolicate.Files
	counts   symbolicate.Counts
	names    allowance.Allowance
	elements allowance.Allowance // of lists: see exception.Limits
	changes  []func()            // of the message
}

// fewElements may be read of any message. Large events have as many.
const fewElements = 10_000

// newWriter returns the writer of a message with a size in bytes.
func newWriter(files symbolicate.Files, size func() int) *writer {
	return &writer{
		files: files, counts: symbolicate.Counts{}, names: attr.Copies(size),
		elements: allowance.Lazily(fewElements*exception.ElementBytes, 1, size),
	}
}

// write changes the message.
func (w *writer) write() symbolicate.Counts {
	for _, change := range w.changes {
		change()
	}
	return w.counts
}

// source identifies the symbol files of an exception.
type source struct {
	platform string
	release  string
	debugIDs map[string]string // of scripts, by URL or path
	mapping  string            // UUID of the ProGuard mapping
	images   []symbolicate.Image
}

func (w *writer) exception(resource, attrs pcommon.Map) {
	texts, lists := exception.Read(attrs), exception.HasLists(attrs)
	if !lists && texts.Stacktrace == "" {
		return
	}
	if _, done := attrs.Get(semconv.SymbolicationStatus); done {
		return
	}
	s := sourceOf(resource, attrs)
	changed := false
	if lists {
		texts, changed = w.lists(s, attrs)
	} else {
		texts, changed = w.texts(s, texts)
	}
	if changed {
		w.changes = append(w.changes, func() {
			attrs.PutStr(semconv.SymbolicationStatus, string(symbols.OK))
			texts.Symbolicate(attrs)
		})
	}
}

func sourceOf(resource, attrs pcommon.Map) *source {
	s := &source{platform: attr.TextOf(resource, semconv.SentryPlatform), release: symbolicate.Release(resource)}
	s.mapping = attr.FirstText(attr.TextOf(attrs, semconv.AppDebugProguardUUID), symbolicate.MappingOf(resource))
	if images, ok := attrs.Get(semconv.SentryDebugMetaImages); ok {
		s.debugIDs = symbolicate.DebugIDs(images)
		s.mapping = attr.FirstText(symbolicate.MappingID(images), s.mapping)
		s.images = symbolicate.Images(images)
	}
	return s
}

// spend reports whether this many more bytes may be written. If not, it counts a frame as over the
// limit.
func (w *writer) spend(bytes int) bool {
	ok := w.names.Spend(bytes)
	if !ok {
		w.counts[symbols.Limit]++
	}
	return ok
}

// native looks up an address. Only the address of an innermost frame is that of the instruction;
// others are return addresses.
func (w *writer) native(s *source, raw string, address uint64, innermost bool) []symbols.Frame {
	image := symbolicate.ImageAt(s.images, address)
	if image == nil || !image.Unresolved(raw) {
		return nil
	}
	table, status := w.files.Native(image.ID)
	var found []symbols.Frame
	if status == symbols.OK {
		use := native.Caller
		if innermost {
			use = native.Leaf
		}
		found, status = image.Lookup(table, address, use)
	}
	w.counts[status]++
	return found
}

// script looks up a position in generated JavaScript.
func (w *writer) script(s *source, raw, url string, line, column int64) []symbols.Frame {
	file, status := w.files.Script(symbolicate.ScriptID{DebugID: s.debugIDs[url], URL: url, Release: s.release})
	var found []symbols.Frame
	if status == symbols.OK {
		found, status = file.Call(nil, raw, line, column)
	}
	w.counts[status]++
	if len(found) == 1 && found[0].Function == "" {
		found[0].Function = raw
	}
	return found
}
