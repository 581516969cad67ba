// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"net/http"
	"net/url"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/flame"
)

// compareAnswer is a graph of two profiles; see [flame.Comparison]. Nodes: ID, index of the parent,
// index of the frame, total of both, difference of the second to the first, and 1 if children are
// hidden.
type compareAnswer struct {
	graphAnswer
	Before int64      `json:"before"`
	After  int64      `json:"after"`
	Nodes  [][6]int64 `json:"nodes"`
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
	if nanos(s.profiles[0].ID) != query.Get("a") {
		first = 1
	}
	var out compareAnswer
	before, err := flame.New(s.of(s.profiles[first]))
	if err != nil {
		return nil, err
	}
	after, err := flame.New(s.of(s.profiles[1-first]))
	if err != nil {
		return nil, err
	}
	both := flame.Compare(before, after)
	nodes, smallest := both.Tree.Prune(flame.Part{Share: smallestShare, Most: mostNodes}, both.Heaviest)
	frames := frameList{indices: map[int32]int64{}}
	for _, n := range nodes {
		out.Nodes = append(out.Nodes, [6]int64{
			int64(n.ID), int64(n.Parent), frames.index(n.Node.Frame), n.Node.Total, both.Delta[n.ID], flag(n.Hidden),
		})
		out.Hidden = out.Hidden || n.Hidden
	}
	out.Before, out.After = both.Before, both.After
	out.describe(s, both.Graph, smallest, &frames, maxTexts)
	return out, nil
}
