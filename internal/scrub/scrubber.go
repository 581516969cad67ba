// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Scrubber replaces sensitive data. Its methods are safe for concurrent use. A nil Scrubber does
// nothing.
type Scrubber struct {
	advanced []application // applied first, as in Sentry
	safe     []selector

	full, form, url, query, text, message, location, code ruleset
	removesIP, filtersCookies                             bool
	sqlLiterals, userPaths                                bool

	places     placeCache             // of resources
	ofElements map[string]*placeCache // by signal
}

// Counts is the number of changed values by rule.
type Counts map[string]int

// New returns the Scrubber of a configuration, or nil if it has no rules.
func New(c Config) (*Scrubber, error) {
	advanced, err := readPIIConfig(c.PIIConfig)
	if err != nil {
		return nil, fmt.Errorf("pii_config: %w", err)
	}
	s := &Scrubber{
		places: placeCache{kind: kindResource}, ofElements: map[string]*placeCache{},
		safe: safeFields(c.SafeFields), removesIP: c.IPAddresses, filtersCookies: c.Data && c.Defaults,
		sqlLiterals: c.SQLLiterals, userPaths: c.UserPaths,
	}
	if s.advanced, err = advanced.applications(); err != nil {
		return nil, fmt.Errorf("pii_config: %w", err)
	}
	for _, signal := range []string{signalSpan, signalLog, signalMetric, signalEvent} {
		s.ofElements[signal] = &placeCache{kind: signal}
	}
	s.url.suits, s.query.suits = isURL, isSQL
	s.defaults(c)
	if len(s.advanced) == 0 && !s.removesIP && !s.sqlLiterals && !s.full.active() && !s.location.active() {
		return nil, nil
	}
	return s, nil
}

// defaults compiles the rules of each policy.
func (s *Scrubber) defaults(c Config) {
	rules := map[*ruleset][]string{}
	if c.Data && c.Defaults {
		matches := []string{"@creditcard:filter", "@iban:filter", "@pemkey:filter", "@urlauth:legacy", "@usssn:filter", "@bearer:filter"}
		rules[&s.full], rules[&s.form] = []string{"@common:filter"}, []string{"@common:filter"}
		rules[&s.url] = append(rules[&s.url], matches...)
		rules[&s.query] = append(rules[&s.query], matches...)
		rules[&s.text] = append(rules[&s.text], matches...)
		rules[&s.message] = append(rules[&s.message], "@email:replace", "@creditcard:replace", "@iban:replace", "@usssn:replace",
			"@bearer:replace", "@pemkey:filter", "@urlauth:legacy")
		rules[&s.location] = append(rules[&s.location], "@urlauth:legacy")
		rules[&s.code] = append(rules[&s.code], "@creditcard:filter", "@iban:filter", "@pemkey:filter", "@urlauth:legacy", "@usssn:filter",
			"@bearer:filter")
		s.full.cookies, s.query.literals = true, true
		s.form.cookies, s.form.parameters, s.url.parameters = true, true, true
		for _, set := range []*ruleset{&s.url, &s.query, &s.text, &s.message, &s.location, &s.code} {
			set.assigns = true
		}
		s.location.syntax, s.code.syntax = urlSyntax, codeSyntax
	}
	if c.IPAddresses {
		for _, set := range []*ruleset{&s.full, &s.form, &s.url, &s.query} {
			rules[set] = append(rules[set], "@ip:replace")
		}
	}
	all := []*ruleset{&s.full, &s.form, &s.url, &s.query, &s.text, &s.message, &s.location, &s.code}
	if c.UserPaths {
		for _, set := range all {
			rules[set] = append(rules[set], "@userpath:replace")
		}
	}
	for _, set := range all {
		found := map[string]*rule{}
		for _, name := range rules[set] {
			_ = (&piiConfig{}).collect(found, name, nil, 0) // built-in rules cause no errors
		}
		if strip := stripFields(c.SensitiveFields); strip != nil && c.Data && (set == &s.full || set == &s.form) {
			found[strip.id] = strip
		}
		set.rules = inOrder(found)
		for _, r := range set.rules {
			set.pair = set.pair || r.pair != nil
			set.password = set.password || r.password
		}
	}
}

// ruleset has the rules of a policy.
type ruleset struct {
	rules      []*rule
	assigns    bool // replaces values next to sensitive names
	parameters bool // replaces the values of parameters whose decoded name is sensitive
	literals   bool // replaces all literals of a query with a sensitive word
	cookies    bool // replaces only cookies, next to their names
	syntax     syntax

	suits func(text string) bool // other texts are replaced as a whole if they are sensitive; nil = all suit

	pair, password bool // whether such a rule is present
}

func (s *ruleset) active() bool { return len(s.rules) > 0 || s.assigns }

// Attributes scrubs attributes in place.
func (s *Scrubber) Attributes(attributes pcommon.Map) Counts {
	w := s.walk(signalEvent)
	if w == nil {
		return nil
	}
	w.elementAttributes(attributes)
	return w.counts
}

// Traces scrubs spans in place.
func (s *Scrubber) Traces(data ptrace.Traces) Counts {
	w := s.walk(signalSpan)
	if w == nil {
		return nil
	}
	for _, resource := range data.ResourceSpans().All() {
		w.attributes(resource.Resource().Attributes())
		for _, scope := range resource.ScopeSpans().All() {
			w.attributes(scope.Scope().Attributes())
			for _, span := range scope.Spans().All() {
				w.span(span)
			}
		}
	}
	return w.counts
}

func (w *walker) span(span ptrace.Span) {
	w.element = span.Attributes()
	w.field(span.Name(), spanName, span.SetName)
	w.field(span.Status().Message(), spanMessage, span.Status().SetMessage)
	w.elementAttributes(span.Attributes())
	for _, event := range span.Events().All() {
		w.field(event.Name(), spanName, event.SetName)
		w.elementAttributes(event.Attributes())
	}
	for _, link := range span.Links().All() {
		w.elementAttributes(link.Attributes())
	}
}

// Logs scrubs log records in place.
func (s *Scrubber) Logs(data plog.Logs) Counts {
	w := s.walk(signalLog)
	if w == nil {
		return nil
	}
	for _, resource := range data.ResourceLogs().All() {
		w.attributes(resource.Resource().Attributes())
		for _, scope := range resource.ScopeLogs().All() {
			w.attributes(scope.Scope().Attributes())
			for _, record := range scope.LogRecords().All() {
				w.element = record.Attributes()
				if w.root(record.Body(), "body", &logBody) == removed {
					record.Body().SetStr("")
				}
				w.elementAttributes(record.Attributes())
			}
		}
	}
	return w.counts
}

// Metrics scrubs data points in place.
func (s *Scrubber) Metrics(data pmetric.Metrics) Counts {
	w := s.walk(signalMetric)
	if w == nil {
		return nil
	}
	for _, resource := range data.ResourceMetrics().All() {
		w.attributes(resource.Resource().Attributes())
		for _, scope := range resource.ScopeMetrics().All() {
			w.attributes(scope.Scope().Attributes())
			for _, metric := range scope.Metrics().All() {
				w.points(metric)
			}
		}
	}
	return w.counts
}

func (w *walker) points(metric pmetric.Metric) {
	w.field(metric.Name(), spanName, metric.SetName)
	w.field(metric.Description(), spanName, metric.SetDescription)
	switch metric.Type() {
	case pmetric.MetricTypeGauge:
		w.numbers(metric.Gauge().DataPoints())
	case pmetric.MetricTypeSum:
		w.numbers(metric.Sum().DataPoints())
	case pmetric.MetricTypeHistogram:
		for _, point := range metric.Histogram().DataPoints().All() {
			w.elementAttributes(point.Attributes())
			w.exemplars(point.Exemplars())
		}
	case pmetric.MetricTypeExponentialHistogram:
		for _, point := range metric.ExponentialHistogram().DataPoints().All() {
			w.elementAttributes(point.Attributes())
			w.exemplars(point.Exemplars())
		}
	case pmetric.MetricTypeSummary:
		for _, point := range metric.Summary().DataPoints().All() {
			w.elementAttributes(point.Attributes())
		}
	}
}

func (w *walker) numbers(points pmetric.NumberDataPointSlice) {
	for _, point := range points.All() {
		w.elementAttributes(point.Attributes())
		w.exemplars(point.Exemplars())
	}
}

func (w *walker) exemplars(exemplars pmetric.ExemplarSlice) {
	for _, exemplar := range exemplars.All() {
		w.elementAttributes(exemplar.FilteredAttributes())
	}
}
