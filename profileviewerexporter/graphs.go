// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import "slices"

// maxGraphs is the maximum total size of the stored graphs. The graphs of the largest recording
// take 4 MB.
const maxGraphs = 32 << 20

// graphs stores the latest graphs, so that zooming does not decode messages. Only the response that
// is being built uses it.
type graphs struct {
	list  []storedGraph // latest last
	bytes int
}

type storedGraph struct {
	key   string
	bytes int
	graph any
}

// sized is a graph that states its approximate size in memory.
type sized interface{ Size() int }

// cached returns the stored graph with a key, or builds and stores it.
func cached[T sized](g *graphs, key string, build func() (T, error)) (T, error) {
	if i := slices.IndexFunc(g.list, func(s storedGraph) bool { return s.key == key }); i >= 0 {
		stored := g.list[i]
		g.list = append(slices.Delete(g.list, i, i+1), stored)
		return stored.graph.(T), nil
	}
	graph, err := build()
	if err != nil {
		return graph, err
	}
	if bytes := graph.Size() + len(key); bytes <= maxGraphs {
		for g.bytes += bytes; g.bytes > maxGraphs; {
			g.bytes -= g.list[0].bytes
			g.list = slices.Delete(g.list, 0, 1)
		}
		g.list = append(g.list, storedGraph{key, bytes, graph})
	}
	return graph, nil
}
