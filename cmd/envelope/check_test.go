// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
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
		assert.Contains(t, out, "-: resource_profiles[0].scope_profiles[0].profiles[0].samples[0]: error sample-reference: stack 99 of 3 ["+conformance.RuleSampleReference.Source()+"]\n")
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

// TestCheckCases: the translations of all cases pass the strict check.
func TestCheckCases(t *testing.T) {
	checked := 0
	for _, c := range golden.Cases(t) {
		content, _ := profilefile.Readers[profilefile.Sentry](c.Envelope, testOptions)
		for _, message := range content.Profiles {
			message.MarkReadOnly() // the encoders of pdata change what they encode
			assert.Empty(t, violationsIn([]byte(written(t, profilefile.OTLPProto, "1.10", message)), true), c.Name)
			checked++
		}
	}
	assert.Greater(t, checked, 90)
}
