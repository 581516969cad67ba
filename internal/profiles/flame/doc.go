// SPDX-License-Identifier: Apache-2.0

// Package flame adds up samples into the trees that flame graphs show: merged over time, or in the order of time for a thread.
//
// A recording of a minute has a hundred thousand calls, and a window two thousand pixels. So a tree is cut down to what can be
// seen before it is sent to a page ([Tree.Prune]), and whoever looks closer asks again for a part.
//
//	graph.go    Graph: samples of one or more profiles, by function
//	ordered.go  the same in the order of time
//	tree.go     Tree, Prune
//	detail.go   one function: its lines, attributes and spans
//	compare.go  two graphs in one
package flame
