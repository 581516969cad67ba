// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// TestAppendFloat: numbers have the form that encoding/json gives them.
func TestAppendFloat(t *testing.T) {
	for _, f := range []float64{0, 1, -1, 0.1, 1e-6, 9.9e-7, -9.9e-7, 1e20, 1e21, -1e21, 9.99e20, 1795224053.0711603, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		want, err := json.Marshal(f)
		require.NoError(t, err)
		var got float64
		text := jsonscan.AppendFloat(nil, f)
		require.NoError(t, json.Unmarshal(text, &got))
		assert.Equal(t, f, got)
		if f == 0 || math.Abs(f) >= 1e-6 && math.Abs(f) < 1e21 {
			assert.Equal(t, string(want), string(text))
		} else {
			assert.Contains(t, string(text), "e")
		}
	}
}

func TestAppendInts(t *testing.T) {
	for _, n := range []uint32{0, 9, 10, 99, 100, 999, 1000, 9999, 10_000, 12_345, 99_999, 100_000, math.MaxUint32} {
		assert.Equal(t, fmt.Sprint(n), string(jsonscan.AppendIndex(nil, n)))
	}
}

// TestChunkWithoutImages: a chunk without images and measurements has no member for them.
func TestChunkWithoutImages(t *testing.T) {
	c := &Chunk{Platform: "python"}
	text, ok := AppendChunk(nil, c, 1<<20)
	require.True(t, ok)
	assert.True(t, json.Valid(text))
	assert.NotContains(t, string(text), "debug_meta")
	assert.NotContains(t, string(text), "measurements")
	c.DebugMeta.Images = []Image{{Type: "elf", DebugID: "1"}}
	text, ok = AppendChunk(nil, c, 1<<20)
	require.True(t, ok)
	assert.Contains(t, string(text), "debug_meta")
}
