// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
)

var code = regexp.MustCompile("`([^`]+)`")

// ruleDecode is the rule of package main for messages that pdata does not decode.
const ruleDecode = "decode"

// TestSentences: each rule has a sentence, and each sentence a rule, a test or a reason. The rules
// and the tests exist.
func TestSentences(t *testing.T) {
	page, err := os.ReadFile("sentences.md")
	require.NoError(t, err)
	tests := testsOfModule(t)
	rules := map[string]bool{ruleDecode: true}
	for _, rule := range allRules(t) {
		rules[string(rule)] = false
	}
	sentences := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if !strings.HasPrefix(line, "| ") || len(cells) != 3 || strings.HasPrefix(line, "| Sentence ") {
			continue
		}
		sentences++
		for _, m := range code.FindAllStringSubmatch(cells[1], -1) {
			_, known := rules[m[1]]
			assert.True(t, known, "%s is no rule: %s", m[1], line)
			rules[m[1]] = true
		}
		named := 0
		for _, m := range code.FindAllStringSubmatch(cells[2], -1) {
			if strings.HasPrefix(m[1], "Test") {
				named++
				assert.True(t, tests[m[1]], "%s is no test: %s", m[1], line)
			}
		}
		reason := regexp.MustCompile(`^\s*not (ours|possible): `).MatchString(cells[2])
		assert.True(t, named > 0 || reason, "neither a test nor a reason: %s", line)
		assert.True(t, strings.Contains(cells[1], "`") || strings.TrimSpace(cells[1]) == "—", line)
	}
	assert.Greater(t, sentences, 60)
	for rule, named := range rules {
		assert.True(t, named, "no sentence demands %s", rule)
	}
}

// testsOfModule returns the names of all tests.
func testsOfModule(t *testing.T) map[string]bool {
	tests, definition := map[string]bool{}, regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	require.NoError(t, filepath.WalkDir(golden.Root(t), func(path string, entry os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range definition.FindAllSubmatch(text, -1) {
			tests[string(m[1])] = true
		}
		return err
	}))
	return tests
}

// TestCustomFrameTypes: values that no well-known one covers are valid.
func TestCustomFrameTypes(t *testing.T) {
	for _, custom := range []string{"hermes", "javascript", "dart", "python-native"} {
		p := dictionarytest.ValidProfiles()
		attributeOf(p.Dictionary(), "profile.frame.type").SetStr(custom)
		assert.Empty(t, conformance.Check(p), custom)
	}
}
