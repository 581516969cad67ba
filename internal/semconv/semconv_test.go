// SPDX-License-Identifier: Apache-2.0

package semconv_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../.."

// support matches folders without production code.
var support = regexp.MustCompile(`^(internal/(semconv|testkit|bench|e2e)|tools|dist|output|\.git)$|(^|/)(testdata|web|node_modules|\w+test)$`)

// format matches the wire formats, which do not know OpenTelemetry: dotted text there is the path
// of a field, such as exception.type.
var format = regexp.MustCompile(`^(internal/format|measurereceiver/internal/measure)/`)

// ravenFields starts the names of event fields in old SDKs.
const ravenFields = "sentry.interfaces."

// spelled matches text that can only be a key. Text of other namespaces may be something else, such
// as the operation http.server; it fails only if it equals a key.
var spelled = regexp.MustCompile(`^(sentry|measure|split|service|deployment|telemetry|thread|process)\.[a-z0-9_]`)

// TestKeysAreDeclaredHere fails if another package spells a key.
func TestKeysAreDeclaredHere(t *testing.T) {
	keys, prefixes := map[string]bool{}, []string{}
	for name, key := range constants(t) {
		keys[key] = true
		if strings.HasSuffix(name, "Prefix") {
			prefixes = append(prefixes, key)
		}
	}
	eachFile(t, func(s source) {
		for _, literal := range literals(s.file) {
			text, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			startsText := func(prefix string) bool { return strings.HasPrefix(text, prefix) }
			declared := keys[text] && strings.Contains(text, ".") // single words are also fields
			declared = declared || slices.ContainsFunc(prefixes, startsText)
			isField := format.MatchString(s.path) && (!spelled.MatchString(text) || strings.HasPrefix(text, ravenFields))
			if (declared || spelled.MatchString(text)) && !isField {
				t.Errorf("%s: the key %q belongs in internal/semconv", s.fset.Position(literal.Pos()), text)
			}
		}
	})
}

// TestKeysAreUsed fails if no production code uses a constant.
func TestKeysAreUsed(t *testing.T) {
	used := map[string]bool{}
	eachFile(t, func(s source) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := selector.X.(*ast.Ident); ok && x.Name == "semconv" {
					used[selector.Sel.Name] = true
				}
			}
			return true
		})
	})
	for name, key := range constants(t) {
		assert.True(t, used[name], "nothing uses semconv.%s (%q)", name, key)
	}
}

var (
	affixes    = regexp.MustCompile(`^(Metric|Event|Metadata)|(Prefix|Suffix)$`)
	separators = strings.NewReplacer(".", "", "_", "")
)

// TestConstantsAreNamedAfterKeys checks that the key determines the name, and that no key has two
// constants.
func TestConstantsAreNamedAfterKeys(t *testing.T) {
	kinds := map[[2]string]string{}
	for name, key := range constants(t) {
		assert.True(t, strings.EqualFold(affixes.ReplaceAllString(name, ""), separators.Replace(key)), "semconv.%s is %q", name, key)
		kind := [2]string{affixes.FindString(name), key}
		assert.Empty(t, kinds[kind], "semconv.%s is %q, too", name, key)
		kinds[kind] = name
	}
}

// constants maps the names of the constants to their keys.
func constants(t *testing.T) map[string]string {
	keys := map[string]string{}
	paths, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		require.Empty(t, file.Imports, "%s", path)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && !slices.Contains([]string{"SchemaURL", "Filtered"}, spec.Names[0].Name) { // no keys
				key, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				require.NoError(t, err)
				keys[spec.Names[0].Name] = key
			}
			return true
		})
	}
	require.NotEmpty(t, keys)
	return keys
}

// source is a file of production code.
type source struct {
	path string
	fset *token.FileSet
	file *ast.File
}

// sources parses the production code once for all tests.
var sources = sync.OnceValues(func() (all []source, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path = filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		switch {
		case entry.IsDir() && support.MatchString(path):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, filepath.Join(root, path), nil, parser.SkipObjectResolution)
		all = append(all, source{path, fset, file})
		return err
	})
	return all, err
})

func eachFile(t *testing.T, visit func(source)) {
	all, err := sources()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, s := range all {
		visit(s)
	}
}

// literals returns the string literals of a file except imports and tags.
func literals(file *ast.File) (all []*ast.BasicLit) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				all = append(all, n)
			}
		}
		return true
	})
	return all
}
