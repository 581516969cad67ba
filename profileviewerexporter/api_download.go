// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"bytes"
	"io"
	"net/http"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/flame"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/pprofexport"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/speedscope"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
)

// file is a response that is to be saved. It is written once, compressed, while other responses wait, and then sent.
type file struct {
	name, contentType string
	compressed        bool // by itself
	limit             int64
	write             func(io.Writer) error
}

// maxDownload returns how many bytes a file made of messages may have before compression. Formats without shared stacks write a frame
// for each sample that has it: in our recordings the largest file has five times the bytes of its message.
func maxDownload(messages map[*message]bool) int64 {
	kept := 0
	for m := range messages {
		kept += len(m.otlp)
	}
	return 8<<20 + 128*int64(kept)
}

// download gives the samples of a selection as pprof or speedscope, or the whole message of a profile, or a trace, as OTLP JSON.
func (v *viewer) download(r *http.Request) (any, error) {
	format, query := r.PathValue("format"), r.URL.Query()
	if format == "otlp" && !query.Has("profile") {
		return v.downloadTrace(r)
	}
	s, err := v.selectionOf(query)
	if err != nil {
		return nil, err
	}
	messages := map[*message]bool{}
	for _, p := range s.profiles {
		messages[p.message] = true
	}
	out := file{name: "profile-" + nanos(s.profiles[0].id), contentType: "application/json", limit: maxDownload(messages)}
	switch format {
	case "otlp":
		out.name += ".otlp.json"
		out.write = s.profiles[0].writeOTLP
	case "pprof":
		out.name, out.contentType, out.compressed = out.name+".pb.gz", "application/octet-stream", true
		out.write = func(w io.Writer) error { return s.export(pprofexport.NewWriter(w)) }
	case "speedscope":
		out.name += ".speedscope.json"
		out.write = func(w io.Writer) error { return s.export(speedscope.NewWriter(w, s.title())) }
	default:
		return nil, failure{http.StatusNotFound, "there is no such format: otlp, pprof or speedscope"}
	}
	return out, nil
}

// fileWriter writes a file of another tool.
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

func (s *selection) title() string {
	title := s.profiles[0].service
	if s.profiles[0].name != "" {
		title += " " + s.profiles[0].name
	}
	return title
}

// writeOTLP writes the message that a profile came in; parts of it refer to each other.
func (p *profileSummary) writeOTLP(w io.Writer) error {
	message, err := (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(p.message.otlp)
	if err != nil {
		return err
	}
	content, err := (&pprofile.JSONMarshaler{}).MarshalProfiles(message)
	if err == nil {
		_, err = w.Write(content)
	}
	return err
}

// downloadTrace gives the spans of a trace.
func (v *viewer) downloadTrace(r *http.Request) (any, error) {
	id, err := parseTrace(r.URL.Query().Get("trace"))
	if err != nil {
		return nil, err
	}
	shares := v.store.sharesOf(id)
	if len(shares) == 0 {
		return nil, gone("the trace")
	}
	messages := map[*message]bool{}
	for _, k := range shares {
		messages[k.message] = true
	}
	return file{
		name: "trace-" + r.URL.Query().Get("trace")[:8] + ".otlp.json", contentType: "application/json", limit: maxDownload(messages),
		write: func(w io.Writer) error { return writeTrace(w, shares, id) },
	}, nil
}

// writeTrace writes the resources of one message after those of another: it decodes one at a time.
func writeTrace(w io.Writer, shares []kept, id pcommon.TraceID) error {
	const begin, end = `{"resourceSpans":[`, `]}`
	separator := begin
	err := eachMessage(shares, func(m *message) error {
		if m.signal != signalTraces {
			return nil
		}
		traces, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(m.otlp)
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
