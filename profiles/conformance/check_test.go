// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/internal/canonical"
)

func TestValidMessagePasses(t *testing.T) {
	for _, v := range conformance.Check(dictionarytest.ValidProfiles()) {
		t.Error(v)
	}
}

// Each case breaks a valid message in one way and sees that rule, and only it. The where of the
// violation is part of the test: it is what a human reads.
func TestEveryRuleFires(t *testing.T) {
	const resources = "resource_profiles"
	const scopes = resources + "[0].scope_profiles"
	const profiles = scopes + "[0].profiles"
	const samples = profiles + "[0].samples"
	type dict = pprofile.ProfilesDictionary

	tests := []struct {
		rule  conformance.Rule
		name  string
		where string
		spoil func(p pprofile.Profiles, d dict)
	}{
		{conformance.RuleEmptyList, "no scope", resources + "[1].scope_profiles: no scope", func(p pprofile.Profiles, d dict) {
			p.ResourceProfiles().AppendEmpty()
		}},
		{conformance.RuleEmptyList, "no profile", scopes + "[1].profiles: no profile", func(p pprofile.Profiles, d dict) {
			p.ResourceProfiles().At(0).ScopeProfiles().AppendEmpty()
		}},
		{conformance.RuleZeroEntry, "mapping", "mapping_table[0]", func(p pprofile.Profiles, d dict) {
			d.MappingTable().At(0).SetFileOffset(1)
		}},
		{conformance.RuleZeroEntry, "location", "location_table[0]", func(p pprofile.Profiles, d dict) {
			d.LocationTable().At(0).SetAddress(1)
		}},
		{conformance.RuleZeroEntry, "function", "function_table[0]", func(p pprofile.Profiles, d dict) {
			d.FunctionTable().At(0).SetStartLine(1)
		}},
		{conformance.RuleZeroEntry, "link", "link_table[0]", func(p pprofile.Profiles, d dict) {
			d.LinkTable().At(0).SetSpanID(pcommon.SpanID{1})
		}},
		{conformance.RuleZeroEntry, "string", "string_table[0]", func(p pprofile.Profiles, d dict) {
			d.StringTable().SetAt(0, "real data")
		}},
		{conformance.RuleZeroEntry, "attribute", "attribute_table[0]", func(p pprofile.Profiles, d dict) {
			d.AttributeTable().At(0).Value().SetStr("")
		}},
		{conformance.RuleZeroEntry, "stack", "stack_table[0]", func(p pprofile.Profiles, d dict) {
			d.StackTable().At(0).LocationIndices().Append(2)
		}},
		{conformance.RuleZeroEntry, "table missing", "link_table[0]: missing", func(p pprofile.Profiles, d dict) {
			dictionarytest.FirstSample(p).SetLinkIndex(0)
			d.LinkTable().RemoveIf(func(pprofile.Link) bool { return true })
		}},
		{conformance.RuleProfileAttributes, "out of range", profiles + "[0]: attribute 99 of", func(p pprofile.Profiles, d dict) {
			dictionarytest.FirstProfile(p).AttributeIndices().Append(99)
		}},
		{conformance.RuleProfileAttributes, "negative", profiles + "[0]: attribute -1 of", func(p pprofile.Profiles, d dict) {
			dictionarytest.FirstProfile(p).AttributeIndices().Append(-1)
		}},
		{conformance.RuleProfileAttributes, "key twice", profiles + `[0]: attribute "environment" twice`, func(p pprofile.Profiles, d dict) {
			a := d.AttributeTable().AppendEmpty()
			a.SetKeyStrindex(d.AttributeTable().At(1).KeyStrindex())
			a.Value().SetStr("other")
			dictionarytest.FirstProfile(p).AttributeIndices().Append(int32(d.AttributeTable().Len() - 1))
		}},
		{conformance.RuleValueType, "sample type", profiles + "[0]: sample_type", func(p pprofile.Profiles, d dict) {
			replaceText(d, dictionarytest.FirstProfile(p).SampleType().TypeStrindex(), "service.name")
			dictionarytest.FirstProfile(p).SampleType().SetTypeStrindex(99)
		}},
		{conformance.RuleValueType, "period type", profiles + "[0]: period_type", func(p pprofile.Profiles, d dict) {
			replaceText(d, dictionarytest.FirstProfile(p).PeriodType().UnitStrindex(), "service.name")
			dictionarytest.FirstProfile(p).PeriodType().SetUnitStrindex(-1)
		}},
		{conformance.RuleSampleReference, "stack", samples + "[2]: stack -5 of 3", func(p pprofile.Profiles, d dict) {
			dictionarytest.FirstProfile(p).Samples().At(2).SetStackIndex(-5)
		}},
		{conformance.RuleSampleReference, "link", samples + "[2]: link 2 of 2", func(p pprofile.Profiles, d dict) {
			dictionarytest.FirstProfile(p).Samples().At(2).SetLinkIndex(2)
		}},
		{conformance.RuleSampleReference, "attribute", samples + "[0]: attribute 1000 of", func(p pprofile.Profiles, d dict) {
			dictionarytest.FirstSample(p).AttributeIndices().Append(1000)
		}},
		{conformance.RuleSampleReference, "key twice", samples + `[0]: attribute "thread.id" twice`, func(p pprofile.Profiles, d dict) {
			dictionarytest.FirstSample(p).AttributeIndices().Append(dictionarytest.FirstSample(p).AttributeIndices().At(0))
		}},
		{conformance.RuleTimestampRange, "before", samples + "[0]: timestamp 0", func(p pprofile.Profiles, d dict) {
			dictionarytest.FirstSample(p).TimestampsUnixNano().SetAt(0, uint64(dictionarytest.FirstProfile(p).Time())-1)
		}},
		{conformance.RuleTimestampRange, "at the end", samples + "[2]: timestamp 0", func(p pprofile.Profiles, d dict) {
			dictionarytest.FirstProfile(p).SetDurationNano(dictionarytest.FirstProfile(p).DurationNano() - 1)
		}},
		{conformance.RuleTimestampRange, "overflow", samples + "[0]: timestamp 0 is 5", func(p pprofile.Profiles, d dict) {
			dictionarytest.FirstSample(p).TimestampsUnixNano().SetAt(0, 5)
			dictionarytest.FirstProfile(p).SetDurationNano(1<<64 - 1)
		}},
		{conformance.RuleSampleShape, "neither", samples + "[2]: 0 values with 0 timestamps", func(p pprofile.Profiles, d dict) {
			dictionarytest.FirstProfile(p).Samples().At(2).TimestampsUnixNano().FromRaw(nil)
		}},
		{conformance.RuleSampleShape, "different numbers", samples + "[0]: 1 values with 2 timestamps", func(p pprofile.Profiles, d dict) {
			dictionarytest.FirstSample(p).Values().Append(1)
		}},
		{conformance.RuleSampleShape, "several totals", samples + "[0]: 2 values with 0 timestamps", func(p pprofile.Profiles, d dict) {
			dictionarytest.FirstSample(p).Values().Append(1, 2)
			dictionarytest.FirstSample(p).TimestampsUnixNano().FromRaw(nil)
		}},
		{conformance.RuleMixedShapes, "total after timestamps", samples + "[1]: ", func(p pprofile.Profiles, d dict) {
			s := dictionarytest.FirstProfile(p).Samples().At(1)
			s.Values().Append(1)
			s.TimestampsUnixNano().FromRaw(nil)
		}},
		{conformance.RuleMixedShapes, "points after timestamps", samples + "[1]: a value per timestamp", func(p pprofile.Profiles, d dict) {
			dictionarytest.FirstProfile(p).Samples().At(1).Values().Append(1)
		}},
		{conformance.RuleMapping, "file name", "mapping_table[1]: file name 99", func(p pprofile.Profiles, d dict) {
			replaceText(d, d.MappingTable().At(1).FilenameStrindex(), "service.name")
			d.MappingTable().At(1).SetFilenameStrindex(99)
		}},
		{conformance.RuleMapping, "attribute", "mapping_table[1]: attribute 99", func(p pprofile.Profiles, d dict) {
			d.MappingTable().At(1).AttributeIndices().Append(99)
		}},
		{conformance.RuleMapping, "empty range", "mapping_table[1]: starts at 0x2000, ends at 0x2000", func(p pprofile.Profiles, d dict) {
			d.MappingTable().At(1).SetMemoryStart(0x2000)
		}},
		{conformance.RuleMapping, "start without limit", "mapping_table[1]: starts at 0x1000, ends at 0x0", func(p pprofile.Profiles, d dict) {
			d.MappingTable().At(1).SetMemoryLimit(0)
		}},
		{conformance.RuleMappingTwice, "", "mapping_table[2]: same as 1", func(p pprofile.Profiles, d dict) {
			d.MappingTable().At(1).CopyTo(d.MappingTable().AppendEmpty())
			d.LocationTable().At(1).SetMappingIndex(2)
		}},
		{conformance.RuleBuildID, "", "mapping_table[2]: no process", func(p pprofile.Profiles, d dict) {
			d.MappingTable().AppendEmpty().SetFileOffset(1)
			d.LocationTable().At(1).SetMappingIndex(2)
		}},
		{conformance.RuleLocation, "mapping", "location_table[1]: mapping 9 of 2", func(p pprofile.Profiles, d dict) {
			d.LocationTable().At(1).SetMappingIndex(9)
		}},
		{conformance.RuleLocation, "function", "location_table[1]: line 2: function -1 of 3", func(p pprofile.Profiles, d dict) {
			d.LocationTable().At(1).Lines().AppendEmpty().SetFunctionIndex(-1)
		}},
		{conformance.RuleLocation, "line", "location_table[1]: line 0 is at -1:5", func(p pprofile.Profiles, d dict) {
			d.LocationTable().At(1).Lines().At(0).SetLine(-1)
		}},
		{conformance.RuleLocation, "column", "location_table[1]: line 0 is at 12:-1", func(p pprofile.Profiles, d dict) {
			d.LocationTable().At(1).Lines().At(0).SetColumn(-1)
		}},
		{conformance.RuleLocation, "attribute", "location_table[2]: attribute 99", func(p pprofile.Profiles, d dict) {
			d.LocationTable().At(2).AttributeIndices().Append(99)
		}},
		{conformance.RuleLocationTwice, "attributes in another order", "location_table[3]: same as 1", func(p pprofile.Profiles, d dict) {
			l := d.LocationTable().AppendEmpty()
			d.LocationTable().At(1).CopyTo(l)
			attributes := l.AttributeIndices().AsRaw()
			slices.Reverse(attributes)
			l.AttributeIndices().FromRaw(attributes)
			d.StackTable().At(2).LocationIndices().Append(3)
		}},
		{conformance.RuleFunction, "name", "function_table[1]: string 99", func(p pprofile.Profiles, d dict) {
			replaceText(d, d.FunctionTable().At(1).NameStrindex(), "service.name")
			d.FunctionTable().At(1).SetNameStrindex(99)
		}},
		{conformance.RuleFunction, "start line", "function_table[1]: starts at line -1", func(p pprofile.Profiles, d dict) {
			d.FunctionTable().At(1).SetStartLine(-1)
		}},
		{conformance.RuleFunctionTwice, "", "function_table[3]: same as 1", func(p pprofile.Profiles, d dict) {
			d.FunctionTable().At(1).CopyTo(d.FunctionTable().AppendEmpty())
			d.LocationTable().At(1).Lines().At(1).SetFunctionIndex(3)
			d.LocationTable().At(2).Lines().AppendEmpty().SetFunctionIndex(2)
		}},
		{conformance.RuleFunctionUnnamed, "", "function_table[3]: no name", func(p pprofile.Profiles, d dict) {
			d.FunctionTable().AppendEmpty().SetStartLine(4)
			d.LocationTable().At(2).Lines().AppendEmpty().SetFunctionIndex(3)
		}},
		{conformance.RuleLink, "no span", `link_table[1]: trace`, func(p pprofile.Profiles, d dict) {
			d.LinkTable().At(1).SetSpanID(pcommon.SpanID{})
		}},
		{conformance.RuleLinkTwice, "", "link_table[2]: same as 1", func(p pprofile.Profiles, d dict) {
			d.LinkTable().At(1).CopyTo(d.LinkTable().AppendEmpty())
			dictionarytest.FirstProfile(p).Samples().At(1).SetLinkIndex(2)
		}},
		{conformance.RuleStringTwice, "", "same as", func(p pprofile.Profiles, d dict) {
			leaf := d.FunctionTable().At(1)
			d.StringTable().Append(d.StringTable().At(int(leaf.NameStrindex())))
			leaf.SetSystemNameStrindex(int32(d.StringTable().Len() - 1))
		}},
		{conformance.RuleAttribute, "key", "attribute_table[1]: key 99", func(p pprofile.Profiles, d dict) {
			replaceText(d, d.AttributeTable().At(1).KeyStrindex(), "service.name")
			d.AttributeTable().At(1).SetKeyStrindex(99)
		}},
		{conformance.RuleAttribute, "unit", "attribute_table[1]: unit -7", func(p pprofile.Profiles, d dict) {
			d.AttributeTable().At(1).SetUnitStrindex(-7)
		}},
		{conformance.RuleAttribute, "too deep", "attribute_table[1]: value nested", func(p pprofile.Profiles, d dict) {
			v := d.AttributeTable().At(1).Value()
			for range canonical.MaxDepth + 2 {
				v = v.SetEmptySlice().AppendEmpty()
			}
		}},
		{conformance.RuleAttributeTwice, "map in another order", "same as", func(p pprofile.Profiles, d dict) {
			d.AttributeTable().At(1).Value().SetEmptyMap().PutInt("a", 1)
			d.AttributeTable().At(1).Value().Map().PutInt("b", 2)
			a := d.AttributeTable().AppendEmpty()
			a.SetKeyStrindex(d.AttributeTable().At(1).KeyStrindex())
			a.Value().SetEmptyMap().PutInt("b", 2)
			a.Value().Map().PutInt("a", 1)
			dictionarytest.FirstSample(p).AttributeIndices().Append(int32(d.AttributeTable().Len() - 1))
		}},
		{conformance.RuleStack, "", "stack_table[1]: location 77 of 3", func(p pprofile.Profiles, d dict) {
			d.StackTable().At(1).LocationIndices().Append(77)
		}},
		{conformance.RuleStackTwice, "", "stack_table[3]: same as 1", func(p pprofile.Profiles, d dict) {
			d.StackTable().At(1).CopyTo(d.StackTable().AppendEmpty())
			dictionarytest.FirstProfile(p).Samples().At(2).SetStackIndex(3)
		}},
		{conformance.RuleOrphan, "mapping", "mapping_table[2]", func(p pprofile.Profiles, d dict) {
			d.MappingTable().At(1).CopyTo(d.MappingTable().AppendEmpty())
			d.MappingTable().At(2).SetFileOffset(1)
		}},
		{conformance.RuleOrphan, "location", "location_table[3]", func(p pprofile.Profiles, d dict) {
			d.LocationTable().AppendEmpty().SetAddress(1)
		}},
		{conformance.RuleOrphan, "function", "function_table[3]", func(p pprofile.Profiles, d dict) {
			d.FunctionTable().AppendEmpty().SetNameStrindex(1)
		}},
		{conformance.RuleOrphan, "link", "link_table[1]", func(p pprofile.Profiles, d dict) {
			dictionarytest.FirstSample(p).SetLinkIndex(0)
		}},
		{conformance.RuleOrphan, "string", "string_table[", func(p pprofile.Profiles, d dict) {
			d.StringTable().Append("nobody")
		}},
		{conformance.RuleOrphan, "attribute", "attribute_table[", func(p pprofile.Profiles, d dict) {
			d.AttributeTable().AppendEmpty().SetKeyStrindex(1)
		}},
		{conformance.RuleOrphan, "stack", "stack_table[3]", func(p pprofile.Profiles, d dict) {
			d.StackTable().AppendEmpty().LocationIndices().Append(1, 1)
		}},
		{conformance.RulePayload, "format alone", profiles + `[0]: format "pprof" with 0 bytes`, func(p pprofile.Profiles, d dict) {
			dictionarytest.FirstProfile(p).SetOriginalPayloadFormat("pprof")
		}},
		{conformance.RulePayloadFormat, "", profiles + `[0]: format "sentry", must be one of`, func(p pprofile.Profiles, d dict) {
			dictionarytest.FirstProfile(p).SetOriginalPayloadFormat("sentry")
			dictionarytest.FirstProfile(p).OriginalPayload().Append(1)
		}},
		{conformance.RulePayload, "payload alone", profiles + `[0]: format "" with 1 bytes`, func(p pprofile.Profiles, d dict) {
			dictionarytest.FirstProfile(p).OriginalPayload().Append(1)
		}},
		{conformance.RuleSampleTwice, "attributes in another order", samples + "[3]: same as 0", func(p pprofile.Profiles, d dict) {
			s := dictionarytest.FirstProfile(p).Samples().AppendEmpty()
			dictionarytest.FirstSample(p).CopyTo(s)
			attributes := s.AttributeIndices().AsRaw()
			slices.Reverse(attributes)
			s.AttributeIndices().FromRaw(attributes)
		}},
		{conformance.RuleText, "string", `is not UTF-8`, func(p pprofile.Profiles, d dict) {
			d.StringTable().SetAt(int(d.FunctionTable().At(1).NameStrindex()), "\xff")
		}},
		{conformance.RuleText, "attribute value", `attribute_table[1]: "\xff" is not UTF-8`, func(p pprofile.Profiles, d dict) {
			d.AttributeTable().At(1).Value().SetEmptySlice().AppendEmpty().SetStr("\xff")
		}},
		{conformance.RuleText, "resource", resources + `[0]: "\xff" is not UTF-8`, func(p pprofile.Profiles, d dict) {
			p.ResourceProfiles().At(0).Resource().Attributes().PutStr("k", "\xff")
		}},
		{conformance.RuleResourceAttributes, "marshalled while mutable", resources + "[0]: ", func(p pprofile.Profiles, d dict) {
			// The marshaller adds the strings it moves to the table; that they are orphans as far
			// as one can see is hidden here by referring to them.
			p.ResourceProfiles().At(0).Resource().Attributes().Clear()
			p.ResourceProfiles().At(0).Resource().Attributes().PutStr("leaf", "root")
			if _, err := new(pprofile.ProtoMarshaler).MarshalProfiles(p); err != nil {
				panic(err)
			}
		}},
		{conformance.RuleAddress, "before", "location_table[2]: address 0xfff", func(p pprofile.Profiles, d dict) {
			d.LocationTable().At(2).SetAddress(0xfff)
		}},
		{conformance.RuleAddress, "after", "location_table[2]: address 0x2001", func(p pprofile.Profiles, d dict) {
			d.LocationTable().At(2).SetAddress(0x2001)
		}},
		{conformance.RuleMapKey, "attribute value", `attribute_table[1]: key "a" twice in a map`, func(p pprofile.Profiles, d dict) {
			keyTwice(d.AttributeTable().At(1).Value().SetEmptySlice().AppendEmpty())
		}},
		{conformance.RuleMapKey, "resource", resources + `[0]: key "a" twice`, func(p pprofile.Profiles, d dict) {
			keyTwice(p.ResourceProfiles().At(0).Resource().Attributes().PutEmptyMap("map").PutEmpty("nested"))
		}},
		{conformance.RuleMapKey, "scope", scopes + `[0]: key "a" twice`, func(p pprofile.Profiles, d dict) {
			keyTwice(p.ResourceProfiles().At(0).ScopeProfiles().At(0).Scope().Attributes().PutEmpty("map"))
		}},
		{conformance.RuleFrameType, "language", `"Python"`, func(p pprofile.Profiles, d dict) {
			attributeOf(d, "profile.frame.type").SetStr("Python")
		}},
		{conformance.RuleFrameType, "other type", "profile.frame.type of type Int", func(p pprofile.Profiles, d dict) {
			attributeOf(d, "profile.frame.type").SetInt(1)
		}},
		{conformance.RulePprofScope, "resource", resources + `[0]: attribute "pprof.scope.default_sample_type"`, func(p pprofile.Profiles, d dict) {
			p.ResourceProfiles().At(0).Resource().Attributes().PutStr("pprof.scope.default_sample_type", "cpu")
		}},
		{conformance.RulePprofScope, "profile", `"pprof.scope.sample_type_order"`, func(p pprofile.Profiles, d dict) {
			replaceText(d, d.AttributeTable().At(1).KeyStrindex(), "pprof.scope.sample_type_order")
		}},
		{conformance.RuleUnit, "", `unit "nanoseconds" of attribute`, func(p pprofile.Profiles, d dict) {
			d.AttributeTable().At(1).SetUnitStrindex(dictionarytest.FirstProfile(p).PeriodType().UnitStrindex())
		}},
	}
	fired := map[conformance.Rule]bool{}
	for _, test := range tests {
		t.Run(string(test.rule)+"/"+test.name, func(t *testing.T) {
			p := dictionarytest.ValidProfiles()
			test.spoil(p, p.Dictionary())
			violations := conformance.Check(p)
			if len(violations) != 1 {
				t.Fatalf("%d violations, want 1: %q", len(violations), fmt.Sprint(violations))
			}
			if got := violations[0]; got.Rule != test.rule || !strings.Contains(got.String(), test.where) {
				t.Errorf("got %q, want %s with %q", got, test.rule, test.where)
			}
			fired[test.rule] = true
		})
	}
	for _, rule := range allRules(t) {
		if !fired[rule] {
			t.Errorf("no case for %s", rule)
		}
	}
}

// keyTwice gives a value a map with a key twice. Only decoders of pdata write one.
func keyTwice(to pcommon.Value) {
	p, err := new(pprofile.JSONUnmarshaler).UnmarshalProfiles([]byte(`{"dictionary":{"attributeTable":[{"value":{"kvlistValue":{"values":[{"key":"a"},{"key":"a"}]}}}]}}`))
	if err != nil {
		panic(err)
	}
	p.Dictionary().AttributeTable().At(0).Value().CopyTo(to)
}

// attributeOf returns the value of the first attribute with a key.
func attributeOf(d pprofile.ProfilesDictionary, key string) pcommon.Value {
	for _, a := range d.AttributeTable().All() {
		if d.StringTable().At(int(a.KeyStrindex())) == key {
			return a.Value()
		}
	}
	panic("no attribute " + key)
}

// allRules reads the rules from their source, so that a new one without a case is noticed.
func allRules(t *testing.T) []conformance.Rule {
	t.Helper()
	source, err := os.ReadFile("rule.go")
	if err != nil {
		t.Fatal(err)
	}
	var rules []conformance.Rule
	for _, m := range regexp.MustCompile(`Rule\w+ +Rule = "([a-z-]+)"`).FindAllSubmatch(source, -1) {
		rules = append(rules, conformance.Rule(m[1]))
	}
	if len(rules) < 28 {
		t.Fatalf("found only %d rules", len(rules))
	}
	return rules
}

// replaceText gives a string, which a case is about to leave without a reference, the text of a
// resource attribute's key: then it is no orphan.
func replaceText(d pprofile.ProfilesDictionary, i int32, text string) {
	d.StringTable().SetAt(int(i), text)
}

func TestEmptyMessage(t *testing.T) {
	count := map[conformance.Rule]int{}
	for _, v := range conformance.Check(pprofile.NewProfiles()) {
		count[v.Rule]++
	}
	if len(count) != 2 || count[conformance.RuleEmptyList] != 1 || count[conformance.RuleZeroEntry] != 7 {
		t.Errorf("%v", count)
	}
}

// Strings that resource and scope attributes refer to on the wire stay in the table after decoding.
// They are no orphans.
func TestStringsOfResourceAttributesAreUsed(t *testing.T) {
	p := dictionarytest.ValidProfiles()
	attributes := p.ResourceProfiles().At(0).Resource().Attributes()
	attributes.PutEmptyMap("nested").PutEmptySlice("list").AppendEmpty().SetStr("deep")
	p.ResourceProfiles().At(0).ScopeProfiles().At(0).Scope().Attributes().PutStr("scope.key", "scope value")
	p.MarkReadOnly()
	wire, err := new(pprofile.ProtoMarshaler).MarshalProfiles(p)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(wire)
	if err != nil {
		t.Fatal(err)
	}
	if decoded.Dictionary().StringTable().Len() <= p.Dictionary().StringTable().Len() {
		t.Fatal("the marshaller did not move strings into the table; this test is moot")
	}
	for _, v := range conformance.Check(decoded) {
		t.Error(v)
	}
}

func TestManyViolationsAreCounted(t *testing.T) {
	p := dictionarytest.ValidProfiles()
	for range 100 {
		p.Dictionary().StringTable().Append("nobody")
	}
	const listed = 20
	var twice, orphans []conformance.Violation
	for _, v := range conformance.Check(p) {
		switch v.Rule {
		case conformance.RuleStringTwice:
			twice = append(twice, v)
		case conformance.RuleOrphan:
			orphans = append(orphans, v)
		}
	}
	if len(twice) != listed+1 || twice[listed].String() != "string-twice: message: and 79 more" {
		t.Errorf("%v", twice)
	}
	if len(orphans) != listed+1 || orphans[listed].String() != "orphan: message: and 80 more" {
		t.Errorf("%v", orphans)
	}
}
