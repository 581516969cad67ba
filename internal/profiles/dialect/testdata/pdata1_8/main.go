// SPDX-License-Identifier: Apache-2.0

// Command pdata1_8 writes profiles of OTLP 1.8 with the collector's library of that time:
//
//	cd internal/profiles/dialect/testdata/pdata1_8 && go run . ../otlp-1.8
package main

import (
	"log"
	"os"
	"path/filepath"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

const start = 1_795_223_440_000_000_000

// message is the one of ../make1_9.py, with fields that 1.9 removed or renumbered.
func message(fill func(p pprofile.Profiles, profile pprofile.Profile)) pprofile.Profiles {
	p := pprofile.NewProfiles()
	d := p.Dictionary()
	d.StringTable().Append("", "samples", "count", "cpu", "nanoseconds", "main", "query", "thread.name")
	d.MappingTable().AppendEmpty()
	d.LinkTable().AppendEmpty()
	d.AttributeTable().AppendEmpty()
	d.FunctionTable().AppendEmpty()
	d.LocationTable().AppendEmpty()
	d.StackTable().AppendEmpty()
	for i := range int32(2) {
		d.FunctionTable().AppendEmpty().SetNameStrindex(5 + i)
		d.LocationTable().AppendEmpty().Line().AppendEmpty().SetFunctionIndex(i + 1)
	}
	d.StackTable().AppendEmpty().LocationIndices().FromRaw([]int32{1})
	d.StackTable().AppendEmpty().LocationIndices().FromRaw([]int32{2, 1})
	for _, name := range []string{"main", "pool-1"} {
		a := d.AttributeTable().AppendEmpty()
		a.SetKeyStrindex(7)
		a.Value().SetStr(name)
	}
	resource := p.ResourceProfiles().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "shop")
	scope := resource.ScopeProfiles().AppendEmpty()
	scope.Scope().SetName("old-profiler")
	scope.Scope().SetVersion("0.9")
	profile := scope.Profiles().AppendEmpty()
	profile.SetTime(pcommon.Timestamp(start))
	profile.SetDuration(1_000_000_000)
	profile.SetPeriod(10_000_000)
	profile.SampleType().SetTypeStrindex(1)
	profile.SampleType().SetUnitStrindex(2)
	profile.SampleType().SetAggregationTemporality(pprofile.AggregationTemporalityDelta)
	profile.PeriodType().SetTypeStrindex(3)
	profile.PeriodType().SetUnitStrindex(4)
	fill(p, profile)
	return p
}

func add(profile pprofile.Profile, stack int32, attributes []int32, values []int64, times []uint64) {
	s := profile.Sample().AppendEmpty()
	s.SetStackIndex(stack)
	s.AttributeIndices().FromRaw(attributes)
	s.Values().FromRaw(values)
	s.TimestampsUnixNano().FromRaw(times)
}

func main() {
	for name, p := range map[string]pprofile.Profiles{
		"attributes": message(func(_ pprofile.Profiles, f pprofile.Profile) {
			add(f, 1, []int32{1}, []int64{70}, nil)
			add(f, 2, []int32{2}, []int64{3}, nil)
		}),
		"timestamps": message(func(_ pprofile.Profiles, f pprofile.Profile) {
			f.CommentStrindices().Append(5, 6)
			f.SetProfileID(pprofile.ProfileID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
			f.SetOriginalPayloadFormat("jfr")
			f.OriginalPayload().Append('x')
			f.AttributeIndices().Append(1)
			add(f, 1, nil, nil, []uint64{start, start + 5})
			add(f, 2, nil, nil, []uint64{start + 7})
		}),
	} {
		encoded, err := new(pprofile.ProtoMarshaler).MarshalProfiles(p)
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[1], name+".pb"), encoded, 0o644)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}
