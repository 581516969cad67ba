// SPDX-License-Identifier: Apache-2.0

package store

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// TestByTrace removes values from every position; the last value removes its trace.
func TestByTrace(t *testing.T) {
	traces := byTrace[string]{}
	one, other := pcommon.TraceID{1}, pcommon.TraceID{2}
	assert.Zero(t, traces.count(one))
	assert.Empty(t, traces.values(one))

	a, b, c, d := traces.add(one, "a", false), traces.add(one, "b", false), traces.add(one, "c", false), traces.add(one, "d", false)
	x := traces.add(other, "x", false)
	assert.Equal(t, []string{"a", "b", "c", "d"}, traces.values(one))
	for _, step := range []struct {
		remove traceEntry
		left   []string
	}{{b, []string{"a", "c", "d"}}, {a, []string{"c", "d"}}, {d, []string{"c"}}} {
		traces.remove(step.remove)
		assert.Equal(t, step.left, traces.values(one))
		assert.Equal(t, len(step.left), traces.count(one))
	}
	e := traces.add(one, "e", false)
	assert.Equal(t, []string{"c", "e"}, traces.values(one))
	f := traces.add(one, "f", true)
	assert.Equal(t, []string{"f", "c", "e"}, traces.values(one))
	for _, entry := range []traceEntry{f, e, c, x} {
		traces.remove(entry)
	}
	assert.Empty(t, traces)
}
