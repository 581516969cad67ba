// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"encoding/hex"
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/pprofile/pprofileotlp"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	profilespb "go.opentelemetry.io/proto/otlp/profiles/v1development"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// LargeMessage is the size from which DecodeProfiles skips the slowest checks.
const LargeMessage = 4 << 20

// DecodeProfiles decodes a message twice, with pdata and with the generated protocol types, and
// runs every check that does not depend on the input. It skips the slowest ones for a LargeMessage,
// as attacks produce: reflection alone takes a minute.
func DecodeProfiles(message []byte) (pprofile.Profiles, error) {
	request := pprofileotlp.NewExportRequest()
	if err := request.UnmarshalProto(message); err != nil {
		return pprofile.Profiles{}, fmt.Errorf("pdata: %w", err)
	}
	profiles := request.Profiles()
	if len(message) > LargeMessage && !testsize.Full() {
		return profiles, nil
	}
	if violations := dictionarytest.Violations(profiles); len(violations) > 0 {
		return profiles, fmt.Errorf("%d violations: %v", len(violations), violations)
	}
	if len(message) > LargeMessage {
		return profiles, nil
	}
	return profiles, checkWire(message, profiles)
}

// checkWire checks what pdata does not show: unknown fields, and references to strings.
// ProfilesData has the same two fields as the request that carries it.
func checkWire(message []byte, profiles pprofile.Profiles) error {
	var data profilespb.ProfilesData
	if err := proto.Unmarshal(message, &data); err != nil {
		return fmt.Errorf("generated types: %w", err)
	}
	if where := unknownField(data.ProtoReflect()); where != "" {
		return fmt.Errorf("generated types: unknown field in %s", where)
	}
	strings := data.Dictionary.GetStringTable()
	if len(data.ResourceProfiles) != profiles.ResourceProfiles().Len() {
		return fmt.Errorf("generated types: %d resources, pdata: %d", len(data.ResourceProfiles), profiles.ResourceProfiles().Len())
	}
	for i, resource := range data.ResourceProfiles {
		seen := profiles.ResourceProfiles().At(i)
		if err := sameAttributes(resource.Resource.GetAttributes(), strings, seen.Resource().Attributes()); err != nil {
			return fmt.Errorf("resource %d: %w", i, err)
		}
		for j, scope := range resource.ScopeProfiles {
			if err := sameAttributes(scope.Scope.GetAttributes(), strings, seen.ScopeProfiles().At(j).Scope().Attributes()); err != nil {
				return fmt.Errorf("resource %d, scope %d: %w", i, j, err)
			}
		}
	}
	return nil
}

// sameAttributes resolves references to strings by the definition and compares with what pdata made
// of them.
func sameAttributes(list []*commonpb.KeyValue, strings []string, want pcommon.Map) error {
	got := map[string]string{}
	for _, entry := range list {
		key := entry.Key
		if ref := entry.KeyStrindex; ref != 0 {
			if key != "" || ref < 0 || int(ref) >= len(strings) {
				return fmt.Errorf("key %q with reference %d of %d strings", key, ref, len(strings))
			}
			key = strings[ref]
		}
		value, err := text(entry.Value, strings)
		if err != nil {
			return fmt.Errorf("attribute %q: %w", key, err)
		}
		got[key] = value
	}
	expected := map[string]string{}
	for key, value := range want.All() {
		expected[key] = value.AsString()
	}
	if !maps.Equal(got, expected) {
		return fmt.Errorf("generated types: %v, pdata: %v", got, expected)
	}
	return nil
}

func text(value *commonpb.AnyValue, strings []string) (string, error) {
	switch v := value.GetValue().(type) {
	case *commonpb.AnyValue_StringValueStrindex:
		if v.StringValueStrindex < 0 || int(v.StringValueStrindex) >= len(strings) {
			return "", fmt.Errorf("reference %d of %d strings", v.StringValueStrindex, len(strings))
		}
		return strings[v.StringValueStrindex], nil
	case *commonpb.AnyValue_StringValue:
		return v.StringValue, nil
	case *commonpb.AnyValue_IntValue:
		return fmt.Sprint(v.IntValue), nil
	case *commonpb.AnyValue_BoolValue:
		return fmt.Sprint(v.BoolValue), nil
	}
	return "", fmt.Errorf("a value of type %T", value.GetValue())
}

// unknownField names the first message with a field that the definition does not have.
func unknownField(m protoreflect.Message) (where string) {
	if len(m.GetUnknown()) > 0 {
		return string(m.Descriptor().FullName())
	}
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if field.Message() == nil {
			return true
		}
		if !field.IsList() {
			where = unknownField(value.Message())
			return where == ""
		}
		for list, i := value.List(), 0; i < list.Len() && where == ""; i++ {
			where = unknownField(list.Get(i).Message())
		}
		return where == ""
	})
	return where
}

// OnlyProfile returns the first profile.
func OnlyProfile(profiles pprofile.Profiles) pprofile.Profile {
	return profiles.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0)
}

// ProfileID returns the ID of the first profile in hex.
func ProfileID(profiles pprofile.Profiles) string {
	id := OnlyProfile(profiles).ProfileID()
	return hex.EncodeToString(id[:])
}

// CountObservations decodes and checks messages and counts the timestamps of their samples.
func CountObservations(t testing.TB, messages [][]byte) (n int) {
	t.Helper()
	for _, message := range messages {
		profiles, err := DecodeProfiles(message)
		require.NoError(t, err)
		for _, sample := range OnlyProfile(profiles).Samples().All() {
			n += sample.TimestampsUnixNano().Len()
		}
	}
	return n
}
