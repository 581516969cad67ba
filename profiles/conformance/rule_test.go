// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"strings"
	"testing"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
)

// TestSources: each rule has a publication. The rules of profcheck that it checks on request are
// optional, and recommendations that it does not check.
func TestSources(t *testing.T) {
	for _, rule := range allRules(t) {
		if !strings.HasPrefix(rule.Source(), "https://") {
			t.Errorf("%s has no source", rule)
		}
		recommended := rule == conformance.RuleAddress || rule == conformance.RuleUnit
		redundant := strings.HasSuffix(string(rule), "-twice") || rule == conformance.RuleOrphan
		if rule.Optional() != (redundant || recommended) {
			t.Errorf("%s is optional: %v", rule, rule.Optional())
		}
	}
}
