// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
)

var lintCommand = command{
	name:      "lint",
	arguments: "ENVELOPE...",
	summary:   "Check envelopes against the published rules and Sentry's limits; fails if the receiver drops data",
	examples: []string{
		"envelope lint testdata/cases/sdk-python-v1/in.envelope",
		"envelope lint --strict testdata/cases/rule-duration/in.envelope || test $? = 1",
		"envelope lint --format sarif testdata/cases/rule-duration/in.envelope > $OUT/lint.sarif",
	},
	prepare: func(flags *flag.FlagSet) func(environment, []string) error {
		strict := flags.Bool("strict", false, "also fail for data that Sentry, or a receiver with strict validation, drops")
		format := flags.String("format", "text", "`format` of the findings: "+names(reports))
		return func(env environment, files []string) error { return lint(env, files, *strict, *format) }
	},
}

// reports are the formats of findings.
var reports = map[string]func(environment, []finding) error{
	"text": reportText, "json": reportJSON, "sarif": reportSARIF,
}

// lint reports the findings of all envelopes. It fails if one of them is an error.
func lint(env environment, files []string, strict bool, format string) error {
	return env.reportFindings(files, format, func(data []byte) []finding { return findingsIn(data, strict, time.Now()) })
}

// reportFindings examines all files and reports their findings. It fails if one of them is an
// error.
func (e environment) reportFindings(files []string, format string, examine func([]byte) []finding) error {
	report, known := reports[format]
	if !known {
		return misuse(fmt.Sprintf("--format is %q, must be one of %s", format, names(reports)))
	}
	inputs, err := e.read(files)
	if err != nil {
		return err
	}
	var all []finding
	for _, in := range inputs {
		for _, f := range examine(in.data) {
			f.File = in.name
			all = append(all, f)
		}
	}
	if err := report(e, all); err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(f finding) bool { return f.Level == levelError }) {
		return errFindings
	}
	return nil
}

// level is the severity of a finding, with SARIF's names.
type level string

const (
	levelError   level = "error"   // the receiver drops an item, or elements of it
	levelWarning level = "warning" // only Sentry drops it, a value of a field is converted or dropped, or there are no items
)

// subject is the subject of a finding.
type subject string

const (
	ofEnvelope subject = "envelope"
	ofItem     subject = "item"
	ofProfile  subject = "rule" // the item is a profile that breaks a rule; Reason is Sentry's
	ofSamples  subject = "samples"
	ofElements subject = "elements"
	ofField    subject = "field"
	ofMessage  subject = "message" // of OTLP
)

// finding is one line of the report.
type finding struct {
	File    string  `json:"file"`
	Level   level   `json:"level"`
	Rule    string  `json:"rule"`
	Item    int     `json:"item,omitempty"`  // from 1; 0 = the envelope
	Type    string  `json:"type,omitempty"`  // of the item
	Place   string  `json:"place,omitempty"` // in a message of OTLP
	Subject subject `json:"subject"`
	Reason  string  `json:"reason,omitempty"` // for dropping the subject
	Count   int     `json:"count"`
	Message string  `json:"message"`
	Source  string  `json:"source"` // of the rule
}

// findingsIn returns the findings of an envelope: those of its framing, or those of its items.
func findingsIn(data []byte, strict bool, now time.Time) []finding {
	envelope, err := profilefile.ReadEnvelope(data)
	if broken, ok := errors.AsType[*sentry.EnvelopeError](err); ok {
		return []finding{{Level: levelError, Rule: string(broken.Reason), Subject: ofEnvelope, Reason: string(broken.Reason), Count: 1,
			Message: "Sentry and the receiver reject the envelope: " + broken.Error() + misfit(data), Source: sources[string(broken.Reason)]}}
	}
	if len(envelope.Items) == 0 {
		return []finding{{Level: levelWarning, Rule: ruleNoItems, Subject: ofEnvelope, Count: 1,
			Message: "the envelope has no items" + misfit(data), Source: sources[ruleNoItems]}}
	}
	lenientResults, strictResults := examine(envelope, now)
	var all []finding
	for i := range envelope.Items {
		l := linter{strict: strict, number: i + 1, itemType: envelope.Items[i].Header.Type}
		l.item(&lenientResults.Items[i], &strictResults.Items[i])
		all = append(all, l.findings...)
	}
	return all
}

// linter collects the findings of an item.
type linter struct {
	strict   bool
	number   int
	itemType sentry.ItemType
	findings []finding
}

// item compares the results with lenient and with strict validation.
func (l *linter) item(lenient, strict *profilefile.ExaminedItem) {
	result := lenient
	if l.strict {
		result = strict
	}
	switch {
	case !l.itemType.Known():
		l.add(finding{Level: levelWarning, Rule: ruleItemType, Subject: ofItem, Message: "the item type is not published"})
	case lenient.Unusable != nil:
		l.discarded(levelError, lenient.Unusable)
	case len(lenient.Tolerated) > 0:
		for _, name := range lenient.Tolerated {
			l.broken(name)
		}
	case strict.Unusable != nil:
		l.discarded(l.onlyStrict(), strict.Unusable)
	}
	l.losses(levelError, ofSamples, result.Samples)
	l.losses(levelError, ofElements, result.Elements)
	if !l.strict {
		l.losses(levelWarning, ofElements, beyond(strict.Elements, lenient.Elements))
	}
	for _, flaw := range result.Fields {
		l.flaw(flaw)
	}
}

// flaw adds the flaws of a field, or the fields without an equivalent in OTLP.
func (l *linter) flaw(flaw discard.Flaw) {
	f := finding{Level: levelWarning, Rule: ruleFieldTypes, Subject: ofField, Reason: flaw.Field, Count: flaw.Count,
		Message: fmt.Sprintf("%s of the field %q with a wrong type or form", count(flaw.Count, "value"), flaw.Field)}
	if flaw.Field == event.FieldUnmapped {
		f.Rule, f.Message = event.FieldUnmapped, fmt.Sprintf("%s without an equivalent dropped: %s", count(flaw.Count, "field"), flaw.Keys)
	}
	l.add(f)
}

// onlyStrict returns the level of data that only strict validation drops.
func (l *linter) onlyStrict() level {
	if l.strict {
		return levelError
	}
	return levelWarning
}

func (l *linter) add(f finding) {
	f.Item, f.Type, f.Count, f.Source = l.number, string(l.itemType), max(f.Count, 1), sources[f.Rule]
	l.findings = append(l.findings, f)
}

func (l *linter) discarded(at level, why *discard.Error) {
	l.add(finding{Level: at, Rule: string(why.Reason), Subject: ofItem, Reason: string(why.Reason), Message: "the item is discarded: " + why.Detail})
}

// broken adds a broken rule for profiles.
func (l *linter) broken(name string) {
	i := slices.IndexFunc(profile.Rules, func(r profile.Rule) bool { return r.Name == name })
	rule := &profile.Rules[i] // sentryitems reports only these
	l.add(finding{Level: l.onlyStrict(), Rule: rule.Name, Subject: ofProfile, Reason: string(rule.Strict),
		Message: fmt.Sprintf("Sentry discards the profile as %s; lenient receiver: %s", rule.Strict, rule.Lenient)})
}

func (l *linter) losses(at level, of subject, losses []discard.Loss) {
	for _, loss := range losses {
		l.add(finding{Level: at, Rule: string(loss.Reason), Subject: of, Reason: string(loss.Reason), Count: loss.Count,
			Message: count(loss.Count, nouns[of]) + " dropped"})
	}
}

var nouns = map[subject]string{ofSamples: "sample", ofElements: "element"}

// beyond returns the losses by which the first list exceeds the second.
func beyond(losses, others []discard.Loss) (more []discard.Loss) {
	for _, loss := range losses {
		for _, other := range others {
			if other.Reason == loss.Reason {
				loss.Count -= other.Count
			}
		}
		if loss.Count > 0 {
			more = append(more, loss)
		}
	}
	return more
}

// place returns the place of a finding in its file.
func (f finding) place() string {
	switch {
	case f.Place != "":
		return f.Place
	case f.Item == 0:
		return "envelope"
	}
	return fmt.Sprintf("item %d (%s)", f.Item, cmp.Or(f.Type, "no type"))
}
