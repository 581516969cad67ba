// SPDX-License-Identifier: Apache-2.0

package oracle

import "sync"

// Tally compares messages with the requests that they were translated from, and counts their
// contents.
type Tally struct {
	mu           sync.Mutex
	V1, V2       int               // profiles
	Observations int               // timestamps of their samples
	Samples      int               // OTLP samples
	Out          map[string]int    // spans, records, points
	Parents      map[string]string // of the spans, by trace and id
}

// NewTally returns an empty tally.
func NewTally() *Tally { return &Tally{Out: map[string]int{}, Parents: map[string]string{}} }
