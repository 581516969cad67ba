// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
)

var checkCommand = command{
	name:      "check",
	arguments: "FILE...",
	summary:   "Check OTLP profiles, JSON or protobuf, against the rules of the protocol; fails if a rule is violated",
	examples: []string{
		"envelope convert --to otlp-proto testdata/cases/sdk-python-v2/in.envelope | envelope check --strict -",
		"envelope check testdata/otlp/profiles.json",
		"envelope check --format sarif testdata/otlp/profiles.json > $OUT/check.sarif",
	},
	prepare: func(flags *flag.FlagSet) func(environment, []string) error {
		strict := flags.Bool("strict", false, "also fail for duplicates, unused entries and recommendations, and for older versions of OTLP")
		format := flags.String("format", "text", "`format` of the findings: "+names(reports))
		return func(env environment, files []string) error {
			return env.reportFindings(files, *format, func(data []byte) []finding { return violationsIn(data, *strict) })
		}
	},
}

// The names of rules that do not concern the content of a message.
const (
	ruleDecode  = "decode"
	ruleVersion = "version"
	ruleSignal  = "signal"
)

const (
	fromProtocol = "https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/profiles/v1development/profiles.proto"
	fromVersions = "https://github.com/open-telemetry/opentelemetry-proto/releases/tag/v1.10.0"
)

// violationsIn returns the broken rules of all messages in a file.
func violationsIn(data []byte, strict bool) (all []finding) {
	add := func(f finding, optional bool) {
		f.Subject, f.Count, f.Level = ofMessage, max(f.Count, 1), levelError
		if optional && !strict {
			f.Level = levelWarning
		}
		all = append(all, f)
	}
	format, err := profilefile.Recognize(data)
	if err != nil {
		add(finding{Rule: ruleDecode, Place: "file", Message: "it is not OTLP; " + err.Error(), Source: fromProtocol}, false)
		return all
	}
	if format != profilefile.OTLPJSON && format != profilefile.OTLPProto {
		add(finding{Rule: ruleDecode, Place: "file", Message: "it is not OTLP" + misfit(data), Source: fromProtocol}, false)
		return all
	}
	content, err := profilefile.Readers[format](data, importer.Options{})
	if err != nil {
		add(finding{Rule: ruleDecode, Place: "file", Message: err.Error(), Source: fromProtocol}, false)
	}
	if content.Older > 0 {
		add(finding{Rule: ruleVersion, Place: "file", Count: content.Older, Source: fromVersions,
			Message: count(content.Older, "message") + " of a version before OTLP 1.10, translated for the check"}, true)
	}
	if err == nil && len(content.Profiles) == 0 {
		add(finding{Rule: ruleSignal, Place: "file", Message: "no message of profiles", Source: fromProtocol}, false)
	}
	for i, message := range content.Profiles {
		for _, v := range conformance.Check(message) {
			add(finding{Rule: string(v.Rule), Place: placeOf(content.Profiles, i, v), Message: v.Detail, Source: v.Rule.Source()}, v.Rule.Optional())
		}
	}
	return all
}

// placeOf returns the place of a violation in its file.
func placeOf(messages []pprofile.Profiles, i int, v conformance.Violation) string {
	if len(messages) == 1 {
		return v.Place()
	}
	return fmt.Sprintf("message %d: %s", i+1, v.Place())
}
