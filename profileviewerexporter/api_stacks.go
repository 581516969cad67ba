// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/catalog"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/flame"
)

const (
	// maxStacks is the maximum number of stacks in a response.
	maxStacks = 200
	// maxStackFrames is the maximum number of frames of a stack in a response.
	maxStackFrames = 128
)

// stacksAnswer lists the stacks of the selected samples, the heaviest first.
type stacksAnswer struct {
	answer.Omissions
	Profiles   []string              `json:"profiles"`
	Measure    catalog.MeasureAnswer `json:"measure"`
	Total      int64                 `json:"total"` // weight of the selected samples with a stack
	Samples    int64                 `json:"samples"`
	Stacks     []stackLine           `json:"stacks"`
	StackCount int                   `json:"stack_count"` // total number of stacks
}

type stackLine struct {
	Frames  []string `json:"frames"`            // names of functions, outermost caller first
	Missing int      `json:"missing,omitempty"` // number of outermost frames that are not listed
	Weight  int64    `json:"weight"`
}

func (v *viewer) stackList(r *http.Request) (any, error) {
	s, err := v.selectionOf(r.URL.Query())
	if err != nil {
		return nil, err
	}
	m, err := v.merge(s)
	if err != nil {
		return nil, err
	}
	out := stacksAnswer{Stacks: []stackLine{}, Total: m.graph.Tree[0].Total, Samples: m.graph.Samples}
	for _, p := range s.profiles {
		out.Profiles = append(out.Profiles, strconv.FormatUint(p.ID, 10))
	}
	texts := answer.PerEntry(answer.MaxTexts/4, 1, &out.Omissions)
	out.Measure = catalog.ListMeasure(s.profiles[0].Measure, &texts)
	leaves := heaviestLeaves(m.graph)
	out.StackCount = len(leaves)
	leaves = leaves[:min(len(leaves), maxStacks)]
	for _, leaf := range leaves {
		texts := answer.PerEntry(answer.MaxTexts*3/4, len(leaves), &out.Omissions)
		line := stackLine{Weight: m.graph.Tree[leaf].Self}
		for id := leaf; id > 0; id = m.graph.Tree[id].Parent {
			if len(line.Frames) == maxStackFrames {
				line.Missing++
				continue
			}
			line.Frames = append(line.Frames, texts.Text(m.graph.Frames[m.graph.Tree[id].Frame].DisplayName()))
		}
		slices.Reverse(line.Frames)
		out.Stacks = append(out.Stacks, line)
	}
	return out, nil
}

// heaviestLeaves returns the nodes with self weight, the heaviest first.
func heaviestLeaves(graph *flame.Graph) (list []int32) {
	for id, n := range graph.Tree {
		if id > 0 && n.Self > 0 {
			list = append(list, int32(id))
		}
	}
	slices.SortFunc(list, func(a, b int32) int {
		return cmp.Or(cmp.Compare(graph.Tree[b].Self, graph.Tree[a].Self), cmp.Compare(a, b))
	})
	return list
}
