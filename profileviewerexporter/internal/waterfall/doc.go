// SPDX-License-Identifier: Apache-2.0

// Package waterfall arranges the spans of a trace in rows.
//
//	read.go       stored messages → the spans of a trace
//	order.go      the rows: each span after its parent
//	critical.go   the critical path: the spans that determine the duration
//	rows.go       the response with all rows, for traces of up to 100,000 spans
package waterfall
