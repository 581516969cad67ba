// SPDX-License-Identifier: Apache-2.0

// Package flame sums samples into the trees of flame graphs: merged over time, or in time order for
// one thread.
//
// A one-minute recording has a hundred thousand calls, and a window two thousand pixels. A tree is
// therefore reduced to its visible part before it is sent to a page ([Tree.Prune]). When the user
// zooms in, the page requests the details.
//
//	graph.go    Graph: samples of one or more profiles, by function
//	ordered.go  the same, in time order
//	tree.go     Tree, Prune
//	detail.go   one function: its lines, attributes and spans
//	compare.go  the comparison of two graphs
package flame
