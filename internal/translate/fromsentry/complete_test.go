// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// leaf is a field of a model that holds a value, not a struct of them.
type leaf struct {
	name  string // as in docs/mapping.md
	value reflect.Value
}

// leaves lists the exported fields of a model, followed into structs, pointers and slices.
func leaves(v reflect.Value, prefix string) (all []leaf) {
	switch v.Kind() {
	case reflect.Pointer:
		return leaves(v.Elem(), prefix)
	case reflect.Slice:
		return leaves(v.Index(v.Len()-1), prefix)
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			name, wanted := fieldName(v.Type(), field)
			if wanted {
				all = append(all, leaves(v.Field(i), strings.TrimPrefix(prefix+"."+name, "."))...)
			}
		}
		return all
	}
	return []leaf{{strings.Trim(prefix, "."), v}}
}

// wireNames are the keys of the fields that have no JSON tag, because the scanner decodes them. "-"
// is not a field of the wire; "" adds nothing to the path.
var wireNames = map[string]string{
	"Profile.EventID": "event_id", "Profile.DebugMeta": "", "Profile.Sampled": "", "Chunk.Sampled": "", "Chunk.DebugMeta": "",
	"Chunk.ProfilerID": "profiler_id", "Chunk.ChunkID": "chunk_id", "Chunk.ClientSDK": "client_sdk",
	"Profile.Measurements": "", "Chunk.Measurements": "", "Profile.Android": "-", "Chunk.Android": "-",
	"Sampled.Samples": "-", "Sampled.Stacks": "-", "Sampled.Lost": "-", "Sampled.Flaws": "-",
	"Sampled.Frames": "", "Sampled.Threads": "", "Sampled.Queues": "", "DebugMeta.Images": "",
	"Thread.ID": "samples.thread_id", "Thread.Name": "thread_metadata.name", "Thread.Priority": "thread_metadata.priority",
	"Queue.Address": "samples.queue_address", "Queue.Label": "queue_metadata.label",
	"Frame.Filename": "filename", "Frame.AbsPath": "abs_path", "Frame.InstructionAddr": "instruction_addr",
	"Frame.Line": "lineno", "Frame.Column": "colno", "Frame.InApp": "in_app",
	"Measurement.Name": "measurements", "MeasurementValue.ElapsedNS": "values.elapsed_since_start_ns",
	"MeasurementValue.Timestamp": "values.timestamp", "MeasurementValue.Value": "values.value", "Measurement.Values": "",
	"Timestamp.UnixNano": "", "Timestamp.Set": "-", "Timestamp.Bad": "-", "Timestamp.WholeSeconds": "-",
	"Uint.Value": "", "Uint.Set": "-", "Uint.Bad": "-", "Address.Value": "", "Address.Set": "-", "Address.Bad": "-",
	"Decimal.Text": "", "Decimal.Bad": "-",
}

func fieldName(owner reflect.Type, field reflect.StructField) (name string, wanted bool) {
	if !field.IsExported() {
		return "", false
	}
	if name, listed := wireNames[owner.Name()+"."+field.Name]; listed {
		return name, name != "-"
	}
	if tag := field.Tag.Get("json"); tag != "" {
		return tag, true
	}
	return strings.ToLower(field.Name), true
}

// decodeFull decodes the cases that have every field, each with a value of its own.
func decodeFull(t *testing.T) (*profile.Profile, *profile.Chunk) {
	p, err := new(profile.Decoder).Profile(golden.Payload(t, "all-fields-v1", sentry.ItemProfile))
	require.NoError(t, err)
	c, err := new(profile.Decoder).Chunk(golden.Payload(t, "all-fields-v2", sentry.ItemProfileChunk))
	require.NoError(t, err)
	return p, c
}

// TestEveryFieldArrives translates payloads that have every field, and looks for every value in the
// output.
func TestEveryFieldArrives(t *testing.T) {
	p, c := decodeFull(t)
	src := Source{ProjectID: "42", PeriodType: "wall"}
	for _, test := range []struct {
		model  any
		output pprofile.Profiles
		not    []string // fields of the other format
	}{
		{p, ProfileToProfiles(p, src), []string{"values.timestamp"}},
		{c, ChunkToProfiles(c, src), []string{"values.elapsed_since_start_ns"}},
	} {
		checkConformance(t, "full", test.output)
		marshaler := pprofile.JSONMarshaler{}
		text, err := marshaler.MarshalProfiles(test.output)
		require.NoError(t, err)
		for _, leaf := range leaves(reflect.ValueOf(test.model), "") {
			if strings.Contains(strings.Join(test.not, " "), leaf.name) {
				continue
			}
			require.False(t, leaf.value.IsZero(), "the full payload does not set %s", leaf.name)
			require.Regexp(t, regexp.QuoteMeta(wireText(leaf)), string(text), "%s does not arrive", leaf.name)
		}
	}
}

// wireText is how the value of a field reads in OTLP JSON.
func wireText(l leaf) string {
	switch {
	case l.name == "in_app":
		return `"boolValue":true`
	case l.name == "release": // in sentry.release; the rest of the resource has its parts
		return `"` + l.value.String() + `"`
	case l.name == "image_size":
		return strconv.FormatUint(0x1000000000+l.value.Uint(), 10) // memory_limit
	case l.name == "transaction.active_thread_id" || l.name == "samples.thread_id":
		return `"intValue":"` + l.value.String() + `"`
	case l.name == "image_vmaddr":
		return "0x" + strconv.FormatUint(l.value.Uint(), 16)
	}
	if l.value.Kind() == reflect.Float64 {
		return strconv.FormatFloat(l.value.Float(), 'f', -1, 64)
	}
	return fmt.Sprint(l.value.Interface())
}
