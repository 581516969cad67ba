// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// longText and longList are long enough in full size that a comparison of the text with each entry
// of the list takes two minutes.
var longText, longList = 30_000, 5_000

func init() {
	if testsize.Full() {
		longText, longList = 300_000, 50_000
	}
}

// linear runs steps on a message of some bytes. They allocate at most a constant multiple of them,
// usually 10 to 40. A comparison of a long text again and again allocates nothing, and there is no
// counter of it; therefore, in full size, the steps must also end within 12 s. They take less than
// half a second, and if they were quadratic, two minutes.
func linear(t *testing.T, bytes int, step func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	step()
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.TotalAlloc-before.TotalAlloc), int64(100*bytes), "allocated bytes")
	if testsize.Full() {
		require.Less(t, took, 12*time.Second)
	}
}

// oneLongManyShort are messages with one text of longText bytes, to which a list of longList
// entries refers.
var oneLongManyShort = map[string]func(*dictionary.Editor, pprofile.Profiles, string) []dictionary.LocationIndex{
	"lines of one function": func(e *dictionary.Editor, _ pprofile.Profiles, long string) []dictionary.LocationIndex {
		line := dictionary.Line{Function: e.Function(dictionary.Function{Name: e.String(long), Filename: e.String(long)})}
		l := dictionary.Location{}
		for range longList {
			l.Lines = append(l.Lines, line)
		}
		return []dictionary.LocationIndex{e.Location(l)}
	},
	"functions of one name": func(e *dictionary.Editor, _ pprofile.Profiles, long string) []dictionary.LocationIndex {
		l := dictionary.Location{}
		name := e.String(long)
		for i := range longList {
			f := e.Function(dictionary.Function{Name: name, Filename: name, StartLine: int64(i)})
			l.Lines = append(l.Lines, dictionary.Line{Function: f})
		}
		return []dictionary.LocationIndex{e.Location(l)}
	},
	"locations of one module": func(e *dictionary.Editor, _ pprofile.Profiles, long string) (all []dictionary.LocationIndex) {
		value := pcommon.NewValueMap()
		value.Map().PutStr("", long)
		module, file := e.Attribute(semconv.SentryFrameModule, value), e.Attribute(semconv.SentryFrameFilename, value)
		lines := []dictionary.Line{{Function: e.Function(dictionary.Function{Name: e.String(long)})}}
		for i := range longList {
			all = append(all, e.Location(dictionary.Location{Address: uint64(i), Lines: lines, Attributes: []dictionary.AttributeIndex{module, file}}))
		}
		return all
	},
	"mappings of one file": func(e *dictionary.Editor, p pprofile.Profiles, long string) (all []dictionary.LocationIndex) {
		file := e.String(long)
		for i := range longList {
			m := p.Dictionary().MappingTable().AppendEmpty()
			m.SetFilenameStrindex(int32(file))
			m.SetMemoryStart(uint64(i))
			m.SetMemoryLimit(uint64(i + 1))
			all = append(all, e.Location(dictionary.Location{Mapping: dictionary.MappingIndex(i + 1)}))
		}
		return all
	},
}

// TestOneLongTextManyReferences: a text is matched and replaced once, however many entries refer to
// it.
func TestOneLongTextManyReferences(t *testing.T) {
	steps := map[string]Step{
		"frames": &Frames{Action: ActionCollapse, Name: DefaultFrameName, Match: []FrameMatch{
			{Function: regexp.MustCompile("[x-z]$")}, {File: regexp.MustCompile("[x-z]$")}, {Module: regexp.MustCompile("[x-z]$")},
		}},
		"scrub":     &Scrub{Preset: PresetHome},
		"drop_idle": &DropIdle{Functions: []string{strings.Repeat("b", longText)}, Waiting: true},
	}
	for shape, build := range oneLongManyShort {
		for name, step := range steps {
			t.Run(shape+", "+name, func(t *testing.T) {
				p := profileOf(wall)
				e := dictionary.NewEditor(p.Dictionary())
				s := firstProfile(p).Samples().AppendEmpty()
				locations := build(e, p, strings.Repeat("a", longText))
				s.SetStackIndex(int32(e.Stack(locations)))
				for _, l := range locations {
					e.Stack([]dictionary.LocationIndex{l}) // as the leaf
				}
				s.TimestampsUnixNano().Append(testStart)
				before := size(p)
				var parts []pprofile.Profiles
				linear(t, before, func() { parts, _ = Apply(p, []Step{step}) })
				require.Less(t, size(parts[0]), 2*before)
			})
		}
	}
}

// TestManyAttributesOfOneLongKey: the key is compared and copied once. The attributes are of one
// profile.
func TestManyAttributesOfOneLongKey(t *testing.T) {
	p := profileOf(wall)
	e := dictionary.NewEditor(p.Dictionary())
	first := attributeOf(e, strings.Repeat("k", longText), int64(0))
	key := p.Dictionary().AttributeTable().At(int(first)).KeyStrindex()
	for i := range longList {
		attribute := p.Dictionary().AttributeTable().AppendEmpty()
		attribute.SetKeyStrindex(key)
		attribute.SetUnitStrindex(key)
		attribute.Value().SetInt(int64(i))
		s := firstProfile(p).Samples().AppendEmpty()
		s.AttributeIndices().Append(int32(p.Dictionary().AttributeTable().Len() - 1))
		s.Values().Append(1)
	}
	before := size(p)
	var parts []pprofile.Profiles
	linear(t, before, func() {
		parts, _ = Apply(p, []Step{&ResourceToSamples{Attributes: []string{"service.name"}}, &Scrub{Preset: PresetHome}})
	})
	require.Less(t, size(parts[0]), 2*before)
}

// TestSplitOfManyProfilesIsBounded: what profiles share is not repeated for each, and small ones
// share a message.
func TestSplitOfManyProfilesIsBounded(t *testing.T) {
	limit, many := 90_000, 2_000
	if testsize.Full() {
		limit, many = 900_000, 20_000
	}
	for name, share := range map[string]func(p pprofile.Profiles, long string){
		"nothing": func(pprofile.Profiles, string) {},
		"a resource": func(p pprofile.Profiles, long string) {
			p.ResourceProfiles().At(0).Resource().Attributes().PutStr("long", long)
		},
		"a scope": func(p pprofile.Profiles, long string) {
			p.ResourceProfiles().At(0).ScopeProfiles().At(0).Scope().SetVersion(long)
		},
		"a schema": func(p pprofile.Profiles, long string) { p.ResourceProfiles().At(0).SetSchemaUrl(long) },
		"an attribute": func(p pprofile.Profiles, long string) {
			a := int32(attributeOf(dictionary.NewEditor(p.Dictionary()), "long", long))
			for _, profile := range p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().All() {
				profile.AttributeIndices().Append(a)
			}
		},
	} {
		for _, step := range []*Split{{MaxBytes: limit}, {MaxBytes: limit, MaxDuration: time.Millisecond}} {
			t.Run(fmt.Sprintf("%s, %v", name, step.MaxDuration), func(t *testing.T) {
				t.Parallel()
				p := profileOf(wall)
				profiles := p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles()
				profiles.RemoveIf(func(pprofile.Profile) bool { return true })
				for i := range many {
					profile := profiles.AppendEmpty()
					profile.SetTime(1)
					profile.Samples().AppendEmpty().TimestampsUnixNano().Append(testStart, testStart+uint64(i))
				}
				share(p, strings.Repeat("a", longText))
				before := size(p)
				parts, _ := Apply(p, []Step{step})
				n, observed := 0, 0
				for _, part := range parts {
					n += size(part)
					for _, profile := range part.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().All() {
						for _, s := range profile.Samples().All() {
							observed += observations(s)
						}
					}
				}
				require.Equal(t, 2*many, observed)
				require.LessOrEqual(t, n, (maxMultiple+2)*before+minBudget)
				require.LessOrEqual(t, len(parts), ((maxMultiple+2)*before+minBudget)/partOverhead)
				if name == "nothing" && step.MaxDuration == 0 {
					require.Less(t, len(parts), 10)
				}
			})
		}
	}
}
