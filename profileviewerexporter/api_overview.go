// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
)

const (
	// maxListed is how many profiles, traces and services a list has; nobody reads further, and a service narrows it.
	maxListed = 200
	// maxServicesNamed of one trace.
	maxServicesNamed = 20
)

// overviewAnswer is what is kept, the newest first. Times are Unix nanoseconds in text, since numbers of JavaScript do not hold
// them; durations are nanoseconds.
type overviewAnswer struct {
	omissions
	Tag      string           `json:"-"`
	Bytes    int64            `json:"bytes"`
	MaxBytes int64            `json:"max_bytes"`
	MaxAge   float64          `json:"max_age"` // seconds
	Evicted  int64            `json:"evicted"`
	Dropped  int64            `json:"dropped"`
	Services []serviceAnswer  `json:"services"`
	Profiles []profileListing `json:"profiles"`
	Traces   []traceListing   `json:"traces"`
	// How many there are in all, of the service that was asked for.
	ProfileCount int `json:"profile_count"`
	TraceCount   int `json:"trace_count"`
}

func (a overviewAnswer) etag() string { return a.Tag }

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
	Spans     int           `json:"spans"`            // that samples are linked to
	Traces    []string      `json:"traces,omitempty"` // names of those with the most samples
	Arrived   string        `json:"arrived"`
}

type measureAnswer struct {
	Type string `json:"type"`
	Unit string `json:"unit"`
}

type traceListing struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Services []string `json:"services"` // the first of them
	Start    string   `json:"start"`
	Duration uint64   `json:"duration"`
	Spans    int      `json:"spans"`
	Errors   int      `json:"errors"`
	Logs     int      `json:"logs"`
	Profiles int      `json:"profiles"` // with samples of it
	Arrived  string   `json:"arrived"`
}

// overview lists what there is; the query may name a service.
func (v *viewer) overview(r *http.Request) (any, error) {
	use := v.store.use()
	service := r.URL.Query().Get("service")
	tag := fmt.Sprintf(`"%d-%d-%s"`, v.created.UnixNano(), use.Version, hex.EncodeToString([]byte(shorten(service))))
	if r.Header.Get("If-None-Match") == tag {
		return notModified{}, nil
	}
	profiles, traces, logs := v.store.all()
	out := overviewAnswer{
		Tag: tag, Bytes: use.Bytes, MaxBytes: v.cfg.MaxBytes, MaxAge: v.cfg.MaxAge.Seconds(), Evicted: use.Evicted, Dropped: use.Dropped,
		Profiles: []profileListing{}, Traces: []traceListing{},
	}
	services, names := services{}, traceNames{store: v.store, known: map[pcommon.TraceID]string{}}
	entry := func() *budget { b := perEntry(maxTexts, 3*maxListed, &out.omissions); return &b }
	for _, p := range profiles {
		services.of(p.service).Profiles++
		if service == "" || service == p.service {
			if out.ProfileCount++; out.ProfileCount <= maxListed {
				texts := entry()
				listing := listProfile(p, texts)
				for _, name := range names.of(p) {
					listing.Traces = append(listing.Traces, texts.text(name))
				}
				out.Profiles = append(out.Profiles, listing)
			}
		}
	}
	for _, shares := range traces {
		trace := listTrace(shares)
		if trace.Spans == 0 {
			continue // log records of a trace that is elsewhere
		}
		services.countTrace(shares)
		if service == "" || slices.ContainsFunc(shares, func(k kept) bool { return k.share.spans > 0 && k.share.service == service }) {
			if out.TraceCount++; out.TraceCount <= maxListed {
				trace.Profiles = v.store.linkedCount(shares[0].share.id)
				trace.clip(entry())
				out.Traces = append(out.Traces, trace)
			}
		}
	}
	for _, m := range logs {
		for _, share := range m.traces {
			services.of(share.service).Logs += share.logs
		}
	}
	out.Services = services.list()
	for i := range out.Services {
		out.Services[i].Name = entry().text(out.Services[i].Name)
	}
	return out, nil
}

type services map[string]*serviceCount

type serviceCount struct {
	serviceAnswer
	lastTrace pcommon.TraceID // that was counted
}

func (s services) of(name string) *serviceCount {
	if s[name] == nil {
		s[name] = &serviceCount{serviceAnswer: serviceAnswer{Name: name}}
	}
	return s[name]
}

// countTrace counts a trace once for each service that has spans of it.
func (s services) countTrace(shares []kept) {
	for _, k := range shares {
		if service := s.of(k.share.service); k.share.spans > 0 && service.lastTrace != k.share.id {
			service.lastTrace = k.share.id
			service.Traces++
		}
	}
}

// list gives the services by name. Where there are too many, as when senders make names up, it is those with the most to show.
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

func listProfile(p *profileSummary, texts *budget) profileListing {
	return profileListing{
		ID: strconv.FormatUint(p.id, 10), Service: texts.text(p.service), Name: texts.text(p.name), ProfileID: p.profileID,
		Start: nanos(p.start), Duration: p.end - min(p.start, p.end), Threads: p.threads, Samples: p.samples, Weight: p.weight,
		Measure: listMeasure(p.measure, texts), Spans: len(p.spans), Arrived: p.message.arrived.UTC().Format(time.RFC3339Nano),
	}
}

func listMeasure(m timeline.Measure, texts *budget) measureAnswer {
	return measureAnswer{Type: texts.text(m.Type), Unit: texts.text(m.Unit)}
}

func (l *traceListing) clip(texts *budget) {
	l.Name = texts.text(l.Name)
	for i := range l.Services {
		l.Services[i] = texts.text(l.Services[i])
	}
}

// listTrace puts together what there is of a trace.
func listTrace(shares []kept) traceListing {
	id := shares[0].share.id
	out := traceListing{ID: hex.EncodeToString(id[:]), Arrived: shares[len(shares)-1].message.arrived.UTC().Format(time.RFC3339Nano)}
	var start, end uint64
	var first *traceShare
	for _, k := range shares {
		s := k.share
		out.Spans, out.Errors, out.Logs = out.Spans+s.spans, out.Errors+s.errors, out.Logs+s.logs
		if s.spans == 0 {
			continue
		}
		if first == nil || s.start < first.start {
			first = s
		}
		end = max(end, s.end)
		out.Name = cmp.Or(out.Name, s.root)
		if len(out.Services) < maxServicesNamed && !slices.Contains(out.Services, s.service) {
			out.Services = append(out.Services, s.service)
		}
	}
	if first != nil {
		start = first.start
		out.Name = cmp.Or(out.Name, first.first)
	}
	out.Start, out.Duration = nanos(start), end-start
	return out
}

func nanos(t uint64) string { return strconv.FormatUint(t, 10) }
