// SPDX-License-Identifier: Apache-2.0

package dictionarytest

import (
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
	wire "go.opentelemetry.io/proto/otlp/profiles/v1development"
	"google.golang.org/protobuf/proto"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

func validProfiles() pprofile.Profiles {
	p := pprofile.NewProfiles()
	b := dictionary.NewBuilder(p.Dictionary())
	resource := p.ResourceProfiles().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "shop")
	resource.Resource().Attributes().PutEmptyMap("nested").PutEmptySlice("list").AppendEmpty().SetStr("deep")
	scope := resource.ScopeProfiles().AppendEmpty()
	scope.Scope().Attributes().PutStr("scope.key", "value")
	profile := scope.Profiles().AppendEmpty()
	profile.SetProfileID(pprofile.ProfileID{1})
	profile.SetTime(1000)
	profile.SetDurationNano(10)
	profile.OriginalPayload().FromRaw([]byte("{}"))
	profile.SetOriginalPayloadFormat("sentry")
	dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))
	dictionary.SetAttributes(profile.AttributeIndices(), b.AttrInt("n", -1), b.Attribute("size", dictionary.DoubleValue(2.5), "By"))
	sample := profile.Samples().AppendEmpty()
	location := b.Location(dictionary.Location{
		Address: 1 << 63,
		Mapping: b.Mapping(dictionary.Mapping{Limit: 1<<64 - 1, Attributes: []dictionary.AttributeIndex{b.AttrString("process.executable.build_id.gnu", "x")}}),
		Lines:   []dictionary.Line{{Function: b.Function(dictionary.Function{Name: b.String("f")}), Line: 1 << 40}},
	})
	sample.SetStackIndex(int32(b.Stack([]dictionary.LocationIndex{location, location})))
	sample.SetLinkIndex(int32(b.Link(pcommon.TraceID{1}, pcommon.SpanID{2})))
	sample.TimestampsUnixNano().Append(1000, 1009)
	b.Finish()
	return p
}

func TestMustBeValid(t *testing.T) {
	p := validProfiles()
	before := Dump(p)
	MustBeValid(t, p)
	if Dump(p) != before || p.IsReadOnly() {
		t.Error("the message was changed")
	}
	p.MarkReadOnly()
	MustBeValid(t, p)
}

func TestCheckWireFindsDefects(t *testing.T) {
	tests := map[string]func(p pprofile.Profiles){
		".stack_index: 7 of 2": func(p pprofile.Profiles) {
			p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples().At(0).SetStackIndex(7)
		},
		".location_indices[2]: -1 of 2": func(p pprofile.Profiles) {
			p.Dictionary().StackTable().At(1).LocationIndices().Append(-1)
		},
		"key_strindex 0": func(p pprofile.Profiles) {
			p.ResourceProfiles().At(0).Resource().Attributes().PutStr("", "x")
		},
		"UTF-8": func(p pprofile.Profiles) {
			p.Dictionary().StringTable().SetAt(1, "\xff")
		},
	}
	for want, spoil := range tests {
		p := validProfiles()
		spoil(p)
		if err := CheckWire(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

// What pdata cannot be made to write, encoded with the generated types.
func TestCheckEncodedFindsDefects(t *testing.T) {
	dictionary := &wire.ProfilesDictionary{
		StringTable: []string{""}, LinkTable: []*wire.Link{{TraceId: []byte{1}}},
	}
	encoded, err := proto.Marshal(&wire.ProfilesData{Dictionary: dictionary})
	if err != nil {
		t.Fatal(err)
	}
	if err := checkEncoded(encoded); err == nil || !strings.Contains(err.Error(), "trace_id: 1 bytes, want 16") {
		t.Errorf("short id: %v", err)
	}
	if err := checkEncoded(append(encoded, 0xa0, 0x06, 1)); err == nil || !strings.Contains(err.Error(), "unknown fields") {
		t.Errorf("unknown field: %v", err)
	}
}
