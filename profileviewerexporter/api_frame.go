// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"net/http"
	"strconv"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/flame"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// detailAnswer describes one function of a selection.
type detailAnswer struct {
	answer.Omissions
	frameAnswer
	System     string         `json:"system,omitempty"`
	StartLine  int64          `json:"start_line,omitempty"`
	Self       int64          `json:"self"`
	Total      int64          `json:"total"`
	Of         int64          `json:"of"` // total of the selection
	Samples    int64          `json:"samples"`
	Lines      []lineAnswer   `json:"lines"`
	LineCount  int            `json:"line_count"`
	Spans      []spanSamples  `json:"spans"`      // spans in which the function ran
	Unlinked   int64          `json:"unlinked"`   // weight of samples without a span
	Attributes []valuesAnswer `json:"attributes"` // attributes of the function's locations
}

type lineAnswer struct {
	Line    int64  `json:"line,omitempty"`
	Column  int64  `json:"column,omitempty"`
	Address string `json:"address,omitempty"`
	Self    int64  `json:"self"`
	Total   int64  `json:"total"`
}

type valuesAnswer struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
	Unit   string   `json:"unit,omitempty"`
	More   bool     `json:"more,omitempty"` // true if some values are not listed
}

// maxLines is the maximum number of lines in the details of a function.
const maxLines = 50

func (v *viewer) frameDetail(r *http.Request) (any, error) {
	query := r.URL.Query()
	s, err := v.selectionOf(query)
	if err != nil {
		return nil, err
	}
	var out detailAnswer
	spans := map[timeline.Link]store.Sum{}
	m, err := v.merge(s)
	if err != nil {
		return nil, err
	}
	graph := m.graph
	frame, err := number(query, "frame", len(graph.Frames))
	if err != nil {
		return nil, err
	}
	detail, err := graph.Describe(s.each, frame)
	if err != nil {
		return nil, err
	}
	for _, span := range detail.Spans {
		if span.Link == (timeline.Link{}) {
			out.Unlinked = span.Total
		} else {
			spans[span.Link] = store.Sum{Weight: span.Total}
		}
	}
	texts := answer.PerEntry(answer.MaxTexts/4, 1, &out.Omissions)
	out.frameAnswer = describeFrame(graph, frame, &texts)
	out.System = texts.Text(detail.Frame.System)
	out.describe(detail)
	out.Of = graph.Tree[0].Total
	out.Spans = v.listSpans(spans, answer.MaxTexts/4, &out.Omissions)
	return out, nil
}

func (a *detailAnswer) describe(d *flame.Detail) {
	a.StartLine = d.Frame.StartLine
	a.Self, a.Total, a.Samples, a.LineCount = d.Self, d.Total, d.Samples, len(d.Lines)
	a.Lines, a.Attributes = []lineAnswer{}, []valuesAnswer{}
	for _, l := range d.Lines[:min(len(d.Lines), maxLines)] {
		line := lineAnswer{Line: l.Line, Column: l.Column, Self: l.Self, Total: l.Total}
		if l.Address != 0 {
			line.Address = "0x" + strconv.FormatUint(l.Address, 16)
		}
		a.Lines = append(a.Lines, line)
	}
	listed := d.Attributes[:min(len(d.Attributes), answer.MaxAttributes)]
	for _, values := range listed {
		texts := answer.PerEntry(answer.MaxTexts/2, len(listed), &a.Omissions)
		out := valuesAnswer{Key: texts.Text(values.Key), Unit: texts.Text(values.Unit), More: values.More}
		for _, value := range values.Values {
			out.Values = append(out.Values, texts.Text(value))
		}
		a.Attributes = append(a.Attributes, out)
	}
	if missing := len(d.Attributes) - len(listed); missing > 0 {
		a.Attributes = append(a.Attributes, valuesAnswer{Key: "…", Values: []string{answer.More(missing)}})
	}
}
