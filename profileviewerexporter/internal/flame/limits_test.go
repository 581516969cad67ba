// SPDX-License-Identifier: Apache-2.0

package flame_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/flame"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/flame/flametest"
)

// inlined returns a profile with a number of samples. Each has its own root function, and all share
// a location of 1000 inlined functions.
func inlined(samples int) *timeline.Profile {
	message := pprofile.NewProfiles()
	b := dictionary.NewBuilder(message.Dictionary())
	var lines []dictionary.Line
	for i := range flame.MaxDepth {
		lines = append(lines, dictionary.Line{Function: b.Function(dictionary.Function{Name: b.String("inlined")}), Line: int64(i + 1)})
	}
	leaf := b.Location(dictionary.Location{Lines: lines})
	p := message.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	for i := range samples {
		function := b.Function(dictionary.Function{Name: b.String(fmt.Sprint("root ", i))})
		root := b.Location(dictionary.Location{Lines: []dictionary.Line{{Function: function}}})
		sample := p.Samples().AppendEmpty()
		sample.SetStackIndex(int32(b.Stack([]dictionary.LocationIndex{leaf, root})))
		sample.TimestampsUnixNano().Append(timelinetest.Start + uint64(i)*uint64(time.Second))
		sample.Values().Append(int64(time.Millisecond))
	}
	b.Finish()
	return timelinetest.Read(message.Dictionary(), p)
}

// TestTreesAreBounded: a stack of a few bytes may have a thousand functions, and nodes take memory.
func TestTreesAreBounded(t *testing.T) {
	few := all(inlined(500))
	g, err := flame.New(few)
	require.NoError(t, err)
	assert.Len(t, g.Tree, 500*flame.MaxDepth+1)
	o, err := flame.InOrder(few)
	require.NoError(t, err)
	for _, drawing := range []flame.Drawing{
		g.Draw(flame.Window{Pixels: 1 << 30, Most: 2000}), o.Draw(flame.Window{Pixels: 1 << 30, Most: 2000}, timelinetest.Start),
	} {
		assert.LessOrEqual(t, len(drawing.Boxes), 2000)
		assert.Equal(t, int64(500*time.Millisecond), flametest.Self(drawing))
	}

	many := all(inlined(600))
	_, err = flame.New(many)
	assert.ErrorIs(t, err, timeline.ErrTooLarge)
	o, err = flame.InOrder(many)
	require.NoError(t, err, "a path, and no node, per sample")
	assert.LessOrEqual(t, len(o.Draw(flame.Window{Pixels: 1000, Most: 2000}, timelinetest.Start).Boxes), 2000)
}

// TestDescribeIsLinear: the lines of a function are not counted per sample, and a shared attribute
// is not formatted per line.
func TestDescribeIsLinear(t *testing.T) {
	places := 2000
	if testsize.Full() {
		places = 20_000
	}
	message := pprofile.NewProfiles()
	b := dictionary.NewBuilder(message.Dictionary())
	function := b.Function(dictionary.Function{Name: b.String("recursive")})
	attribute := b.AttrString("key", "map")
	var stack []dictionary.LocationIndex
	for i := range places {
		stack = append(stack, b.Location(dictionary.Location{
			Address: uint64(i + 1), Lines: []dictionary.Line{{Function: function, Line: int64(i + 1)}}, Attributes: []dictionary.AttributeIndex{attribute},
		}))
	}
	p := message.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	sample := p.Samples().AppendEmpty()
	sample.SetStackIndex(int32(b.Stack(stack)))
	for range 500_000 {
		sample.Values().Append(1)
	}
	b.Finish()
	long := message.Dictionary().AttributeTable().At(int(attribute)).Value().SetEmptyMap()
	long.PutStr("long", string(make([]byte, 1<<20)))
	source := all(timelinetest.Read(message.Dictionary(), p))
	g, err := flame.New(source)
	require.NoError(t, err)

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	d, err := g.Describe(source, 0)
	require.NoError(t, err)
	if testsize.Full() {
		// Adding to lines allocates nothing, so only time shows that it is done per sample: it
		// would run for minutes, and takes some milliseconds.
		assert.Less(t, time.Since(begin), 20*time.Second, "not a line for each of ten thousand million")
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(100), "MiB")
	assert.Equal(t, int64(500_000), d.Total)
	assert.Len(t, d.Lines, places)
	assert.Equal(t, int64(500_000), d.Lines[0].Self)
}
