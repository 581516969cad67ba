package profileviewerexporter

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/flame"
	"github.com/otelcol-sentry/otelcol-sentry/internal/pprofexport"
	"github.com/otelcol-sentry/otelcol-sentry/internal/speedscope"
	"github.com/otelcol-sentry/otelcol-sentry/internal/timeline"
)

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
	name := "profile-" + nanos(s.profiles[0].id)
	switch format {
	case "otlp":
		return downloadProfile(s.profiles[0], name)
	case "pprof", "speedscope":
	default:
		return nil, failure{http.StatusNotFound, "there is no such format: otlp, pprof or speedscope"}
	}
	var out file
	err = s.with(func(list []flame.Selection) (err error) {
		profiles := make([]*timeline.Profile, 0, len(list))
		filters := map[*timeline.Profile]timeline.Filter{}
		for _, part := range list {
			profiles = append(profiles, part.Profile)
			filters[part.Profile] = part.Filter
		}
		filter := func(p *timeline.Profile) timeline.Filter { return filters[p] }
		if format == "pprof" {
			out, err = downloadPprof(name, profiles, filter)
		} else {
			out, err = downloadSpeedscope(s, name, profiles, filter)
		}
		return err
	})
	return out, err
}

func downloadPprof(name string, profiles []*timeline.Profile, filter func(*timeline.Profile) timeline.Filter) (file, error) {
	p, err := pprofexport.Export(profiles, filter)
	if err != nil {
		return file{}, err
	}
	var b bytes.Buffer
	err = p.Write(&b)
	return file{name + ".pb.gz", "application/octet-stream", b.Bytes()}, err
}

func downloadSpeedscope(s *selection, name string, profiles []*timeline.Profile, filter func(*timeline.Profile) timeline.Filter) (file, error) {
	title := s.profiles[0].service
	if s.profiles[0].name != "" {
		title += " " + s.profiles[0].name
	}
	f, err := speedscope.Export(title, profiles, filter)
	if err != nil {
		return file{}, err
	}
	content, err := json.Marshal(f)
	return file{name + ".speedscope.json", "application/json", content}, err
}

// downloadProfile gives the message that a profile came in; parts of it refer to each other.
func downloadProfile(p *profileSummary, name string) (file, error) {
	message, err := (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(p.message.otlp)
	if err != nil {
		return file{}, err
	}
	content, err := (&pprofile.JSONMarshaler{}).MarshalProfiles(message)
	return file{name + ".otlp.json", "application/json", content}, err
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
	all := ptrace.NewTraces()
	err = eachMessage(shares, func(m *message) error {
		if m.signal != signalTraces {
			return nil
		}
		traces, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(m.otlp)
		if err == nil {
			traces.ResourceSpans().MoveAndAppendTo(all.ResourceSpans())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	all.ResourceSpans().RemoveIf(func(resource ptrace.ResourceSpans) bool {
		resource.ScopeSpans().RemoveIf(func(scope ptrace.ScopeSpans) bool {
			scope.Spans().RemoveIf(func(span ptrace.Span) bool { return span.TraceID() != id })
			return scope.Spans().Len() == 0
		})
		return resource.ScopeSpans().Len() == 0
	})
	content, err := (&ptrace.JSONMarshaler{}).MarshalTraces(all)
	return file{"trace-" + r.URL.Query().Get("trace")[:8] + ".otlp.json", "application/json", slices.Clip(content)}, err
}
