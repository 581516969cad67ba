// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	wire "go.opentelemetry.io/proto/otlp/profiles/v1development"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
)

// referring returns a valid message after a change of its first attribute, in both encodings. The
// function text adds a string to the table.
func referring(t *testing.T, change func(a *wire.KeyValueAndUnit, text func(string) int32)) map[string]pprofile.Profiles {
	valid := dictionarytest.ValidProfiles()
	valid.MarkReadOnly()
	encoded, err := new(pprofile.ProtoMarshaler).MarshalProfiles(valid)
	require.NoError(t, err)
	var message wire.ProfilesData
	require.NoError(t, proto.Unmarshal(encoded, &message))
	table := &message.Dictionary.StringTable
	change(message.Dictionary.AttributeTable[1], func(s string) int32 {
		*table = append(*table, s)
		return int32(len(*table) - 1)
	})
	encoded, err = proto.Marshal(&message)
	require.NoError(t, err)
	binary, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(encoded)
	require.NoError(t, err)
	// The IDs of OTLP/JSON are in hex, those of protojson in base64.
	message.Dictionary.LinkTable[1] = &wire.Link{}
	message.ResourceProfiles[0].ScopeProfiles[0].Profiles[0].ProfileId = nil
	encoded, err = protojson.Marshal(&message)
	require.NoError(t, err)
	text, err := new(pprofile.JSONUnmarshaler).UnmarshalProfiles(encoded)
	require.NoError(t, err)
	binary.Dictionary().LinkTable().At(1).CopyTo(text.Dictionary().LinkTable().At(1))
	return map[string]pprofile.Profiles{"protobuf": binary, "JSON": text}
}

// ref returns a value that refers to a string.
func ref(i int32) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_StringValueStrindex{StringValueStrindex: i}}
}

func mapOf(entries ...*common.KeyValue) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_KvlistValue{KvlistValue: &common.KeyValueList{Values: entries}}}
}

func listOf(values ...*common.AnyValue) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: &common.ArrayValue{Values: values}}}
}

// TestReferencesInValues: strings to which values of attributes refer are used, and belong to the
// values.
func TestReferencesInValues(t *testing.T) {
	for name, test := range map[string]struct {
		change func(a *wire.KeyValueAndUnit, text func(string) int32)
		want   string // "" = valid
	}{
		"value":  {func(a *wire.KeyValueAndUnit, text func(string) int32) { a.Value = ref(text("used")) }, ""},
		"list":   {func(a *wire.KeyValueAndUnit, text func(string) int32) { a.Value = listOf(ref(text("used")), ref(0)) }, ""},
		"empty":  {func(a *wire.KeyValueAndUnit, _ func(string) int32) { a.Value = &common.AnyValue{} }, ""},
		"absent": {func(a *wire.KeyValueAndUnit, _ func(string) int32) { a.Value = nil }, ""},
		"map": {func(a *wire.KeyValueAndUnit, text func(string) int32) {
			a.Value = listOf(mapOf(&common.KeyValue{KeyStrindex: text("key"), Value: ref(text("used"))}, &common.KeyValue{Key: "inline", Value: ref(text("other"))}))
		}, ""},
		"unused": {func(a *wire.KeyValueAndUnit, text func(string) int32) { a.Value = ref(text("used") + 0*text("unused")) }, "orphan: string_table["},
		"out of range": {func(a *wire.KeyValueAndUnit, _ func(string) int32) { a.Value = listOf(ref(99)) },
			"attribute: attribute_table[1]: its value refers to string 99 of"},
		"negative": {func(a *wire.KeyValueAndUnit, _ func(string) int32) { a.Value = ref(-1) }, "attribute: attribute_table[1]: its value refers to string -1 of"},
		"key out of range": {func(a *wire.KeyValueAndUnit, _ func(string) int32) {
			a.Value = mapOf(&common.KeyValue{KeyStrindex: 99})
		},
			"attribute: attribute_table[1]: its value refers to string 99 of"},
		"two keys": {func(a *wire.KeyValueAndUnit, text func(string) int32) {
			a.Value = mapOf(&common.KeyValue{Key: "a", KeyStrindex: text("b"), Value: ref(0)})
		}, "attribute: attribute_table[1]: an entry of a map has a key and a reference to a key"},
		"same key": {func(a *wire.KeyValueAndUnit, text func(string) int32) {
			a.Value = mapOf(&common.KeyValue{Key: "a", Value: ref(0)}, &common.KeyValue{KeyStrindex: text("a"), Value: ref(0)})
		}, `map-key: attribute_table[1]: key "a" twice in a map`},
		"not UTF-8 is in the table": {func(a *wire.KeyValueAndUnit, text func(string) int32) { a.Value = ref(text("é")) }, ""},
	} {
		for encoding, p := range referring(t, test.change) {
			p.MarkReadOnly() // a write would panic
			violations := conformance.Check(p)
			if test.want == "" {
				assert.Empty(t, violations, "%s, %s", name, encoding)
				continue
			}
			if assert.Len(t, violations, 1, "%s, %s", name, encoding) {
				assert.Contains(t, violations[0].String(), test.want, "%s, %s", name, encoding)
			}
		}
	}
}

// TestReferenceIsItsText: the value of an attribute is the text, whether it refers to it or not.
func TestReferenceIsItsText(t *testing.T) {
	for encoding, p := range referring(t, func(a *wire.KeyValueAndUnit, text func(string) int32) { a.Value = ref(text("used")) }) {
		same := p.Dictionary().AttributeTable().AppendEmpty()
		same.SetKeyStrindex(p.Dictionary().AttributeTable().At(1).KeyStrindex())
		same.Value().SetStr("used")
		dictionarytest.FirstSample(p).AttributeIndices().Append(int32(p.Dictionary().AttributeTable().Len() - 1))
		violations := conformance.Check(p)
		if assert.Len(t, violations, 1, encoding) {
			assert.Equal(t, conformance.RuleAttributeTwice, violations[0].Rule, fmt.Sprint(violations))
		}
	}
}
