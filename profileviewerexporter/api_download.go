// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/collapsed"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/firefox"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/pprof"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/speedscope"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/flame"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/otlpjson"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// file is a response that the browser saves. It is first built in memory, in compressed form, while
// other responses wait, and then sent.
type file struct {
	name, contentType string
	compressed        bool // the format is compressed
	limit             int64
	write             func(io.Writer) error
}

// maxDownload returns the maximum size, before compression, of a file that contains messages.
// Formats without shared stacks repeat frames for each sample. In our recordings, the largest file
// is five times as large as its message.
func maxDownload(messages map[*store.Message]bool) int64 {
	encoded := 0
	for m := range messages {
		encoded += m.EncodedSize()
	}
	return 8<<20 + 128*int64(encoded)
}

// download returns the samples of a selection in the format of another tool, or the spans of a
// trace as OTLP JSON.
func (v *viewer) download(r *http.Request) (any, error) {
	format, query := r.PathValue("format"), r.URL.Query()
	if format == "otlp" && query.Has("trace") && !query.Has("span") {
		return v.downloadTrace(r)
	}
	s, err := v.selectionOf(query)
	if err != nil {
		return nil, err
	}
	messages := map[*store.Message]bool{}
	for _, p := range s.profiles {
		messages[p.Message] = true
	}
	out := file{name: v.fileName(s), contentType: "application/json", limit: maxDownload(messages)}
	switch format {
	case "otlp":
		out.name += ".otlp.json"
		out.write = func(w io.Writer) error { return s.export(otlpFile{otlpjson.NewWriter(w), s}) }
	case "pprof":
		out.name, out.contentType, out.compressed = out.name+".pb.gz", "application/octet-stream", true
		out.write = func(w io.Writer) error { return s.export(pprof.NewWriter(w)) }
	case "speedscope":
		out.name += ".speedscope.json"
		out.write = func(w io.Writer) error { return s.export(speedscope.NewWriter(w, s.title())) }
	case "collapsed":
		out.name, out.contentType = out.name+".collapsed.txt", "text/plain; charset=utf-8"
		out.write = func(w io.Writer) error { return s.export(collapsed.NewWriter(w)) }
	case "firefox":
		out.name += ".firefox.json"
		out.write = func(w io.Writer) error { return s.export(firefox.NewWriter(w, s.title())) }
	default:
		return nil, failure{status: http.StatusNotFound, text: fmt.Sprintf("format: %q is unknown, must be collapsed, firefox, otlp, pprof or speedscope", answer.Display(format))}
	}
	return out, nil
}

// fileWriter writes a file in the format of another tool.
type fileWriter interface {
	Add(*timeline.Profile, timeline.Filter) error
	Close() error
}

func (s *selection) export(to fileWriter) error {
	err := s.each(func(one flame.Selection) error { return to.Add(one.Profile, one.Filter) })
	if err != nil {
		return err
	}
	return to.Close()
}

// fileName returns a name for a file with a selection: the service, what ran, and when.
func (v *viewer) fileName(s *selection) string {
	first := s.profiles[0]
	what := first.Name
	switch {
	case s.operation != nil:
		what = s.operation.name
	case s.link != nil:
		what = v.storedSpans([]timeline.Link{*s.link})[*s.link].name
	case len(s.profiles) > 1:
		what = "merged"
	case what == "":
		if traces := v.store.TraceNames().Of(first); len(traces) > 0 {
			what = traces[0]
		}
	}
	return nameOfFile(first.Service, what, s.origin)
}

// maxNamePart is the maximum length of each part of the name of a file. File systems allow 255
// bytes in all.
const maxNamePart = 60

// nameOfFile returns parts of a name and a time in letters that all file systems allow.
func nameOfFile(service, what string, at uint64) string {
	var parts []string
	for _, text := range []string{service, what, time.Unix(0, int64(at)).UTC().Format("20060102T150405")} {
		words := strings.FieldsFunc(text, func(r rune) bool {
			return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '.' && r != '_'
		})
		part := strings.Join(words, "-")
		if part = strings.Trim(part[:min(len(part), maxNamePart)], "-._"); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "-")
}

func (s *selection) title() string {
	title := s.profiles[0].Service
	if s.profiles[0].Name != "" {
		title += " " + s.profiles[0].Name
	}
	return title
}

// otlpFile is a file that also has the resources of the profiles.
type otlpFile struct {
	*otlpjson.Writer
	of *selection
}

// Add implements fileWriter.
func (f otlpFile) Add(p *timeline.Profile, filter timeline.Filter) error {
	at := f.of.decoded.summary.Position
	resource := f.of.decoded.content.ResourceProfiles().At(at.Resource)
	return f.Writer.Add(resource, resource.ScopeProfiles().At(at.Scope), p, filter)
}

// downloadTrace returns the spans of a trace.
func (v *viewer) downloadTrace(r *http.Request) (any, error) {
	id, err := parseTrace(r.URL.Query().Get("trace"))
	if err != nil {
		return nil, err
	}
	fragments := v.store.Trace(id)
	if len(fragments) == 0 {
		return nil, gone("the trace")
	}
	messages := map[*store.Message]bool{}
	for _, f := range fragments {
		messages[f.Message] = true
	}
	trace := store.Combine(fragments)
	return file{
		name: nameOfFile(strings.Join(trace.Services[:min(1, len(trace.Services))], ""), trace.Name, trace.Start) + ".otlp.json", contentType: "application/json", limit: maxDownload(messages),
		write: func(w io.Writer) error { return writeTrace(w, fragments, id) },
	}, nil
}

// writeTrace writes the resources of all messages of a trace. It decodes one message at a time.
func writeTrace(w io.Writer, fragments []*store.Fragment, id pcommon.TraceID) error {
	const begin, end = `{"resourceSpans":[`, `]}`
	separator := begin
	err := store.EachMessage(fragments, store.Traces, func(m *store.Message) error {
		traces, err := m.DecodeTraces()
		if err != nil {
			return err
		}
		removeOthers(traces, id)
		content, err := (&ptrace.JSONMarshaler{}).MarshalTraces(traces)
		if err != nil {
			return err
		}
		inner := bytes.TrimSuffix(bytes.TrimPrefix(content, []byte(begin)), []byte(end))
		if _, err = io.WriteString(w, separator); err == nil {
			_, err = w.Write(inner)
		}
		separator = ","
		return err
	})
	if err != nil {
		return err
	}
	if separator == begin { // log records only
		_, err = io.WriteString(w, begin)
	}
	if err == nil {
		_, err = io.WriteString(w, end)
	}
	return err
}

// removeOthers removes the spans of other traces.
func removeOthers(traces ptrace.Traces, id pcommon.TraceID) {
	traces.ResourceSpans().RemoveIf(func(resource ptrace.ResourceSpans) bool {
		resource.ScopeSpans().RemoveIf(func(scope ptrace.ScopeSpans) bool {
			scope.Spans().RemoveIf(func(span ptrace.Span) bool { return span.TraceID() != id })
			return scope.Spans().Len() == 0
		})
		return resource.ScopeSpans().Len() == 0
	})
}
