// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// TestObservations: each timestamp is an observation, and so is a sample without timestamps.
func TestObservations(t *testing.T) {
	p := pprofile.NewProfiles()
	assert.Zero(t, Observations(p))
	for range 2 {
		profile := p.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
		for _, times := range [][]uint64{nil, {1}, {1, 2, 3}} {
			profile.Samples().AppendEmpty().TimestampsUnixNano().FromRaw(times)
		}
	}
	assert.EqualValues(t, 10, Observations(p))
}

func TestAddStats(t *testing.T) {
	a := LinkStats{Linked: 1, Guessed: 2, Kept: 3}
	a.Unlinked[Aggregated] = 4
	b := a
	b.Unlinked[Attributes] = 5
	a.Add(b)
	assert.Equal(t, []int64{2, 4, 6, 8, 5}, []int64{a.Linked, a.Guessed, a.Kept, a.Unlinked[Aggregated], a.Unlinked[Attributes]})
}

// TestBuffersBegin: a pooled linker keeps no data of the previous profile.
func TestBuffersBegin(t *testing.T) {
	f := spanTree{nodes: make([]treeNode, 3), last: make([]nodeKey, 2), positions: make([]int32, 4)}
	f.reset()
	f.beginPart()
	assert.Empty(t, f.nodes)
	assert.Empty(t, f.last)
	assert.Empty(t, f.positions)
	m := timelineBuilder{sections: make([]section, 3), cells: make([]int32, 2)}
	m.reset()
	assert.Empty(t, m.sections)
	assert.Empty(t, m.cells)
}
