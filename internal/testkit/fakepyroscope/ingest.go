// SPDX-License-Identifier: Apache-2.0

package fakepyroscope

import (
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The defaults of pkg/validation/limits.go.
const (
	maxLabels       = 30
	maxLabelName    = 1024
	maxLabelValue   = 2048
	maxSamples      = 16_000
	maxProfileBytes = 4 << 20
	maxAge          = time.Hour
	maxFuture       = 10 * time.Minute

	// privateLabels are __name__, __delta__ and __otel__ (ingest_handler.go, getDefaultLabels).
	privateLabels = 3
)

const validateGo = "pkg/validation/validate.go, "

// ingest checks a converted profile and stores it, a series for each set of labels.
func (r *request) ingest(c *converted, labels map[string]string) {
	r.validate(c)
	series := map[string]Profile{}
	for _, s := range c.samples {
		// Samples without a positive value are removed (pkg/pprof/pprof.go, Normalize).
		if s.value < 0 {
			r.problem("pkg/pprof/pprof.go, Normalize", "value %d is negative: the sample is lost", s.value)
		}
		if s.value <= 0 {
			continue
		}
		p := Profile{Type: c.queryType(), Labels: maps.Clone(labels), Time: c.time}
		for name, value := range s.labels {
			if _, has := p.Labels[name]; !has { // those of the series win
				p.Labels[name] = value
			}
		}
		p.series = seriesOf(p.Type, p.Labels)
		if had, has := series[p.series]; has {
			p = had
		} else {
			r.validateLabels(p.Labels)
		}
		p.Total += s.value
		if s.spanID != "" {
			p.Spans++
		}
		series[p.series] = p
	}
	for _, key := range slices.Sorted(maps.Keys(series)) {
		r.stored = append(r.stored, series[key])
	}
}

func (c *converted) queryType() string {
	return strings.Join([]string{c.name, c.sampleType, c.sampleUnit, c.periodType, c.periodUnit}, ":")
}

// validate restates ValidateProfile.
func (r *request) validate(c *converted) {
	if c.name == "" {
		r.problem(validateGo+"ValidateLabels", "invalid metric name: the profile %s has no period type, or its period is 0", c.sampleType)
	}
	if strings.Contains(c.sampleType, "-") {
		r.problem(validateGo+"ValidateProfile", "sample type %s contains -", c.sampleType)
	}
	if len(c.samples) > maxSamples {
		r.problem(validateGo+"ValidateProfile", "%d samples; limit %d", len(c.samples), maxSamples)
	}
	if n := c.size(); n > maxProfileBytes {
		r.problem(validateGo+"ValidateProfile", "about %d bytes as pprof; limit %d", n, maxProfileBytes)
	}
	if r.now.IsZero() {
		return
	}
	if c.time == 0 {
		r.problem(convertGo+"newProfileBuilder", "time is 0: the profile would start at its ingestion")
	} else if at := time.Unix(0, c.time); at.Before(r.now.Add(-maxAge)) || at.After(r.now.Add(maxFuture)) {
		r.problem(validateGo+"ValidateProfile", "%s is outside of the ingestion window", at)
	}
}

// size estimates the size of a profile as pprof: stacks are written out with every sample.
func (c *converted) size() (n int) {
	for _, bytes := range c.symbols {
		n += bytes
	}
	texts := map[string]bool{}
	for _, s := range c.samples {
		n += 8 + 3*s.locations + 8*len(s.labels)
		if s.spanID != "" {
			n += 2 * 8
			texts[s.spanID+strings.Repeat(" ", 32)] = true
		}
		for name, value := range s.labels {
			texts[name], texts[value] = true, true
		}
	}
	for text := range texts {
		n += 3 + len(text)
	}
	return n
}

// validateLabels restates ValidateLabels, both with validation.disable-label-sanitization (the
// default) and without.
func (r *request) validateLabels(labels map[string]string) {
	rule := validateGo + "ValidateLabels"
	if n := len(labels) + privateLabels; n > maxLabels {
		r.problem(rule, "%d label names; limit %d", n, maxLabels)
	}
	sanitized := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		value := labels[name]
		switch {
		case name == "":
			r.problem(rule, "invalid label name '' of the value %q: an integer attribute of a resource or scope", value)
		case len(name) > maxLabelName:
			r.problem(rule, "label name of %d bytes", len(name))
		case len(value) > maxLabelValue:
			r.problem(rule, "label value of %d bytes", len(value))
		case !utf8.ValidString(name) || !utf8.ValidString(value):
			r.problem(rule, "label %q is not valid UTF-8", name)
		case !legacyName(name):
			r.problem(rule, "invalid label name %q", name)
		}
		short := strings.ReplaceAll(name, ".", "_")
		if other, has := sanitized[short]; has && other != value {
			r.problem(rule, "duplicate label name %q after label name sanitization", short)
		}
		sanitized[short] = value
	}
}

// legacyName restates SanitizeLegacyLabelName: letters, digits, underscores and dots.
func legacyName(name string) bool {
	for i, b := range []byte(name) {
		letter := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b == '.'
		if !letter && (b < '0' || b > '9' || i == 0) {
			return false
		}
	}
	return true
}
