// SPDX-License-Identifier: Apache-2.0

// Package cpuprofile reads profiles of V8: the .cpuprofile files of Chrome and Node.js.
//
// https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile describes the
// format. Its clock is monotonic, so the time of the first sample is not known. Hit counts and the
// reasons of failed optimizations are lost.
//
// A sample lasts until the next one, however long: V8 records idle time as samples of (idle), so a
// pause between two samples is work that the profiler could not interrupt. Nothing follows the last
// sample, which therefore has no duration. Chrome DevTools and speedscope use the same rule.
package cpuprofile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
)

// content is a file.
type content struct {
	Nodes   []node                 `json:"nodes"`
	Samples importer.Column[int64] `json:"samples"`    // IDs of nodes
	Deltas  []float64              `json:"timeDeltas"` // microseconds since the sample before; Bun writes fractions

	// From Chrome up to 57, which writes one more time: the end of the last sample.
	Head       *head     `json:"head"`       // instead of Nodes
	Timestamps []float64 `json:"timestamps"` // microseconds, instead of Deltas
}

// head is a node of Chrome up to 57 with its callees. Lines are counted from 1.
type head struct {
	ID importer.Int `json:"id"`
	callFrame
	Children []head `json:"children"`
}

type node struct {
	ID        importer.Int           `json:"id"`
	CallFrame *callFrame             `json:"callFrame"`
	Children  importer.Column[int64] `json:"children"`
	Parent    importer.Int           `json:"parent"` // of some exporters, instead of children
}

type callFrame struct {
	Function string       `json:"functionName"`
	URL      string       `json:"url"`
	Line     importer.Int `json:"lineNumber"`   // from 0; -1: unknown
	Column   importer.Int `json:"columnNumber"` // likewise
}

// rootName is the function of the root, which is no code.
const rootName = "(root)"

// Read reads a file. The first sample is at the time of the options.
func Read(data []byte, o importer.Options) (pprofile.Profiles, []importer.Loss, error) {
	var file content
	if err := json.Unmarshal(data, &file); err != nil {
		return pprofile.NewProfiles(), nil, fmt.Errorf("it is no .cpuprofile: %w", err)
	}
	if file.Head != nil && len(file.Nodes) == 0 {
		file.flatten(file.Head, 0)
		for i, at := range file.Timestamps {
			file.Deltas = append(file.Deltas, at-file.Timestamps[max(i-1, 0)])
		}
	}
	b := importer.NewBuilder(o)
	nodes := newTree(b, file.Nodes)
	out := b.Profile(importer.Type{Shape: importer.Times, Name: "wall", Unit: "nanoseconds"})
	out.SetPeriod("wall", "nanoseconds", period(file.Deltas))
	attributes := b.Thread("", "main")
	b.Lose("samples without a time", max(len(file.Samples)-len(file.Deltas), 0))
	b.Lose("times without a sample", max(len(file.Deltas)-len(file.Samples)-1, 0))
	samples := inOrder(file.Samples, file.Deltas)
	for i, s := range samples {
		node, ok := nodes.find(s.node)
		switch {
		case s.node == importer.None: // the end of the last sample
			continue
		case !ok:
			b.Lose("samples of a node that does not exist", 1)
			continue
		}
		duration := int64(0)
		if i+1 < len(samples) {
			duration = samples[i+1].at - s.at
		}
		out.Add(importer.Sample{Attributes: attributes, Node: node, Time: b.Start() + uint64(s.at), Value: duration})
	}
	return b.Finish()
}

// flatten appends a node and those below it to the list.
func (c *content) flatten(h *head, parent importer.Int) {
	n := node{ID: h.ID, CallFrame: &h.callFrame, Parent: parent}
	n.CallFrame.Line = max(n.CallFrame.Line, 0) - 1
	n.CallFrame.Column = max(n.CallFrame.Column, 0) - 1
	c.Nodes = append(c.Nodes, n)
	for i := range h.Children {
		c.flatten(&h.Children[i], h.ID)
	}
}

// sample is a sample with its time, in nanoseconds since the first one.
type sample struct{ node, at int64 }

// inOrder returns the samples that have a time in the order of their times: V8 states a negative
// delta for a sample that it has written too late. A time without a sample has no node.
func inOrder(ids importer.Column[int64], deltas []float64) []sample {
	all := make([]sample, min(len(ids)+1, len(deltas)))
	at, first := 0.0, 0.0
	for i := range all {
		if i > 0 {
			at += clip(deltas[i])
		}
		all[i] = sample{ids.At(i), int64(math.Round(at * microsecond))}
		first = min(first, at)
	}
	for i := range all {
		all[i].at -= int64(math.Round(first * microsecond))
	}
	slices.SortStableFunc(all, func(a, b sample) int { return cmp.Compare(a.at, b.at) })
	return all
}

const microsecond = float64(time.Microsecond)

// clip limits a delta to a day, so that sums stay in range.
func clip(delta float64) float64 {
	const day = float64(24*time.Hour) / microsecond
	return max(min(delta, day), -day)
}

// period returns the median interval in nanoseconds, V8's default without one.
func period(deltas []float64) int64 {
	sorted := slices.DeleteFunc(slices.Clone(deltas), func(d float64) bool { return d <= 0 })
	if len(sorted) == 0 {
		return int64(time.Millisecond)
	}
	slices.Sort(sorted)
	return int64(math.Round(clip(sorted[len(sorted)/2]) * microsecond))
}

// tree resolves the callers of nodes.
type tree struct {
	*importer.Builder
	nodes  []node
	byID   map[int64]int // positions
	parent []int         // positions; -1: none
	known  []importer.Node
	state  []state
}

// state is that of a node while its callers are searched.
type state uint8

const (
	unknown state = iota
	onPath
	resolved
)

func newTree(b *importer.Builder, nodes []node) *tree {
	t := &tree{Builder: b, nodes: nodes, byID: make(map[int64]int, len(nodes)), parent: make([]int, len(nodes)),
		known: make([]importer.Node, len(nodes)), state: make([]state, len(nodes))}
	for i := range nodes {
		t.byID[int64(nodes[i].ID)] = i
		t.parent[i] = -1
	}
	for i := range nodes {
		if p, ok := t.byID[int64(nodes[i].Parent)]; ok && nodes[i].Parent != nodes[i].ID {
			t.parent[i] = p
		}
		for _, child := range nodes[i].Children {
			if c, ok := t.byID[child]; ok {
				t.parent[c] = i
			}
		}
	}
	t.countRoots()
	return t
}

// countRoots counts functions that nothing calls. A file has one root.
func (t *tree) countRoots() {
	roots, named := 0, 0
	for i, parent := range t.parent {
		if parent < 0 {
			roots++
			if f := t.nodes[i].CallFrame; f != nil && f.Function != rootName {
				named++
			}
		}
	}
	if roots > 1 {
		t.Lose("callers of nodes", named)
	}
}

// find returns the node with an ID.
func (t *tree) find(id int64) (importer.Node, bool) {
	i, ok := t.byID[id]
	if !ok {
		return 0, false
	}
	var path []int // to the next node that is known
	for at := i; at >= 0 && t.state[at] != resolved; at = t.parent[at] {
		if t.state[at] == onPath { // a cycle
			for _, at := range path {
				t.state[at] = resolved
			}
			t.Lose("nodes that call themselves", 1)
			return 0, true
		}
		t.state[at] = onPath
		path = append(path, at)
	}
	for _, at := range slices.Backward(path) {
		caller := importer.Node(0)
		if p := t.parent[at]; p >= 0 {
			caller = t.known[p]
		}
		t.known[at], t.state[at] = t.call(caller, &t.nodes[at]), resolved
	}
	return t.known[i], true
}

func (t *tree) call(caller importer.Node, n *node) importer.Node {
	f := n.CallFrame
	if f == nil {
		t.Lose("functions of nodes", 1)
		f = &callFrame{Line: importer.None, Column: importer.None}
	}
	if f.Function == rootName {
		return caller
	}
	name := f.Function
	if name == "" && f.URL == "" {
		name = "(anonymous)"
	}
	return t.Call(caller, t.Frame(importer.Frame{Name: name, File: f.URL, Line: int64(f.Line) + 1, Column: int64(f.Column) + 1}))
}
