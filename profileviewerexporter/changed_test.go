// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/catalog"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/flame"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/waterfall"
)

// TestMatching: a search pattern is a regular expression, or a text if it is no valid one.
func TestMatching(t *testing.T) {
	graph := &flame.Graph{Frames: []timeline.Frame{{Name: "query"}, {Name: "Query(x"}, {Name: "main", File: "db.query.py"}, {Name: "other", Module: "shop"}}}
	for pattern, want := range map[string][]bool{
		"query": {true, true, true, false}, "^query$": {true, false, false, false}, "query(": {false, true, false, false},
		"QUERY|shop": {true, true, true, true}, "\\": {false, false, false, false}, "(\xff": {false, true, false, false},
		strings.Repeat("é(", 400): {false, false, false, false},
	} {
		assert.Equal(t, want, matching(graph, pattern), "%q", pattern)
	}
	assert.Nil(t, matching(graph, ""))
}

// TestChangedGraphs: the query changes the stacks of a merged graph and of its views.
func TestChangedGraphs(t *testing.T) {
	h := start(t, nil)
	h.addProfile("shop", shop...)
	all := get[flameAnswer](h, "flame?profile=1&thread=1")
	number := map[string]int32{}
	for _, f := range all.Top {
		number[f.Name] = f.Number
	}
	path := func(change string, name string) string {
		return fmt.Sprint("flame?profile=1&thread=1&", change, "=", number[name])
	}
	assert.Equal(t, []string{"0 all 40 0", "1 main 40 10", "2 libquery 30 30"}, draw(get[flameAnswer](h, path("hide", "handle")).graphAnswer))
	status, text := h.fails("flame?profile=1&hide=99")
	assert.Equal(t, http.StatusBadRequest, status)
	assert.Contains(t, text, "hide")
	status, _ = h.fails("flame?profile=1&hide=" + strings.TrimSuffix(strings.Repeat("0,", maxChanged+1), ","))
	assert.Equal(t, http.StatusBadRequest, status)
	focused := get[flameAnswer](h, path("focus", "libquery"))
	assert.Equal(t, int64(30*ms), focused.Total)
	assert.NotEmpty(t, all.Spans)
	assert.Empty(t, focused.Spans, "their weights are those of all stacks")
	inverted := get[flameAnswer](h, path("fold", "handle")+"&view=inverted")
	assert.Equal(t, all.Total, inverted.Total)
	assert.NotContains(t, strings.Join(draw(inverted.graphAnswer), "\n"), "libquery")
}

// TestReleases: the profiles of a release of a service.
func TestReleases(t *testing.T) {
	h := start(t, nil)
	h.addProfile("shop", shop...)
	out := get[catalog.ReleasesAnswer](h, "service?service=shop")
	assert.Equal(t, 1, out.Profiles)
	assert.Equal(t, "", out.Releases[0].Name, "the SDK sends none")
	assert.Len(t, get[flameAnswer](h, "flame?service=shop&release=").Profiles, 1)
	status, _ := h.fails("flame?service=shop&release=" + url.QueryEscape("shop@2"))
	assert.Equal(t, http.StatusNotFound, status)
}

// TestTraceRows: the compact form has the rows of the trace, in the same order.
func TestTraceRows(t *testing.T) {
	h := start(t, nil)
	h.addProfile("shop", shop...)
	h.addSpans("shop", 7, testSpan{7, 9, "query", 5, 10}, testSpan{9, 0, "GET /", 0, 40}, testSpan{8, 9, "render", 10, 40})
	whole := get[traceAnswer](h, "traces/00000000000000000000000000000007")
	rows := get[waterfall.Answer](h, "traces/00000000000000000000000000000007/rows")
	assert.Len(t, rows.Rows, len(whole.SpanList))
	for i, span := range whole.SpanList {
		row := rows.Rows[i]
		assert.Equal(t, span.ID, rows.IDs[16*i:16*i+16])
		assert.Equal(t, []any{span.Name, span.Depth, span.Start, span.Duration, span.Samples, span.Weight},
			[]any{rows.Names[row[3]], int(row[0]), uint64(row[1]), uint64(row[2]), row[6], row[7]})
	}
	assert.Empty(t, get[traceAnswer](h, "traces/00000000000000000000000000000007?spans=0").SpanList)
	status, _ := h.fails("traces/00000000000000000000000000000008/rows")
	assert.Equal(t, http.StatusGone, status)
}
