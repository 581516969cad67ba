// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"net/http"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/catalog"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/listing"
)

// maxListed is the maximum number of entries of lists without pages.
const maxListed = listing.PageSize

// overviewAnswer describes the store: its use, and the first page of each list.
type overviewAnswer struct {
	answer.Omissions
	Bytes        int64                    `json:"bytes"`
	MaxBytes     int64                    `json:"max_bytes"`
	MaxAge       float64                  `json:"max_age"`  // seconds
	Evicted      int64                    `json:"evicted"`  // number of messages removed because of their age or a full store
	Dropped      int64                    `json:"dropped"`  // number of messages larger than max_bytes
	Services     []catalog.ServiceAnswer  `json:"services"` // largest services, sorted by name
	Profiles     []catalog.ProfileListing `json:"profiles"` // newest profiles; absent with entries=0
	Traces       []catalog.TraceListing   `json:"traces"`
	ProfileCount int                      `json:"profile_count"` // number of profiles of the requested service
	TraceCount   int                      `json:"trace_count"`   // number of traces of the requested service
}

// overview describes the store; the query may select a service.
func (v *viewer) overview(r *http.Request) (any, error) {
	stats, content := v.store.Stats(), catalog.Of(v.store, 3)
	services := content.LargestServices()
	out := overviewAnswer{
		Bytes: stats.Bytes, MaxBytes: v.cfg.MaxBytes, MaxAge: v.cfg.MaxAge.Seconds(), Evicted: stats.Evicted, Dropped: stats.Dropped,
		Services: services.Services, Profiles: []catalog.ProfileListing{}, Traces: []catalog.TraceListing{},
	}
	newest := listing.Query{Service: r.URL.Query().Get("service")}
	profiles, traces := content.Profiles(newest), content.Traces(newest)
	out.ProfileCount, out.TraceCount = profiles.Count, traces.Count
	out.Omitted = services.Omitted
	if r.URL.Query().Get("entries") != "0" {
		out.Profiles, out.Traces = profiles.Profiles, traces.Traces
		out.Omitted += profiles.Omitted + traces.Omitted
	}
	return out, nil
}

// page returns a handler for a page of a list; see [listing.Query].
func (v *viewer) page(columns []string, page func(*catalog.Catalog, listing.Query) any) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		query, err := listing.Parse(r.URL.Query(), columns...)
		if err != nil {
			return nil, badRequest("%v", err)
		}
		return page(catalog.Of(v.store, 1), query), nil
	}
}
