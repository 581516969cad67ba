// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"cmp"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// maxListed is the maximum number of profiles, traces or services in a list. Longer lists are not
// useful; users select a service instead.
const maxListed = 200

// overviewAnswer lists the content of the store, newest first. Times are Unix nanoseconds as text,
// because they exceed JavaScript integers; durations are in nanoseconds.
type overviewAnswer struct {
	answer.Omissions
	Bytes        int64            `json:"bytes"`
	MaxBytes     int64            `json:"max_bytes"`
	MaxAge       float64          `json:"max_age"` // seconds
	Evicted      int64            `json:"evicted"`
	Dropped      int64            `json:"dropped"`
	Services     []serviceAnswer  `json:"services"`
	Profiles     []profileListing `json:"profiles"`
	Traces       []traceListing   `json:"traces"`
	ProfileCount int              `json:"profile_count"` // of all profiles of the requested service
	TraceCount   int              `json:"trace_count"`   // of all its traces
}

type serviceAnswer struct {
	Name     string `json:"name"`
	Profiles int    `json:"profiles"`
	Traces   int    `json:"traces"`
	Logs     int    `json:"logs"`
}

type profileListing struct {
	ID        string        `json:"id"`
	Service   string        `json:"service"`
	Name      string        `json:"name,omitempty"`
	ProfileID string        `json:"profile_id,omitempty"`
	Start     string        `json:"start"`
	Duration  uint64        `json:"duration"`
	Threads   int           `json:"threads"`
	Samples   int64         `json:"samples"`
	Weight    int64         `json:"weight"`
	Measure   measureAnswer `json:"measure"`
	Spans     int           `json:"spans"`            // with linked samples
	Traces    []string      `json:"traces,omitempty"` // names of the traces with the most samples
	Arrived   string        `json:"arrived"`
}

type measureAnswer struct {
	Type string `json:"type"`
	Unit string `json:"unit"`
}

type traceListing struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Services []string `json:"services"` // no more than 20
	Start    string   `json:"start"`
	Duration uint64   `json:"duration"`
	Spans    int      `json:"spans"`
	Errors   int      `json:"errors"`
	Logs     int      `json:"logs"`
	Profiles int      `json:"profiles"` // with samples of the trace
	Arrived  string   `json:"arrived"`
}

// overview lists the content of the store; the query may select a service.
func (v *viewer) overview(r *http.Request) (any, error) {
	stats := v.store.Stats()
	service := r.URL.Query().Get("service")
	profiles, traces, logs := v.store.All()
	out := overviewAnswer{
		Bytes: stats.Bytes, MaxBytes: v.cfg.MaxBytes, MaxAge: v.cfg.MaxAge.Seconds(), Evicted: stats.Evicted, Dropped: stats.Dropped,
		Profiles: []profileListing{}, Traces: []traceListing{},
	}
	services, names := services{}, v.store.TraceNames()
	entry := func() *answer.Budget { b := answer.PerEntry(answer.MaxTexts, 3*maxListed, &out.Omissions); return &b }
	for _, p := range profiles {
		services.of(p.Service).Profiles++
		if service == "" || service == p.Service {
			if out.ProfileCount++; out.ProfileCount <= maxListed {
				texts := entry()
				listing := listProfile(p, texts)
				for _, name := range names.Of(p) {
					listing.Traces = append(listing.Traces, texts.Text(name))
				}
				out.Profiles = append(out.Profiles, listing)
			}
		}
	}
	for _, fragments := range traces {
		trace := listTrace(store.Combine(fragments))
		if trace.Spans == 0 {
			continue // log records only
		}
		services.countTrace(fragments)
		if service == "" || slices.ContainsFunc(fragments, func(f *store.Fragment) bool { return f.Spans > 0 && f.Service == service }) {
			if out.TraceCount++; out.TraceCount <= maxListed {
				trace.Profiles = v.store.LinkedCount(fragments[0].Trace)
				trace.clip(entry())
				out.Traces = append(out.Traces, trace)
			}
		}
	}
	for _, m := range logs {
		for _, f := range m.Fragments {
			services.of(f.Service).Logs += f.Records
		}
	}
	out.Services = services.list()
	for i := range out.Services {
		out.Services[i].Name = entry().Text(out.Services[i].Name)
	}
	return out, nil
}

type services map[string]*serviceCount

type serviceCount struct {
	serviceAnswer
	lastTrace pcommon.TraceID // the last trace that was counted
}

func (s services) of(name string) *serviceCount {
	if s[name] == nil {
		s[name] = &serviceCount{serviceAnswer: serviceAnswer{Name: name}}
	}
	return s[name]
}

// countTrace counts a trace once for each service that has spans of it.
func (s services) countTrace(fragments []*store.Fragment) {
	for _, f := range fragments {
		if service := s.of(f.Service); f.Spans > 0 && service.lastTrace != f.Trace {
			service.lastTrace = f.Trace
			service.Traces++
		}
	}
}

// list returns the services by name. Because senders may invent names, it returns only the services
// with the most content if there are too many.
func (s services) list() []serviceAnswer {
	out := make([]serviceAnswer, 0, len(s))
	for _, service := range s {
		out = append(out, service.serviceAnswer)
	}
	slices.SortFunc(out, func(a, b serviceAnswer) int {
		return cmp.Or(cmp.Compare(b.Profiles+b.Traces+b.Logs, a.Profiles+a.Traces+a.Logs), cmp.Compare(a.Name, b.Name))
	})
	out = out[:min(len(out), maxListed)]
	slices.SortFunc(out, func(a, b serviceAnswer) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func listProfile(p *store.Profile, texts *answer.Budget) profileListing {
	return profileListing{
		ID: strconv.FormatUint(p.ID, 10), Service: texts.Text(p.Service), Name: texts.Text(p.Name), ProfileID: p.ProfileID,
		Start: answer.Nanos(p.Start), Duration: p.End - min(p.Start, p.End), Threads: p.Threads, Samples: p.Samples, Weight: p.Weight,
		Measure: listMeasure(p.Measure, texts), Spans: len(p.Spans), Arrived: p.Message.Arrived.UTC().Format(time.RFC3339Nano),
	}
}

func listMeasure(m timeline.Measure, texts *answer.Budget) measureAnswer {
	return measureAnswer{Type: texts.Text(m.Type), Unit: texts.Text(m.Unit)}
}

func (l *traceListing) clip(texts *answer.Budget) {
	l.Name = texts.Text(l.Name)
	for i := range l.Services {
		l.Services[i] = texts.Text(l.Services[i])
	}
}

func listTrace(t store.Trace) traceListing {
	return traceListing{
		ID: hex.EncodeToString(t.ID[:]), Name: t.Name, Services: t.Services, Start: answer.Nanos(t.Start), Duration: t.End - t.Start,
		Spans: t.Spans, Errors: t.Errors, Logs: t.Records, Arrived: t.Arrived.UTC().Format(time.RFC3339Nano),
	}
}
