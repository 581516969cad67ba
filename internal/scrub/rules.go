// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// spec is a rule in the form of Relay's settings.
type spec struct {
	Type          string    `json:"type"`
	Pattern       string    `json:"pattern"`
	ReplaceGroups *[]int    `json:"replaceGroups"`
	KeyPattern    string    `json:"keyPattern"`
	Rules         []string  `json:"rules"`
	Rule          string    `json:"rule"`
	HideInner     bool      `json:"hideInner"`
	Redaction     redaction `json:"redaction"`
}

// Types of rules.
const (
	typeAnything   = "anything"
	typePattern    = "pattern"
	typeRedactPair = "redact_pair"
	typeMultiple   = "multiple"
	typeAlias      = "alias"
	typePassword   = "password"
)

// typePatterns has the patterns of the rule types that depend on values only.
var typePatterns = map[string][]*pattern{
	typeAnything: {&anythingPattern},
	"bearer":     {&bearerPattern},
	"cookies":    {&cookiesPattern},
	"creditcard": {&cardPattern},
	"email":      {&emailPattern},
	"iban":       {&ibanPattern},
	"imei":       {&imeiPattern},
	"ip":         {&ipv4Pattern, &ipv6Pattern},
	"mac":        {&macPattern},
	"pemkey":     {&pemPattern},
	"url_auth":   {&urlAuthPattern},
	"us_ssn":     {&ssnPattern},
	"userpath":   {&userPathPattern},
	"uuid":       {&uuidPattern},
	typePassword: {&bearerPattern}, // for compatibility; for keys and other values see rule
}

// rule is a compiled spec.
type rule struct {
	id       string
	origin   string // the name in metrics: of the outer rule, if that refers to this one
	patterns []*pattern
	anything bool
	password bool
	pair     *regexp.Regexp // of redact_pair; matches keys and values
	by       redaction
}

// builtin returns one of Relay's rules by name. Names of types have the forms @type and
// @type:method.
func builtin(name string) (spec, bool) {
	switch name {
	case "@common":
		return spec{Type: typeMultiple, Rules: []string{"@iban", "@ip", "@email", "@creditcard", "@pemkey", "@urlauth", "@userpath",
			"@password", "@usssn", "@bearer"}}, true
	case "@common:filter": // Relay's list also has @userpath:filter, which is not defined anywhere: user names in paths stay
		return spec{Type: typeMultiple, Rules: []string{"@creditcard:filter", "@iban:filter", "@pemkey:filter", "@urlauth:legacy",
			"@password:filter", "@usssn:filter", "@bearer:filter"}}, true
	case "@urlauth:legacy":
		return spec{Type: "@urlauth:legacy", Redaction: replaceBy(Filtered)}, true
	case "@cookies:filter":
		return spec{Type: "cookies", Redaction: replaceBy(Filtered)}, true
	}
	kind, method, explicit := strings.Cut(strings.TrimPrefix(name, "@"), ":")
	known, ok := builtinTypes[kind]
	if !ok || !strings.HasPrefix(name, "@") {
		return spec{}, false
	}
	if !explicit {
		return spec{Type: typeAlias, Rule: name + ":" + known.usual, HideInner: true}, true
	}
	s := spec{Type: known.kind, Redaction: redaction{Method: method}}
	switch method {
	case methodReplace:
		s.Redaction.Text = known.mark
	case methodMask, methodHash, methodRemove:
		if kind == "imei" && method == methodMask {
			s.Redaction.Method = methodHash // as Relay does
		}
	case "filter":
		if !slices.Contains([]string{"anything", "iban", "creditcard", "pemkey", "usssn", "password", "bearer"}, kind) {
			return spec{}, false
		}
		s.Redaction = replaceBy(Filtered)
	default:
		return spec{}, false
	}
	return s, true
}

// builtinTypes has the type of each built-in rule, its default method and its mark.
var builtinTypes = map[string]struct{ kind, usual, mark string }{
	"anything":   {typeAnything, methodReplace, Filtered},
	"bearer":     {"bearer", methodReplace, "Bearer [token]"},
	"creditcard": {"creditcard", methodReplace, "[creditcard]"},
	"email":      {"email", methodReplace, "[email]"},
	"iban":       {"iban", methodReplace, "[iban]"},
	"imei":       {"imei", methodReplace, "[imei]"},
	"ip":         {"ip", methodReplace, "[ip]"},
	"mac":        {"mac", methodMask, "[mac]"},
	"password":   {typePassword, methodRemove, "[password]"},
	"pemkey":     {"pemkey", methodReplace, "[pemkey]"},
	"urlauth":    {"url_auth", methodReplace, "[auth]"},
	"userpath":   {"userpath", methodReplace, "[user]"},
	"usssn":      {"us_ssn", methodMask, "[us-ssn]"},
	"uuid":       {"uuid", methodMask, "[uuid]"},
}

// newRule compiles a spec. It returns nil for a type that Relay does not know.
func newRule(id string, s spec) (*rule, error) {
	r := &rule{id: id, origin: id, by: s.Redaction}
	if r.by.Method == methodReplace && r.by.Text == "" && !strings.HasPrefix(id, "@") {
		r.by.Text = Filtered
	}
	switch s.Type {
	case typePattern:
		expression, err := regexp.Compile(s.Pattern)
		if err != nil {
			return nil, fmt.Errorf("pattern: is not a regular expression (RE2): %w", err)
		}
		groups := []int{0}
		if s.ReplaceGroups != nil {
			groups = slices.Sorted(slices.Values(*s.ReplaceGroups))
		}
		r.patterns = []*pattern{{regexp: expression, groups: groups, configured: true}}
	case typeRedactPair, "redactPair":
		expression, err := regexp.Compile(s.KeyPattern)
		if err != nil {
			return nil, fmt.Errorf("keyPattern: is not a regular expression (RE2): %w", err)
		}
		r.pair = expression
	case "@urlauth:legacy":
		r.patterns = []*pattern{&urlPasswordPattern}
	default:
		known, ok := typePatterns[s.Type]
		if !ok {
			return nil, nil // Relay ignores types that it does not know
		}
		r.patterns, r.anything, r.password = known, s.Type == typeAnything, s.Type == typePassword
	}
	return r, nil
}

// matchesKey reports whether the rule applies to any value under a key.
func (r *rule) matchesKey(key string) bool {
	return r.password && sensitiveKey(key) || r.pair != nil && r.pair.MatchString(key)
}

// outcome is the effect of a rule on a value.
type outcome uint8

const (
	unchanged outcome = iota
	changed
	removed
)

// whole returns the outcome for a container or a number, which depends on the key only.
func (r *rule) whole(key string) outcome {
	switch {
	case !r.anything && !r.matchesKey(key):
		return unchanged
	case r.by.Method == methodReplace:
		return changed
	default:
		return removed
	}
}

// text applies the rule to a text under a key.
func (r *rule) text(t *redacted, key string, found triggers) outcome {
	if r.anything && r.by.removes() {
		return removed
	}
	result := unchanged
	for _, p := range r.patterns {
		if p.possible(found, t.text) && t.replace(p, r.by) {
			result = changed
		}
	}
	if !r.password && r.pair == nil {
		return result
	}
	if r.matchesKey(key) {
		if r.by.removes() {
			return removed
		}
		return max(result, wholly(t.replaceAll(r.by)))
	}
	if r.password && sensitiveText(t.text, found) || r.pair != nil && r.pair.MatchString(t.text) {
		return max(result, wholly(t.replaceAll(r.by)))
	}
	return result
}

func wholly(replaced bool) outcome {
	if replaced {
		return changed
	}
	return unchanged
}
