// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"net/http"
	"net/url"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/flame"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
)

// compareAnswer is a graph of two profiles; see [flame.Comparison]. Weights are sums of both.
type compareAnswer struct {
	graphAnswer
	Before int64 `json:"before"`
	After  int64 `json:"after"`
}

// compare returns the graph of the profiles a and b of the query.
func (v *viewer) compare(r *http.Request) (any, error) {
	query := r.URL.Query()
	s, err := v.selectionOf(url.Values{"profile": {query.Get("a"), query.Get("b")}})
	if err != nil {
		return nil, err
	}
	if len(s.profiles) != 2 {
		return nil, badRequest("a, b: must be two different profiles")
	}
	first := 0 // index of a: the profiles are sorted by ID
	if answer.Nanos(s.profiles[0].ID) != query.Get("a") {
		first = 1
	}
	window, err := parseWindow(query)
	if err != nil {
		return nil, err
	}
	both, err := cached(&v.graphs, "compared "+answer.Nanos(s.profiles[first].ID)+" "+s.key(), func() (*flame.Comparison, error) {
		return s.compare(first)
	})
	if err != nil {
		return nil, err
	}
	window.Match = matching(both.Graph, query.Get("q"))
	out := compareAnswer{Before: both.Before, After: both.After}
	out.describe(s, both.Graph, both.Draw(window))
	return out, nil
}

// compare compares the two profiles of a selection.
func (s *selection) compare(first int) (*flame.Comparison, error) {
	before, err := flame.New(s.of(s.profiles[first]))
	if err != nil {
		return nil, err
	}
	after, err := flame.New(s.of(s.profiles[1-first]))
	if err != nil {
		return nil, err
	}
	return flame.Compare(before, after), nil
}
