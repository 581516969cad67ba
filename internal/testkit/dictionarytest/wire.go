// SPDX-License-Identifier: Apache-2.0

// Package dictionarytest checks OTLP profiles messages in tests. It is for tests only: it links the
// generated protobuf types.
package dictionarytest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pprofile"
	wire "go.opentelemetry.io/proto/otlp/profiles/v1development"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
)

// Violations returns those of [conformance.Check], except that of the format "sentry": the receiver
// has an option for original payloads, and the specification does not list their format.
func Violations(p pprofile.Profiles) []conformance.Violation {
	return slices.DeleteFunc(conformance.Check(p), func(v conformance.Violation) bool {
		return v.Rule == conformance.RulePayloadFormat && strings.HasPrefix(v.Detail, `format "sentry"`)
	})
}

// MustBeValid fails the test if p has [Violations] or breaks a rule of [CheckWire]. It does not
// change p.
func MustBeValid(t testing.TB, p pprofile.Profiles) {
	t.Helper()
	for _, v := range Violations(p) {
		t.Errorf("not a valid profiles message: %v", v)
	}
	if err := CheckWire(p); err != nil {
		t.Errorf("not what the protocol says on the wire: %v", err)
	}
}

// CheckWire encodes p as a collector would and decodes it with the types that OpenTelemetry
// generates from the protocol definition, which share no code with pdata. It returns an error if a
// field is unknown to them, if an index points outside its table, or if pdata does not decode p
// again.
//
// It works on a copy: marshalling a message that is not read-only moves the strings of its resource
// and scope attributes into the dictionary.
func CheckWire(p pprofile.Profiles) error {
	readOnly := pprofile.NewProfiles()
	p.CopyTo(readOnly)
	readOnly.MarkReadOnly()
	encoded, err := new(pprofile.ProtoMarshaler).MarshalProfiles(readOnly)
	if err != nil {
		return fmt.Errorf("marshal: %w", err)
	}
	if err := checkEncoded(encoded); err != nil {
		return err
	}
	decoded, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(encoded)
	if err != nil {
		return fmt.Errorf("unmarshal: %w", err)
	}
	if diff := Diff(readOnly, decoded); diff != "" {
		return fmt.Errorf("decoding gives another message: %s", diff)
	}
	return nil
}

func checkEncoded(encoded []byte) error {
	var data wire.ProfilesData
	if err := proto.Unmarshal(encoded, &data); err != nil {
		return fmt.Errorf("decode with the generated types: %w", err)
	}
	w := walker{sizes: tableSizes(data.GetDictionary())}
	w.message("message", data.ProtoReflect())
	return errors.Join(w.problems...)
}

// tableSizes returns the size of the table that an index field refers to, by the name of the field.
func tableSizes(d *wire.ProfilesDictionary) map[protoreflect.Name]int {
	return map[protoreflect.Name]int{
		"mapping_index":         len(d.GetMappingTable()),
		"location_indices":      len(d.GetLocationTable()),
		"function_index":        len(d.GetFunctionTable()),
		"link_index":            len(d.GetLinkTable()),
		"attribute_indices":     len(d.GetAttributeTable()),
		"stack_index":           len(d.GetStackTable()),
		"name_strindex":         len(d.GetStringTable()),
		"system_name_strindex":  len(d.GetStringTable()),
		"filename_strindex":     len(d.GetStringTable()),
		"type_strindex":         len(d.GetStringTable()),
		"unit_strindex":         len(d.GetStringTable()),
		"key_strindex":          len(d.GetStringTable()),
		"string_value_strindex": len(d.GetStringTable()),
	}
}

// idSizes are the lengths of ids, by the names of their fields.
var idSizes = map[protoreflect.Name]int{"profile_id": 16, "trace_id": 16, "span_id": 8}

// walker visits every message of an encoded profile by reflection, including fields that pdata does
// not expose.
type walker struct {
	sizes    map[protoreflect.Name]int
	problems []error
}

// maxProblems keeps the error readable; one bug tends to repeat.
const maxProblems = 10

func (w *walker) problem(format string, args ...any) {
	if len(w.problems) < maxProblems {
		w.problems = append(w.problems, fmt.Errorf(format, args...))
	}
}

func (w *walker) message(path string, m protoreflect.Message) {
	if unknown := m.GetUnknown(); len(unknown) > 0 {
		w.problem("%s: %d bytes of unknown fields", path, len(unknown))
	}
	if m.Descriptor().Name() == "KeyValue" {
		w.keyValue(path, m)
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		path := path + "." + string(f.Name())
		if !f.IsList() {
			w.value(path, f, v)
			return true
		}
		for i := range v.List().Len() {
			w.value(fmt.Sprintf("%s[%d]", path, i), f, v.List().Get(i))
		}
		return true
	})
}

func (w *walker) value(path string, f protoreflect.FieldDescriptor, v protoreflect.Value) {
	switch f.Kind() {
	case protoreflect.MessageKind:
		w.message(path, v.Message())
	case protoreflect.BytesKind:
		if size, ok := idSizes[f.Name()]; ok && len(v.Bytes()) != size {
			w.problem("%s: %d bytes, want %d", path, len(v.Bytes()), size)
		}
	case protoreflect.Int32Kind:
		size, ok := w.sizes[f.Name()]
		switch i := v.Int(); {
		case !ok && (strings.HasSuffix(string(f.Name()), "index") || strings.HasSuffix(string(f.Name()), "indices")):
			w.problem("%s: an index field this test does not know", path)
		case ok && (i < 0 || i >= int64(size)):
			w.problem("%s: %d of %d", path, i, size)
		}
	}
}

// keyValue: an attribute of a resource or scope has its key either inline or in the string table.
func (w *walker) keyValue(path string, m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	inline, index := fields.ByName("key"), fields.ByName("key_strindex")
	if m.Has(inline) == m.Has(index) {
		w.problem("%s: key %q and key_strindex %d", path, m.Get(inline).String(), m.Get(index).Int())
	}
}
