// SPDX-License-Identifier: Apache-2.0

// Package cpuprofile reads profiles of V8: the .cpuprofile files of Chrome and Node.js.
//
// https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile describes the
// format. Its clock is monotonic, so the time of the first sample is not known. Hit counts and the
// reasons of failed optimizations are lost.
package cpuprofile

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
)

// content is a file.
type content struct {
	Nodes   []node  `json:"nodes"`
	Start   int64   `json:"startTime"` // microseconds
	End     int64   `json:"endTime"`
	Samples []int64 `json:"samples"`    // IDs of nodes
	Deltas  []int64 `json:"timeDeltas"` // microseconds since the sample before
}

type node struct {
	ID        int64 `json:"id"`
	CallFrame struct {
		Function string `json:"functionName"`
		URL      string `json:"url"`
		Line     int64  `json:"lineNumber"`   // from 0; -1: unknown
		Column   int64  `json:"columnNumber"` // likewise
	} `json:"callFrame"`
	Children []int64 `json:"children"`
	Parent   int64   `json:"parent"` // of some exporters, instead of children
}

// rootName is the function of the root, which is no code.
const rootName = "(root)"

// Read reads a file. The first sample is at the time of the options.
func Read(data []byte, o importer.Options) (pprofile.Profiles, []importer.Loss, error) {
	var file content
	if err := json.Unmarshal(data, &file); err != nil {
		return pprofile.NewProfiles(), nil, fmt.Errorf("it is no .cpuprofile: %w", err)
	}
	b := importer.NewBuilder(o)
	nodes := newTree(b, file.Nodes)
	out := b.Profile(importer.Type{Shape: importer.Counts, Name: "samples", Unit: "count", Period: period(file.Deltas)})
	attributes := b.Thread("", "main")
	if lost := len(file.Samples) - len(file.Deltas); lost > 0 {
		b.Lose("samples without a time", lost)
	}
	at := b.Start()
	for i, id := range file.Samples[:min(len(file.Samples), len(file.Deltas))] {
		if i > 0 {
			// V8 states a negative delta for samples that it has sorted wrongly.
			at = uint64(max(int64(at)+clip(file.Deltas[i])*int64(time.Microsecond), 1))
		}
		node, ok := nodes.find(id)
		if !ok {
			b.Lose("samples of a node that does not exist", 1)
			continue
		}
		out.Add(importer.Sample{Attributes: attributes, Node: node, Time: at})
	}
	return b.Finish()
}

// clip limits a delta to a day, so that sums stay in range.
func clip(delta int64) int64 {
	const day = int64(24 * time.Hour / time.Microsecond)
	return max(min(delta, day), -day)
}

// period returns the median interval, V8's default without one.
func period(deltas []int64) time.Duration {
	sorted := slices.DeleteFunc(slices.Clone(deltas), func(d int64) bool { return d <= 0 })
	if len(sorted) == 0 {
		return time.Millisecond
	}
	slices.Sort(sorted)
	return time.Duration(clip(sorted[len(sorted)/2])) * time.Microsecond
}

// tree resolves the callers of nodes.
type tree struct {
	*importer.Builder
	nodes  []node
	byID   map[int64]int // positions
	parent []int         // positions; -1: none
	known  []importer.Node
	done   []bool
}

func newTree(b *importer.Builder, nodes []node) *tree {
	t := &tree{Builder: b, nodes: nodes, byID: make(map[int64]int, len(nodes)), parent: make([]int, len(nodes)),
		known: make([]importer.Node, len(nodes)), done: make([]bool, len(nodes))}
	for i := range nodes {
		t.byID[nodes[i].ID] = i
		t.parent[i] = -1
	}
	for i := range nodes {
		if p, ok := t.byID[nodes[i].Parent]; ok && nodes[i].Parent != nodes[i].ID {
			t.parent[i] = p
		}
		for _, child := range nodes[i].Children {
			if c, ok := t.byID[child]; ok {
				t.parent[c] = i
			}
		}
	}
	return t
}

// find returns the node with an ID.
func (t *tree) find(id int64) (importer.Node, bool) {
	i, ok := t.byID[id]
	if !ok {
		return 0, false
	}
	var path []int // to the next node that is known
	for at := i; at >= 0 && !t.done[at]; at = t.parent[at] {
		if len(path) == len(t.nodes) { // a cycle
			for _, at := range path {
				t.done[at] = true
			}
			t.Lose("nodes that call themselves", 1)
			return 0, true
		}
		path = append(path, at)
	}
	for _, at := range slices.Backward(path) {
		caller := importer.Node(0)
		if p := t.parent[at]; p >= 0 {
			caller = t.known[p]
		}
		t.known[at], t.done[at] = t.call(caller, &t.nodes[at]), true
	}
	return t.known[i], true
}

func (t *tree) call(caller importer.Node, n *node) importer.Node {
	f := n.CallFrame
	if f.Function == rootName {
		return caller
	}
	if f.Function == "" && f.URL == "" {
		f.Function = "(anonymous)"
	}
	return t.Call(caller, t.Frame(importer.Frame{Name: f.Function, File: f.URL, Line: f.Line + 1, Column: f.Column + 1}))
}
