// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
)

// reportText writes one line per finding.
func reportText(env environment, findings []finding) error {
	paints := map[level]color{levelError: red, levelWarning: yellow}
	for _, f := range findings {
		if _, err := fmt.Fprintf(env.out, "%s: %s: %s %s: %s [%s]\n", printable(f.File), printable(f.place()),
			env.paint(paints[f.Level], string(f.Level)), f.Rule, printable(f.Message), f.Source); err != nil {
			return err
		}
	}
	return nil
}

// reportJSON writes a list of findings.
func reportJSON(env environment, findings []finding) error {
	if findings == nil {
		findings = []finding{}
	}
	return indented(env.document(), findings)
}

func indented(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// The part of SARIF that findings need.
//
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string       `json:"id"`
		ShortDescription sarifMessage `json:"shortDescription"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     level           `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
		} `json:"physicalLocation"`
		Logical []sarifLogical `json:"logicalLocations"`
	}
	sarifLogical struct {
		Name string `json:"name"`
	}
)

// reportSARIF writes a log for code scanning. An envelope has no lines, so the item is a logical
// location.
func reportSARIF(env environment, findings []finding) error {
	run := sarifRun{Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "envelope", Rules: []sarifRule{}}
	for _, f := range findings {
		run.Results = append(run.Results, sarifResult{
			RuleID: f.Rule, RuleIndex: run.Tool.Driver.index(f), Level: f.Level,
			Message: sarifMessage{f.place() + ": " + f.Message}, Locations: []sarifLocation{locationOf(f)},
		})
	}
	return indented(env.document(), sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

// index returns the index of a finding's rule, and adds the rule if it is new.
func (d *sarifDriver) index(f finding) int {
	i := slices.IndexFunc(d.Rules, func(r sarifRule) bool { return r.ID == f.Rule })
	if i >= 0 {
		return i
	}
	d.Rules = append(d.Rules, sarifRule{ID: f.Rule, ShortDescription: sarifMessage{f.Rule + ", from " + f.Source}})
	return len(d.Rules) - 1
}

func locationOf(f finding) (l sarifLocation) {
	l.Physical.Artifact.URI = (&url.URL{Path: f.File}).String()
	l.Logical = []sarifLogical{{f.place()}}
	return l
}
