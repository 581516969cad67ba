// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// piiConfig is the configuration of advanced rules, as Sentry stores it for a project.
type piiConfig struct {
	Rules        map[string]spec     `json:"rules"`
	Applications map[string][]string `json:"applications"`
}

// readPIIConfig reads advanced rules from JSON text or from YAML.
func readPIIConfig(written any) (config piiConfig, err error) {
	text, isText := written.(string)
	if written == nil || isText && strings.TrimSpace(text) == "" {
		return config, nil
	}
	encoded := []byte(text)
	if !isText {
		if encoded, err = json.Marshal(written); err != nil {
			return config, fmt.Errorf("is not a map of rules and applications: %w", err)
		}
	}
	if err := json.Unmarshal(encoded, &config); err != nil {
		return config, fmt.Errorf("is not a PII configuration of Sentry (an object with rules and applications): %w", err)
	}
	return config, nil
}

// application is a selector with its rules.
type application struct {
	selector selector
	rules    []*rule
}

// applications compiles the advanced rules, in the order in which Relay applies them.
func (c *piiConfig) applications() (all []application, err error) {
	var problems []error
	for _, text := range slices.Sorted(maps.Keys(c.Applications)) {
		s, err := parseSelector(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("applications: %q is not a selector: %w", text, err))
			continue
		}
		rules := map[string]*rule{}
		for _, name := range c.Applications[text] {
			if err := c.collect(rules, name, nil, 0); err != nil {
				problems = append(problems, err)
			}
		}
		all = append(all, application{selector: s, rules: inOrder(rules)})
	}
	return all, errors.Join(problems...)
}

// inOrder returns rules sorted by name, the order in which Relay applies them.
func inOrder(rules map[string]*rule) (all []*rule) {
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		all = append(all, rules[name])
	}
	return all
}

// maxRuleDepth is the maximum depth of references between rules.
const maxRuleDepth = 16

// collect adds a rule by name, and the rules that it refers to. outer is the rule that they are
// counted as.
func (c *piiConfig) collect(rules map[string]*rule, name string, outer *rule, depth int) error {
	if rules[name] != nil || depth > maxRuleDepth {
		return nil
	}
	s, own := c.Rules[name]
	if !own {
		known := false
		if s, known = builtin(name); !known {
			if depth > 0 {
				return nil // as in @common:filter
			}
			return fmt.Errorf("applications: there is no rule %q; define it under rules, or use a built-in one such as @creditcard:replace", name)
		}
	}
	r, err := newRule(name, s)
	if err != nil {
		return fmt.Errorf("rules: %s: %w", name, err)
	}
	inner := s.Rules
	if s.Type == typeAlias {
		inner = []string{s.Rule}
	}
	if r == nil {
		r = &rule{id: name, origin: name, by: s.Redaction}
	}
	if outer != nil {
		r.origin = outer.origin
		if outer.by.Method != methodDefault && outer.by.Method != "" {
			r.by = outer.by
		}
	}
	if s.Type != typeAlias && s.Type != typeMultiple {
		if len(r.patterns) > 0 || r.pair != nil {
			rules[name] = r
		}
		return nil
	}
	hides := r
	if !s.HideInner {
		hides = nil
	}
	for _, each := range inner {
		if err := c.collect(rules, each, hides, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// stripFields returns the rule for the configured sensitive fields.
func stripFields(fields []string) *rule {
	var all []string
	for _, field := range fields {
		if field = strings.TrimSpace(field); field != "" {
			all = append(all, regexp.QuoteMeta(field))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return &rule{id: "strip-fields", origin: "strip-fields", by: replaceBy(Filtered), pair: regexp.MustCompile(`(?i)` + strings.Join(all, "|"))}
}

// safeFields compiles the fields that the default rules skip: selectors, or plain keys.
func safeFields(fields []string) (all []selector) {
	for _, field := range fields {
		if field = strings.TrimSpace(field); field == "" {
			continue
		}
		s, err := parseSafeField(field)
		if err != nil {
			s = steps{{kind: stepKey, key: field}} // as in Sentry
		}
		all = append(all, s)
	}
	return all
}
