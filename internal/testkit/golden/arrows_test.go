// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/otelcol-sentry/otelcol-sentry/"

// arrow is a row of the table of packages in CONTRIBUTING.md: a folder, the folders that it
// imports, and the packages that it never reaches, by itself or through others.
type arrow struct {
	imports, never []string
}

// TestArrows compares the table of packages in CONTRIBUTING.md with the imports of the code.
func TestArrows(t *testing.T) {
	want := arrows(t)
	got := map[string]map[string]bool{}
	for _, line := range goList(t, "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...") {
		words := strings.Fields(line)
		from := folder(want, words[0])
		if from == "" {
			continue
		}
		if got[from] == nil {
			got[from] = map[string]bool{}
		}
		for _, imported := range words[1:] {
			if to := folder(want, imported); to != "" && to != from {
				got[from][to] = true
			}
		}
	}
	for from, row := range want {
		assert.Equal(t, row.imports, slices.Sorted(maps.Keys(got[from])), "imports of %s, by CONTRIBUTING.md and by the code", from)
		if len(row.never) == 0 {
			continue
		}
		for _, reached := range goList(t, "-deps", "./"+from+"/...") {
			for _, never := range row.never {
				never = strings.Replace(never, "own:", module, 1)
				assert.False(t, reached == never || strings.HasPrefix(reached, never+"/"), "%s reaches %s", from, reached)
			}
		}
	}
}

// TestArrowsHaveEveryPackage: a package without a row would have no arrows.
func TestArrowsHaveEveryPackage(t *testing.T) {
	want := arrows(t)
	support := regexp.MustCompile(`^internal/testkit(/|$)|test$`)
	for _, path := range goList(t, "./...") {
		path = strings.TrimPrefix(path, module)
		assert.True(t, support.MatchString(path) || folder(want, module+path) != "", "%s has no row in CONTRIBUTING.md", path)
	}
}

var arrowRow = regexp.MustCompile("(?m)^\\| `([a-z0-9/]+)/` \\| ([^|]*) \\| ([^|]*) \\| [^|]* \\|$")

func arrows(t *testing.T) map[string]arrow {
	page, err := os.ReadFile(filepath.Join(Root(t), "CONTRIBUTING.md"))
	require.NoError(t, err)
	rows := map[string]arrow{}
	for _, match := range arrowRow.FindAllStringSubmatch(string(page), -1) {
		rows[match[1]] = arrow{imports: quoted(match[2]), never: quoted(match[3])}
	}
	require.NotEmpty(t, rows)
	return rows
}

// quoted returns the words in backquotes, sorted.
func quoted(cell string) (words []string) {
	for _, match := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
		words = append(words, match[1])
	}
	slices.Sort(words)
	return words
}

// folder returns the longest folder of the table that has the package, "" if none has.
func folder(rows map[string]arrow, path string) (longest string) {
	path, own := strings.CutPrefix(path, module)
	if !own || strings.HasSuffix(path, "test") {
		return ""
	}
	for name := range rows {
		if (path == name || strings.HasPrefix(path, name+"/")) && len(name) > len(longest) {
			longest = name
		}
	}
	return longest
}

func goList(t *testing.T, arguments ...string) []string {
	list := exec.Command("go", append([]string{"list"}, arguments...)...)
	list.Dir = Root(t)
	output, err := list.Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(output)), "\n")
}
