// SPDX-License-Identifier: Apache-2.0

// Package flame sums samples into the trees of flame graphs: merged over time, or in time order for
// one thread.
//
// A one-minute recording has a hundred thousand calls, but a window has only two thousand pixels.
// Draw therefore returns the boxes of a window and combines siblings below one pixel into one box,
// so that no weight is missing. When the user zooms in, the page requests the boxes of the smaller
// window.
//
//	graph.go    Graph: samples of one or more profiles, by function
//	tree.go     its tree, and how it is drawn
//	change.go   stacks that are focused on, hidden or folded
//	views.go    the inverted graph, and the callers and callees of a function
//	ordered.go  Ordered: the samples of a thread in time order, and how they are drawn
//	boxes.go    Box, Window, Drawing; combines narrow siblings
//	detail.go   one function: its lines, attributes and spans
//	compare.go  the comparison of two graphs
//	chance.go   whether chance explains a difference
package flame
