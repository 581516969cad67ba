// SPDX-License-Identifier: Apache-2.0

package timeline_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// TestLongTextsThatManyName: a text that a message has once is not copied for each thing that names
// it.
func TestLongTextsThatManyName(t *testing.T) {
	const many = 3000
	long := strings.Repeat("x", 1<<20)
	message := pprofile.NewProfiles()
	b := dictionary.NewBuilder(message.Dictionary())
	file := b.String(long)
	mapping := b.Mapping(dictionary.Mapping{Start: 1, Limit: 1 << 30, Filename: file})
	thread := b.AttrString("thread.id", "map")
	module := b.AttrString("sentry.frame.module", "map")
	var stack []dictionary.LocationIndex
	for i := range many {
		function := b.Function(dictionary.Function{Filename: file, StartLine: int64(i)})
		stack = append(stack,
			b.Location(dictionary.Location{Lines: []dictionary.Line{{Function: function}}, Attributes: []dictionary.AttributeIndex{module}}),
			b.Location(dictionary.Location{Mapping: mapping, Address: uint64(i + 1)}))
	}
	stackIndex := b.Stack(stack)
	profiles := message.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles()
	for range many {
		p := profiles.AppendEmpty()
		sample := p.Samples().AppendEmpty()
		sample.SetStackIndex(int32(stackIndex))
		sample.Values().Append(1)
		dictionary.SetAttributes(sample.AttributeIndices(), thread)
	}
	b.Finish()
	for _, i := range []dictionary.AttributeIndex{thread, module} {
		message.Dictionary().AttributeTable().At(int(i)).Value().SetEmptyMap().PutStr("k", long)
	}

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	reader := timeline.NewReader(message.Dictionary())
	var last *timeline.Profile
	for i := range many {
		last = reader.Read(profiles.At(i))
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(60), "MiB")
	assert.Len(t, last.Stacks, 2)
	assert.Len(t, last.Stacks[1], 2*many)
	assert.Len(t, last.Frames, 2*many)
	for _, frame := range last.Frames {
		for _, text := range []string{frame.Name, frame.File, frame.Module} {
			assert.LessOrEqual(t, len(text), timeline.MaxText+timeline.ClipSlack)
		}
	}
	assert.LessOrEqual(t, len(last.Threads[0].ID), timeline.MaxText+timeline.ClipSlack)
	assert.Contains(t, last.Threads[0].ID, " bytes]…")
}
