// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// demands are the rows of the calculator: one profile a second is about sixty processes.
var demands = []Demand{{100, 1_000}, {1_000, 10_000}, {10_000, 100_000}, {100_000, 1_000_000}}

// TestCalculatorPage: the table of docs/scaling.md follows from the figures of docs/load.md.
func TestCalculatorPage(t *testing.T) {
	checkBlock(t, "calculator", Table(measured(t), demands))
}

// profileBytes is the average size of the recorded requests with a profile, compressed.
const profileBytes = 6_000

// measured returns the cost of a recorded profile: the reciprocal of the profiles that a collector
// delivers per second of CPU time.
func measured(t *testing.T) Cost {
	page, err := os.ReadFile(filepath.Join(golden.Root(t), "docs", "load.md"))
	require.NoError(t, err)
	row := regexp.MustCompile(`(?m)^\| capacity with exporter and backend \|(?: [^|]+ \|){2} (\d+) \|`).FindStringSubmatch(string(page))
	require.NotNil(t, row, "docs/load.md has the capacity")
	perSecond, err := strconv.ParseFloat(row[1], 64)
	require.NoError(t, err)
	return Cost{CPU: 1 / perSecond, Bytes: profileBytes}
}

// checkBlock compares a generated part of docs/scaling.md, or writes it.
func checkBlock(t *testing.T, name, want string) {
	file := filepath.Join(golden.Root(t), "docs", "scaling.md")
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(page), "<!-- "+name+" -->\n\n")
	require.True(t, found, name)
	is, after, found := strings.Cut(rest, "\n<!-- end -->")
	require.True(t, found, name)
	if golden.Updating() {
		require.NoError(t, os.WriteFile(file, []byte(before+"<!-- "+name+" -->\n\n"+want+"\n<!-- end -->"+after), 0o644))
		return
	}
	assert.Equal(t, want, is, "docs/scaling.md is not up to date: go test ./internal/testkit/simulate -update")
}

func TestCalculate(t *testing.T) {
	assert.Equal(t, Plan{Cores: 20, Collectors: 5, IndexBytes: 45e6, Partitions: 20, NetworkBytes: 31e6},
		Calculate(Cost{CPU: 1e-3, Bytes: 3e3}, Demand{10_000, 10_000}))
}
