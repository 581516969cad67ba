// SPDX-License-Identifier: Apache-2.0

package symbolicate

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// TestRandomProfiles: whatever frames a message has, it is valid afterwards, and compaction finds
// nothing to merge or to remove.
func TestRandomProfiles(t *testing.T) {
	var asked []ScriptID
	files := shop{t, &asked}
	script, _ := files.Script(ScriptID{DebugID: debugID})
	for seed := range uint64(300) {
		p := randomProfile(rand.New(rand.NewPCG(seed, 22)), len(minified(t)))
		require.Empty(t, broken(p), "seed %d", seed)
		before := rawFrames(p)
		Profiles(p, opened{files, script})()
		require.Empty(t, broken(p), "seed %d", seed)
		compacted := pprofile.NewProfiles()
		p.CopyTo(compacted)
		dictionary.Compact(compacted)
		require.Empty(t, dictionarytest.Diff(compacted, p), "seed %d", seed)
		require.Equal(t, before, rawFrames(p), "seed %d", seed)
	}
}

// rawFrames returns the frames of each sample as the profiler wrote them.
func rawFrames(p pprofile.Profiles) (frames []string) {
	reader := timeline.NewReader(p.Dictionary())
	reader.Raw()
	profile := reader.Read(dictionarytest.FirstProfile(p))
	for _, thread := range profile.Threads {
		for _, sample := range thread.Samples {
			for _, l := range profile.Stacks[sample.Stack] {
				for _, line := range profile.Locations[l].Lines {
					f := profile.Frames[line.Frame]
					frames = append(frames, fmt.Sprint(f.Module, " ", f.Name, " ", f.File, ":", line.Line, ":", line.Column))
				}
			}
		}
	}
	return frames
}

// randomProfile returns a message whose frames differ in few details, so that different frames may
// get equal names.
func randomProfile(r *rand.Rand, columns int) pprofile.Profiles {
	p := pprofile.NewProfiles()
	b := dictionary.NewBuilder(p.Dictionary())
	defer b.Release()
	resource := p.ResourceProfiles().AppendEmpty()
	resource.Resource().Attributes().PutStr("telemetry.sdk.language", []string{"webjs", "nodejs"}[r.IntN(2)])
	profile := resource.ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))
	profile.SetTime(1000)
	profile.SetDurationNano(1000)
	images := pcommon.NewValueSlice()
	for _, image := range []map[string]string{{"type": "sourcemap", "code_file": url, "debug_id": debugID}, {"type": "proguard", "uuid": buildID}} {
		m := images.Slice().AppendEmpty().SetEmptyMap()
		for key, value := range image {
			m.PutStr(key, value)
		}
	}
	dictionary.SetAttributes(profile.AttributeIndices(), b.Attribute("sentry.debug_meta.images", dictionary.AnyValue(images), ""))
	image := b.Mapping(dictionary.Mapping{Start: 0x100000, Limit: 0x110000, Attributes: []dictionary.AttributeIndex{
		b.AttrString("process.executable.build_id.gnu", cartID), b.AttrString("sentry.debug_id", cartID), b.AttrString("sentry.image.type", "macho"),
	}})
	oneOf := func(names ...string) string { return names[r.IntN(len(names))] }
	location := func() dictionary.LocationIndex {
		var l dictionary.Location
		withLine, f := r.IntN(10) > 0, dictionary.Function{}
		if withLine {
			f = dictionary.Function{Name: b.String(oneOf("a", "b", "l", "discountOf", "")), Filename: b.String(oneOf(url, url, "basket.ts", "Cart.kt"))}
		}
		if f.Name != 0 && r.IntN(10) == 0 {
			f.StartLine = int64(r.IntN(2))
			f.SystemName = b.String(oneOf("a", "l"))
		}
		line := dictionary.Line{Line: int64(r.IntN(3)), Column: int64(r.IntN(columns))}
		switch r.IntN(3) {
		case 0:
			l.Attributes = append(l.Attributes, b.AttrString("profile.frame.type", "v8js"))
		case 1:
			l.Attributes = append(l.Attributes, b.AttrString("profile.frame.type", "jvm"), b.AttrString("sentry.frame.module", oneOf("a.b", "com.example.shop.Cart")))
			line.Column = 0
		case 2:
			l.Attributes = append(l.Attributes, b.AttrString("profile.frame.type", "native"))
			l.Mapping, l.Address, line.Line, line.Column = image, uint64(0x101000+8*r.IntN(6)), 0, 0
		}
		if withLine {
			line.Function = b.Function(f)
			l.Lines = append(l.Lines, line)
		}
		if r.IntN(4) == 0 {
			l.Attributes = append(l.Attributes, b.AttrBool("sentry.frame.in_app", r.IntN(2) == 0))
		}
		if r.IntN(10) == 0 {
			l.Attributes = append(l.Attributes, b.AttrString("symbolication.status", "ok"))
		}
		return b.Location(l)
	}
	seen := map[dictionary.StackIndex]bool{}
	for i := range 10 {
		var stack []dictionary.LocationIndex
		for range 1 + r.IntN(5) {
			stack = append(stack, location())
		}
		if index := b.Stack(stack); !seen[index] {
			seen[index] = true
			sample := profile.Samples().AppendEmpty()
			sample.TimestampsUnixNano().Append(uint64(1000 + i))
			sample.SetStackIndex(int32(index))
		}
	}
	b.Finish()
	return p
}
