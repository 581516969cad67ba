// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pprofile"
)

// Selector copies resources of a message to new messages. Each has its own dictionary, with the
// entries that its profiles need. Resources without profiles are omitted.
type Selector struct {
	splitter *splitter
	profiles []profileRef
}

// NewSelector returns a Selector for a message, which must not change while it is used.
func NewSelector(p pprofile.Profiles) *Selector {
	s := newSplitter(&Split{}, p)
	return &Selector{splitter: s, profiles: s.profiles()}
}

// Resources returns a message with the resources at some positions, in ascending order.
func (s *Selector) Resources(positions []int) pprofile.Profiles {
	var of []profileRef
	for _, profile := range s.profiles {
		if _, selected := slices.BinarySearch(positions, profile.scopePosition[0]); selected {
			of = append(of, profile)
		}
	}
	out, _ := s.splitter.buildWhole(of)
	return out
}
