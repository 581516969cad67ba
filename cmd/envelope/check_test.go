// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// brokenProfiles returns a message that breaks a required and an optional rule.
func brokenProfiles() pprofile.Profiles {
	p := dictionarytest.ValidProfiles()
	p.Dictionary().StringTable().Append("unused")
	dictionarytest.FirstSample(p).SetStackIndex(99)
	return p
}

func TestCheckText(t *testing.T) {
	for _, format := range []string{profilefile.OTLPJSON, profilefile.OTLPProto} {
		out, errors, exit := call(t, written(t, format, "1.10", dictionarytest.ValidProfiles()), "check", "--strict", "-")
		assert.Empty(t, out+errors)
		assert.Equal(t, exitOK, exit)

		out, _, exit = call(t, written(t, format, "1.10", brokenProfiles()), "check", "-")
		assert.Contains(t, out, "-: resource_profiles[0].scope_profiles[0].profiles[0].samples[0]: error sample-reference: ")
		assert.Contains(t, out, " ["+conformance.RuleSampleReference.Source()+"]\n")
		assert.Contains(t, out, "-: string_table[")
		assert.Contains(t, out, "]: warning orphan: ")
		assert.Equal(t, exitFailed, exit)
	}
}

// TestCheckStrict: redundant data fails only strict checks.
func TestCheckStrict(t *testing.T) {
	p := dictionarytest.ValidProfiles()
	p.Dictionary().StringTable().Append("unused")
	out, _, exit := call(t, written(t, profilefile.OTLPJSON, "1.10", p), "check", "-")
	assert.Contains(t, out, "warning orphan")
	assert.Equal(t, exitOK, exit)
	out, _, exit = call(t, written(t, profilefile.OTLPJSON, "1.10", p), "check", "--strict", "-")
	assert.Contains(t, out, "error orphan")
	assert.Equal(t, exitFailed, exit)
}

// TestCheckLines: each line of a file is a message.
func TestCheckLines(t *testing.T) {
	out, _, exit := call(t, written(t, profilefile.OTLPJSON, "1.10", dictionarytest.ValidProfiles(), brokenProfiles()), "check", "--format", "json", "-")
	assert.Equal(t, exitFailed, exit)
	var findings []finding
	require.NoError(t, json.Unmarshal([]byte(out), &findings))
	require.NotEmpty(t, findings)
	for _, f := range findings {
		assert.True(t, strings.HasPrefix(f.Place, "message 2: "), f.Place)
		assert.NotEmpty(t, f.Source)
	}
}

// TestCheckOlderVersion: current readers reject or misread the message.
func TestCheckOlderVersion(t *testing.T) {
	file := written(t, profilefile.OTLPProto, "1.9", dictionarytest.ValidProfiles())
	out, _, exit := call(t, file, "check", "-")
	assert.Equal(t, 1, strings.Count(out, "\n"), out)
	for _, fact := range []string{"-: file: warning version: 1 message", "OTLP 1.10", "[" + fromVersions + "]"} {
		assert.Contains(t, out, fact)
	}
	assert.Equal(t, exitOK, exit)
	_, _, exit = call(t, file, "check", "--strict", "-")
	assert.Equal(t, exitFailed, exit)
}

func TestCheckOthers(t *testing.T) {
	for file, want := range map[string]string{
		"testdata/cases/sdk-python-v1/in.envelope": "it is not OTLP; it looks like sentry",
		"testdata/otlp/traces.json":                "no message of profiles",
	} {
		out, _, exit := call(t, "", "check", file)
		assert.Contains(t, out, want)
		assert.Equal(t, exitFailed, exit)
	}
	out, _, exit := call(t, `{"resourceProfiles": 1}`, "check", "-")
	assert.Contains(t, out, "error decode")
	assert.Equal(t, exitFailed, exit)
}

// TestCheckCases: the translations of all cases and recordings pass the strict check.
func TestCheckCases(t *testing.T) {
	checked := 0
	check := func(t *testing.T, name string, envelope []byte) {
		content, _ := profilefile.Readers[profilefile.Sentry](envelope, testOptions)
		for _, message := range content.Profiles {
			message.MarkReadOnly() // the encoders of pdata change what they encode
			assert.Empty(t, violationsIn([]byte(written(t, profilefile.OTLPProto, "1.10", message)), true), name)
			checked++
		}
	}
	for _, c := range golden.Cases(t) {
		check(t, c.Name, c.Envelope)
	}
	assert.Greater(t, checked, 90)
	for _, request := range golden.Sample(t) {
		if envelope, err := request.Decode(); err == nil {
			check(t, request.Name, envelope)
		}
	}
}

// TestSamplesHaveFewAttributes: the attributes of samples have as many values as there are threads,
// queues, modes and kinds of errors.
func TestSamplesHaveFewAttributes(t *testing.T) {
	keys := map[string]bool{}
	for _, c := range golden.Cases(t) {
		content, _ := profilefile.Readers[profilefile.Sentry](c.Envelope, testOptions)
		for _, message := range content.Profiles {
			view := dictionary.NewView(message.Dictionary())
			for _, p := range profilesOf(message) {
				for _, s := range p.Samples().All() {
					attributes, _ := view.Attributes(s.AttributeIndices(), nil)
					for _, a := range attributes {
						keys[a.Key] = true
					}
				}
			}
		}
	}
	assert.Equal(t, []string{
		"android.unwind_error", "cpu.mode", "sentry.queue.address", "sentry.queue.label", "sentry.thread.priority", "thread.id", "thread.name",
	}, slices.Sorted(maps.Keys(keys)))
}

// TestCheckUndecodable: messages that pdata does not decode are findings in every format.
func TestCheckUndecodable(t *testing.T) {
	field := func(number protowire.Number, content ...[]byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), slices.Concat(content...))
	}
	number := func(number protowire.Number, value uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), value)
	}
	resource := func(attribute ...[]byte) []byte {
		return slices.Concat(field(1, field(1, field(1, attribute...))), field(2, field(5), field(5, []byte("k"))))
	}
	text := field(5)
	for name, message := range map[string][]byte{
		"trace ID of a link":        field(2, text, field(4), field(4, field(1, make([]byte, 15)), field(2, make([]byte, 8)))),
		"span ID of a link":         field(2, text, field(4), field(4, field(1, make([]byte, 16)), field(2, make([]byte, 7)))),
		"profile ID":                slices.Concat(field(1, field(2, field(2, field(7, make([]byte, 3))))), field(2, text)),
		"wire type":                 field(2, text, number(1, 1)),
		"list of numbers":           field(2, text, field(7, field(1, []byte{0x80}))),
		"key out of range":          resource(number(3, 9), field(2, field(1, []byte("v")))),
		"key below 0":               resource(number(3, 1<<64-1), field(2, field(1, []byte("v")))),
		"key twice":                 resource(number(3, 1), field(1, []byte("k")), field(2, field(1, []byte("v")))),
		"value out of range":        resource(number(3, 1), field(2, number(8, 9))),
		"nested value":              resource(number(3, 1), field(2, field(5, field(1, number(8, 9))))),
		"truncated":                 field(2, text, field(5, []byte("name")))[:6],
		"trace ID of a span":        field(1, field(2, field(2, field(1, make([]byte, 15))))),
		"span ID of a record":       field(1, field(2, field(2, field(10, make([]byte, 7))))),
		"key of a scope":            slices.Concat(field(1, field(2, field(1, field(3, number(3, 9))))), field(2, text)),
		"payload as a number":       slices.Concat(field(1, field(2, field(2, number(10, 1)))), field(2, text)),
		"attribute, wrong AnyValue": field(2, text, field(6), field(6, number(1, 0), field(2, number(7, 1)))),
	} {
		for format := range reports {
			out, errors, exit := call(t, string(message), "check", "--format", format, "-")
			assert.Equal(t, exitFailed, exit, "%s, %s", name, format)
			assert.Contains(t, out, ruleDecode, "%s, %s", name, format)
			assert.Empty(t, errors)
		}
	}
}
