// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/metadatatest"
)

// TestOperationsPage: docs/operations.md explains every metric of metadata.yaml, and no other.
func TestOperationsPage(t *testing.T) {
	page, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	explained := regexp.MustCompile(`otelcol_receiver_sentry_\w+`).FindAllString(string(page), -1)
	slices.Sort(explained)
	assert.ElementsMatch(t, metadatatest.MetricNames(t, "."), slices.Compact(explained))
}

// TestOperationsPageHasEveryReason: each reason that a counter may show has a row that says what to
// do, by its name or by a pattern such as `auth_*`.
func TestOperationsPageHasEveryReason(t *testing.T) {
	page, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "\n## Reasons\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n## ")
	var patterns []string
	for _, row := range regexp.MustCompile(`(?m)^\| (.*?) \|`).FindAllStringSubmatch(table, -1) {
		for _, name := range regexp.MustCompile("`([a-z_*]+)`").FindAllStringSubmatch(row[1], -1) {
			patterns = append(patterns, name[1])
		}
	}
	for _, reason := range reasonsIn(t, "*.go", "../internal/format/sentry/*.go", "../internal/format/sentry/*/*.go") {
		explained := slices.ContainsFunc(patterns, func(pattern string) bool {
			matches, err := path.Match(pattern, reason)
			require.NoError(t, err)
			return matches
		})
		assert.True(t, explained || strings.HasPrefix(reason, "dsn_"), reason) // those of DSNs are about configurations
	}
}

// reasonsIn returns the values of the constants Reason… in files by their patterns.
func reasonsIn(t *testing.T, patterns ...string) (reasons []string) {
	var files []string
	for _, pattern := range patterns {
		matches, err := filepath.Glob(pattern)
		require.NoError(t, err)
		files = append(files, matches...)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(parsed, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if ok && len(spec.Values) == 1 && strings.HasPrefix(strings.ToLower(spec.Names[0].Name), "reason") {
				if literal, ok := spec.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
					reason, err := strconv.Unquote(literal.Value)
					require.NoError(t, err)
					reasons = append(reasons, reason)
				}
			}
			return true
		})
	}
	require.NotEmpty(t, reasons)
	return reasons
}
