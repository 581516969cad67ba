package profileviewerexporter

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// maxListed is how many profiles and traces a list has; nobody reads further, and a service narrows it.
const maxListed = 200

// overviewAnswer is what is kept, the newest first. Times are Unix nanoseconds in text, since numbers of JavaScript do not hold
// them; durations are nanoseconds.
type overviewAnswer struct {
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
	Services []string `json:"services"`
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
	services := services{}
	for _, p := range profiles {
		services.of(p.service).Profiles++
		if service == "" || service == p.service {
			if out.ProfileCount++; out.ProfileCount <= maxListed {
				listing := listProfile(p)
				listing.Traces = v.store.tracesOf(p)
				out.Profiles = append(out.Profiles, listing)
			}
		}
	}
	for _, shares := range traces {
		trace := listTrace(shares)
		if trace.Spans == 0 {
			continue // log records of a trace that is elsewhere
		}
		for _, name := range trace.Services {
			services.of(name).Traces++
		}
		if service == "" || slices.Contains(trace.Services, service) {
			if out.TraceCount++; out.TraceCount <= maxListed {
				trace.Profiles = len(v.store.linkedTo(shares[0].share.id))
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
	return out, nil
}

type services map[string]*serviceAnswer

func (s services) of(name string) *serviceAnswer {
	if s[name] == nil {
		s[name] = &serviceAnswer{Name: name}
	}
	return s[name]
}

func (s services) list() []serviceAnswer {
	out := []serviceAnswer{}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		out = append(out, *s[name])
	}
	return out
}

func listProfile(p *profileSummary) profileListing {
	return profileListing{
		ID: strconv.FormatUint(p.id, 10), Service: p.service, Name: p.name, ProfileID: p.profileID,
		Start: nanos(p.start), Duration: p.end - min(p.start, p.end), Threads: p.threads, Samples: p.samples, Weight: p.weight,
		Measure: measureAnswer(p.measure), Spans: len(p.spans), Arrived: p.message.arrived.UTC().Format(time.RFC3339Nano),
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
		if !slices.Contains(out.Services, s.service) {
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
