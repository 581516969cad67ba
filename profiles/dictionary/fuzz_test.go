// SPDX-License-Identifier: Apache-2.0

package dictionary_test

import (
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Whatever pdata accepts as a message, reading, checking, printing and compacting it ends without a
// panic; all but the last leave it as it was.
func fuzzMessage(f *testing.F, use func(t *testing.T, p pprofile.Profiles)) {
	valid := dictionarytest.ValidProfiles()
	valid.MarkReadOnly()
	encoded, err := new(pprofile.ProtoMarshaler).MarshalProfiles(valid)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(encoded)
	f.Add([]byte{})
	for i := 0; i < len(encoded); i += 7 { // one broken byte in many places
		broken := append([]byte(nil), encoded...)
		broken[i] ^= 0xff
		f.Add(broken)
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		p, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(encoded)
		if err != nil {
			return
		}
		use(t, p)
	})
}

func FuzzView(f *testing.F) {
	fuzzMessage(f, func(t *testing.T, p pprofile.Profiles) {
		p.MarkReadOnly() // a write would panic
		v := dictionary.NewView(p.Dictionary())
		var l dictionary.Location
		var m dictionary.Mapping
		readAttributes := func(list pcommon.Int32Slice) {
			attributes, _ := v.Attributes(list, nil)
			for _, a := range attributes {
				if got, ok := v.Get(list, a.Key); a.Key != "" && !ok {
					t.Errorf("%q is listed and not found: %v", a.Key, got)
				}
			}
		}
		for _, r := range p.ResourceProfiles().All() {
			for _, s := range r.ScopeProfiles().All() {
				for _, profile := range s.Profiles().All() {
					v.ValueType(profile.SampleType())
					readAttributes(profile.AttributeIndices())
					for _, sample := range profile.Samples().All() {
						readAttributes(sample.AttributeIndices())
						v.Link(dictionary.LinkIndex(sample.LinkIndex()))
						stack, _ := v.Stack(dictionary.StackIndex(sample.StackIndex()), nil)
						for _, i := range stack {
							v.Location(i, &l)
							if !v.Mapping(l.Mapping, &m) && l.Mapping == 0 {
								t.Error("no mapping is not ok")
							}
							for _, line := range l.Lines {
								f, _ := v.Function(line.Function)
								v.Text(f.Name)
							}
						}
					}
				}
			}
		}
	})
}

func FuzzCheck(f *testing.F) {
	fuzzMessage(f, func(t *testing.T, p pprofile.Profiles) {
		p.MarkReadOnly()
		conformance.Check(p)
		if diff := dictionarytest.Diff(p, p); diff != "" {
			t.Errorf("differs from itself: %s", diff)
		}
		dictionarytest.Dump(p)
	})
}

func FuzzCompact(f *testing.F) {
	fuzzMessage(f, func(t *testing.T, p pprofile.Profiles) {
		before := dictionary.NewIntegrity(dictionary.NewView(p.Dictionary()))
		for _, r := range p.ResourceProfiles().All() {
			for _, s := range r.ScopeProfiles().All() {
				for _, profile := range s.Profiles().All() {
					before.Profile(profile)
				}
			}
		}
		dictionary.Compact(p)
		// Whatever it was, its tables are in order now.
		for _, v := range conformance.Check(p) {
			switch v.Rule {
			case conformance.RuleZeroEntry, conformance.RuleValueType, conformance.RuleStack, conformance.RuleLocationTwice, conformance.RuleFunctionTwice, conformance.RuleMappingTwice,
				conformance.RuleStackTwice, conformance.RuleLinkTwice, conformance.RuleStringTwice, conformance.RuleLink, conformance.RuleOrphan:
				t.Error(v)
			}
		}
	})
}
