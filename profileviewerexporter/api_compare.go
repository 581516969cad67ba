// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"net/http"
	"net/url"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/flame"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// compareAnswer is a graph of two selections; see [flame.Comparison]. Weights are sums of both.
type compareAnswer struct {
	graphAnswer
	Before         int64        `json:"before"`
	After          int64        `json:"after"`
	BeforeProfiles int          `json:"before_profiles"` // number of profiles
	AfterProfiles  int          `json:"after_profiles"`
	Changes        []changeLine `json:"changes,omitempty"` // largest change in self weight first
}

// changeLine is a function of a comparison. Weights of the first selection are scaled to the total
// of the second.
type changeLine struct {
	frameAnswer
	BeforeSelf  int64 `json:"before_self"`
	BeforeTotal int64 `json:"before_total"`
	AfterSelf   int64 `json:"after_self"`
	AfterTotal  int64 `json:"after_total"`
}

// compare returns the graph of a and b of the query: two profiles or, if the query has a service,
// two windows of time; see [selection].
func (v *viewer) compare(r *http.Request) (any, error) {
	query := r.URL.Query()
	before, err := v.sideOf(query, "a")
	if err != nil {
		return nil, err
	}
	after, err := v.sideOf(query, "b")
	if err != nil {
		return nil, err
	}
	if before.key() == after.key() {
		return nil, badRequest("a, b: must differ")
	}
	if first, second := before.profiles[0].Measure, after.profiles[0].Measure; first != second {
		return nil, badRequest("a, b: cannot compare profiles that measure %s and %s", answer.Display(first.Type), answer.Display(second.Type))
	}
	window, err := parseWindow(query)
	if err != nil {
		return nil, err
	}
	both, err := cached(&v.graphs, "compared "+before.key()+" with "+after.key(), func() (*flame.Comparison, error) {
		first, err := flame.New(before.each)
		if err != nil {
			return nil, err
		}
		second, err := flame.New(after.each)
		if err != nil {
			return nil, err
		}
		return flame.Compare(first, second), nil
	})
	if err != nil {
		return nil, err
	}
	window.Match = matching(both.Graph, query.Get("q"))
	out := compareAnswer{Before: both.Before, After: both.After, BeforeProfiles: len(before.profiles), AfterProfiles: len(after.profiles)}
	shown := selection{profiles: append(append([]*store.Profile{}, before.profiles...), after.profiles...), origin: min(before.origin, after.origin)}
	out.describe(&shown, both.Graph, both.Draw(window))
	if partial(query) {
		return out, nil
	}
	changes := both.Changes[:min(maxTop, len(both.Changes))]
	for _, c := range changes {
		texts := answer.PerEntry(maxDrawingTexts/8, len(changes), &out.Omissions)
		out.Changes = append(out.Changes, changeLine{
			describeFrame(both.Graph, c.Frame, &texts), c.Before.Self, c.Before.Total, c.After.Self, c.After.Total,
		})
	}
	return out, nil
}

// sideOf returns one side of a comparison.
func (v *viewer) sideOf(query url.Values, key string) (*selection, error) {
	if query.Has("service") {
		side := url.Values{"service": query["service"], "window": {query.Get(key)}}
		if release := key + "_release"; query.Has(release) {
			side["release"] = query[release]
		}
		return v.selectionOf(side)
	}
	if !query.Has(key) {
		return nil, badRequest("%s: is missing; set a and b to profiles, or service, and a and b to windows", key)
	}
	return v.selectionOf(url.Values{"profile": {query.Get(key)}})
}
