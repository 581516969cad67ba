// SPDX-License-Identifier: Apache-2.0

package dictionarytest

import (
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

func TestDiffSeesEveryKindOfChange(t *testing.T) {
	if diff := Diff(ValidProfiles(), ValidProfiles()); diff != "" {
		t.Fatalf("equal messages differ: %s", diff)
	}
	changes := map[string]func(p pprofile.Profiles, d pprofile.ProfilesDictionary){
		"resource attribute": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) {
			p.ResourceProfiles().At(0).Resource().Attributes().PutStr("service.name", "other")
		},
		"scope version": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) {
			p.ResourceProfiles().At(0).ScopeProfiles().At(0).Scope().SetVersion("2")
		},
		"time": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) { FirstProfile(p).SetTime(1) },
		"duration": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) {
			FirstProfile(p).SetDurationNano(1)
		},
		"period": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) { FirstProfile(p).SetPeriod(1) },
		"sample type": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) {
			FirstProfile(p).SampleType().SetUnitStrindex(1)
		},
		"payload": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) {
			FirstProfile(p).OriginalPayload().FromRaw([]byte("x"))
		},
		"kind of an attribute": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) {
			for _, a := range d.AttributeTable().All() {
				if a.Value().Type() == pcommon.ValueTypeInt {
					a.Value().SetStr("7")
				}
			}
		},
		"unit": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) {
			d.AttributeTable().At(1).SetUnitStrindex(1)
		},
		"timestamp": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) {
			FirstSample(p).TimestampsUnixNano().SetAt(0, 1)
		},
		"value": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) {
			FirstSample(p).Values().Append(1)
		},
		"link": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) {
			d.LinkTable().At(1).SetSpanID(pcommon.SpanID{9})
		},
		"no link": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) {
			FirstSample(p).SetLinkIndex(0)
		},
		"idle": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) {
			FirstSample(p).SetStackIndex(0)
		},
		"line": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) {
			d.LocationTable().At(1).Lines().At(0).SetLine(1)
		},
		"address": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) { d.LocationTable().At(2).SetAddress(1) },
		"function": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) {
			d.FunctionTable().At(1).SetSystemNameStrindex(1)
		},
		"mapping": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) { d.MappingTable().At(1).SetFileOffset(1) },
		"more": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) {
			FirstProfile(p).Samples().AppendEmpty()
		},
		"frame": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) {
			d.StackTable().At(2).LocationIndices().Append(2)
		},
		"frame order": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) {
			d.StackTable().At(2).LocationIndices().FromRaw([]int32{1, 2})
		},
		"profile id": func(p pprofile.Profiles, d pprofile.ProfilesDictionary) {
			FirstProfile(p).SetProfileID(pprofile.ProfileID{1})
		},
	}
	for name, change := range changes {
		p := ValidProfiles()
		change(p, p.Dictionary())
		diff := Diff(ValidProfiles(), p)
		if !strings.Contains(diff, "\n- ") || !strings.Contains(diff, "\n+ ") {
			t.Errorf("%s: %q", name, diff)
		}
	}
}
