// SPDX-License-Identifier: Apache-2.0

package dictionarytest

import (
	"math"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pprofile"
)

func TestDump(t *testing.T) {
	got := Dump(ValidProfiles())
	want := `resource
  service.name = "shop"
scope test
profile ab000000000000000000000000000001
  time      2023-11-14T22:13:20Z
  duration  30.000000ms
  samples   samples/count
  period    wall/nanoseconds every 10.000000ms
  environment = "test"
  mapping libshop.so = /lib/libshop.so 0x1000-0x2000
    process.executable.build_id.gnu = "abcd"
  sample thread.id=7 thread.name="main"
    link trace 01000000000000000000000000000000 span 0200000000000000
    2 timestamps
      +0.000000ms +10.000000ms
    stack
      leaf leaf.go:12:5 start=3 inlined
      root ?:40 system=_Zroot {in_app=true profile.frame.type="go"}
  sample thread.id=7 thread.name="main"
    1 timestamp
      +20.000000ms
    stack
      ? 0x1234 in libshop.so
      leaf leaf.go:12:5 start=3 inlined
      root ?:40 system=_Zroot {in_app=true profile.frame.type="go"}
  sample thread.id=7 thread.name="main"
    1 timestamp
      +29.999999ms
    idle
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What the first golden does not show: every optional part, and every way in which a message can be
// broken.
func TestDumpOddParts(t *testing.T) {
	p := ValidProfiles()
	d := p.Dictionary()
	resource := p.ResourceProfiles().At(0)
	resource.SetSchemaUrl("https://opentelemetry.io/schemas/1.44.0")
	resource.Resource().Attributes().PutDouble("double", 2)
	resource.Resource().Attributes().PutEmptyBytes("bytes").FromRaw([]byte{1, 0xff})
	resource.Resource().Attributes().PutEmpty("empty")
	m := resource.Resource().Attributes().PutEmptyMap("map")
	m.PutStr("z", "1")
	m.PutEmptySlice("a").AppendEmpty().SetDouble(math.NaN())
	m.PutStr("q q", "line\nbreak")
	resource.ScopeProfiles().At(0).Scope().SetVersion("1.0")

	profile := FirstProfile(p)
	profile.SetProfileID(pprofile.ProfileID{})
	profile.SetOriginalPayloadFormat("sentry")
	profile.OriginalPayload().FromRaw([]byte("{}"))
	profile.SetDroppedAttributesCount(2)
	profile.AttributeIndices().Append(-4)
	d.AttributeTable().At(1).SetUnitStrindex(profile.SampleType().UnitStrindex())
	profile.PeriodType().SetUnitStrindex(99)
	profile.SetPeriod(-5)
	other := d.MappingTable().AppendEmpty()
	d.MappingTable().At(1).CopyTo(other)
	other.SetMemoryStart(0x900)
	other.SetFileOffset(0x20)
	d.LocationTable().At(1).SetMappingIndex(2)

	first, second, third := profile.Samples().At(0), profile.Samples().At(1), profile.Samples().At(2)
	first.SetLinkIndex(50)
	first.TimestampsUnixNano().SetAt(0, uint64(profile.Time())-1)
	first.Values().Append(-1, 2)
	first.SetStackIndex(50)
	d.LocationTable().AppendEmpty().SetMappingIndex(44)
	d.LocationTable().At(3).Lines().AppendEmpty().SetFunctionIndex(66)
	d.LocationTable().At(3).Lines().At(0).SetColumn(3)
	d.StackTable().At(2).LocationIndices().Append(0, 77, 3)
	d.FunctionTable().At(1).SetNameStrindex(88)
	second.AttributeIndices().FromRaw(nil)
	third.SetStackIndex(3)
	d.StackTable().AppendEmpty()

	want := `resource
  schema "https://opentelemetry.io/schemas/1.44.0"
  bytes = 0x01ff
  double = 2.0
  empty = nothing
  map = {a: [NaN], "q q": "line\nbreak", z: "1"}
  service.name = "shop"
scope test version=1.0
profile
  time      2023-11-14T22:13:20Z
  duration  30.000000ms
  samples   samples/count
  period    wall/!string 99 every -5
  payload   sentry 2 bytes
  dropped   2 attributes
  !attribute -4 = ?
  environment = "test"[count]
  mapping libshop.so = /lib/libshop.so 0x900-0x2000 offset 0x20
    process.executable.build_id.gnu = "abcd"
  mapping libshop.so#2 = /lib/libshop.so 0x1000-0x2000
    process.executable.build_id.gnu = "abcd"
  sample thread.id=7 thread.name="main"
    link !link 50
    2 timestamps
      -0.000001ms +10.000000ms
    2 values
      -1 2
    stack !stack 50
  sample
    1 timestamp
      +20.000000ms
    stack
      ? 0x1234 in libshop.so#2
      !string 88 leaf.go:12:5 start=3 inlined
      root ?:40 system=_Zroot in libshop.so {in_app=true profile.frame.type="go"}
      ?
      !location 77
      !function 66 ?:0:3 in !mapping 44
  sample thread.id=7 thread.name="main"
    1 timestamp
      +29.999999ms
    stack without frames
`
	if got := Dump(p); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestDumpWrapsTimestamps(t *testing.T) {
	p := ValidProfiles()
	stamps := FirstSample(p).TimestampsUnixNano()
	for i := range uint64(1000) {
		stamps.Append(uint64(FirstProfile(p).Time()) + i*123_456_789)
	}
	text := Dump(p)
	if got := strings.Count(text, "ms +") + strings.Count(text, "\n      +"); got != 1004 {
		t.Errorf("%d timestamps, want 1004", got)
	}
	for line := range strings.Lines(text) {
		if len(line) > 112 {
			t.Errorf("line of %d characters: %s", len(line), line)
		}
	}
}
