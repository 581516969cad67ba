// SPDX-License-Identifier: Apache-2.0

package golden

import (
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

// room is a row of the table of rooms in CONTRIBUTING.md: folders with everything below them, and
// the packages that they must not reach, directly or through others.
type room struct {
	folders, never []string
}

// groups are names in the table for several packages.
var groups = map[string][]string{
	"otel": {"go.opentelemetry.io"},
	"io":   {"net/http", "go.uber.org/zap", "go.opentelemetry.io/collector/component"},
}

// TestRooms compares the table of rooms in CONTRIBUTING.md with the imports of the code. A
// component must not reach another one, in any row.
func TestRooms(t *testing.T) {
	imports := map[string][]string{}
	for _, line := range goList(t, "-deps", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...") {
		words := strings.Fields(line)
		imports[words[0]] = words[1:]
	}
	for _, room := range rooms(t) {
		for _, folder := range room.folders {
			for reached := range reachedFrom(imports, module+folder) {
				for _, never := range room.never {
					assert.False(t, within(reached, never) && !within(reached, module+folder), "%s reaches %s", folder, reached)
				}
				own, _, _ := strings.Cut(folder, "/")
				other, _, _ := strings.Cut(strings.TrimPrefix(reached, module), "/")
				assert.False(t, component.MatchString(other) && other != own, "%s reaches the component %s", folder, other)
			}
		}
	}
}

// reachedFrom returns the packages in a folder and all that they import, directly or indirectly.
func reachedFrom(imports map[string][]string, folder string) map[string]bool {
	reached := map[string]bool{}
	var add func(path string)
	add = func(path string) {
		if !reached[path] {
			reached[path] = true
			for _, next := range imports[path] {
				add(next)
			}
		}
	}
	for path := range imports {
		if within(path, folder) {
			add(path)
		}
	}
	return reached
}

var component = regexp.MustCompile(`^[a-z]+(receiver|processor|exporter|extension)$`)

// TestRoomsHaveEveryPackage: a package without a row has no rules.
func TestRoomsHaveEveryPackage(t *testing.T) {
	all := rooms(t)
	support := regexp.MustCompile(`^internal/testkit(/|$)|test$`)
	for _, path := range goList(t, "./...") {
		listed := slices.ContainsFunc(all, func(r room) bool {
			return slices.ContainsFunc(r.folders, func(folder string) bool { return within(path, module+folder) })
		})
		assert.True(t, listed || support.MatchString(strings.TrimPrefix(path, module)), "%s has no row in CONTRIBUTING.md", path)
	}
}

// within reports whether a package is another one or below it.
func within(path, parent string) bool {
	return path == parent || strings.HasPrefix(path, parent+"/")
}

var roomRow = regexp.MustCompile("(?m)^\\| `([a-z/]+)(?:\\{([a-z,]+)\\})?/` \\| ([^|]*) \\| [^|]* \\|$")

func rooms(t *testing.T) (all []room) {
	page, err := os.ReadFile(filepath.Join(Root(t), "CONTRIBUTING.md"))
	require.NoError(t, err)
	for _, match := range roomRow.FindAllStringSubmatch(string(page), -1) {
		var r room
		for _, name := range strings.Split(match[2], ",") {
			folder := match[1] + name
			require.DirExists(t, filepath.Join(Root(t), folder))
			r.folders = append(r.folders, folder)
		}
		for _, word := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(match[3], -1) {
			group, ok := groups[word[1]]
			if !ok {
				require.DirExists(t, filepath.Join(Root(t), word[1]))
				group = []string{module + word[1]}
			}
			r.never = append(r.never, group...)
		}
		all = append(all, r)
	}
	require.NotEmpty(t, all)
	return all
}

func goList(t *testing.T, arguments ...string) []string {
	list := exec.Command("go", append([]string{"list"}, arguments...)...)
	list.Dir = Root(t)
	output, err := list.Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(output)), "\n")
}
