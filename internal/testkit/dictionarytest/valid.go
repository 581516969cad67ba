// SPDX-License-Identifier: Apache-2.0

package dictionarytest

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// ValidProfiles returns a message that uses every table and every field that the conformance check
// reads.
//
//	stack 1: location 1 (function "leaf", inlined into "root")
//	stack 2: location 2 (address in mapping 1), location 1
func ValidProfiles() pprofile.Profiles {
	p := pprofile.NewProfiles()
	b := dictionary.NewBuilder(p.Dictionary())

	resource := p.ResourceProfiles().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "shop")
	scope := resource.ScopeProfiles().AppendEmpty()
	scope.Scope().SetName("test")
	profile := scope.Profiles().AppendEmpty()
	profile.SetProfileID(pprofile.ProfileID{0xab, 15: 1})
	profile.SetTime(1_700_000_000_000_000_000)
	profile.SetDurationNano(30_000_000)
	profile.SetPeriod(10_000_000)
	dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))
	dictionary.SetValueType(profile.PeriodType(), b.String("wall"), b.String("nanoseconds"))
	dictionary.SetAttributes(profile.AttributeIndices(), b.AttrString("environment", "test"))

	leaf := b.Function(dictionary.Function{Name: b.String("leaf"), Filename: b.String("leaf.go"), StartLine: 3})
	root := b.Function(dictionary.Function{Name: b.String("root"), SystemName: b.String("_Zroot")})
	frameType := b.AttrString("profile.frame.type", "go")
	inApp := b.AttrBool("in_app", true)
	image := b.Mapping(dictionary.Mapping{
		Start: 0x1000, Limit: 0x2000, Filename: b.String("/lib/libshop.so"),
		Attributes: []dictionary.AttributeIndex{b.AttrString("process.executable.build_id.gnu", "abcd")},
	})
	source := b.Location(dictionary.Location{
		Lines:      []dictionary.Line{{Function: leaf, Line: 12, Column: 5}, {Function: root, Line: 40}},
		Attributes: []dictionary.AttributeIndex{frameType, inApp},
	})
	native := b.Location(dictionary.Location{Mapping: image, Address: 0x1234})

	add := func(stack dictionary.StackIndex, link dictionary.LinkIndex, attributes []dictionary.AttributeIndex, offsets ...uint64) {
		s := profile.Samples().AppendEmpty()
		s.SetStackIndex(int32(stack))
		s.SetLinkIndex(int32(link))
		dictionary.SetAttributes(s.AttributeIndices(), attributes...)
		for _, o := range offsets {
			s.TimestampsUnixNano().Append(uint64(profile.Time()) + o)
		}
	}
	thread := []dictionary.AttributeIndex{b.AttrInt("thread.id", 7), b.AttrString("thread.name", "main")}
	linked := b.Link(pcommon.TraceID{1}, pcommon.SpanID{2})
	add(b.Stack([]dictionary.LocationIndex{source}), linked, thread, 0, 10_000_000)
	add(b.Stack([]dictionary.LocationIndex{native, source}), 0, thread, 20_000_000)
	add(0, 0, thread, 29_999_999)
	b.Finish()
	b.Release()
	return p
}

// FirstProfile returns the first profile of a message.
func FirstProfile(p pprofile.Profiles) pprofile.Profile {
	return p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0)
}

// FirstSample returns the first sample of a message.
func FirstSample(p pprofile.Profiles) pprofile.Sample { return FirstProfile(p).Samples().At(0) }
