// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/catalog"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/exceptions"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/records"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/releases"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/series"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/waterfall"
)

const apiPageIntroduction = `# Viewer API

The [profile viewer exporter](../profileviewerexporter/README.md#api) describes the requests. This page lists the fields of the responses:
JSON objects with the media type ` + "`application/json`" + `, except for downloads and the stream of changes. Times are Unix nanoseconds as text,
because JavaScript numbers cannot hold them exactly; durations and offsets are in nanoseconds. IDs of traces and spans are hexadecimal. Weights
are in the unit of ` + "`measure`" + `. An error response has one field, ` + "`error`" + `, with the reason.

` + "`make golden`" + ` writes this page from the types of the exporter; a test compares them.
`

// apiResponses are the endpoints in the order of the page, with the types of their responses.
var apiResponses = []struct {
	endpoint string
	response any
}{
	{"GET /api/overview", overviewAnswer{}},
	{"GET /api/profiles", catalog.ProfilesAnswer{}},
	{"GET /api/traces", catalog.TracesAnswer{}},
	{"GET /api/services", catalog.ServicesAnswer{}},
	{"GET /api/profiles/{profile}", profileAnswer{}},
	{"GET /api/flame", flameAnswer{}},
	{"GET /api/ordered", orderedAnswer{}},
	{"GET /api/compare", compareAnswer{}},
	{"GET /api/stacks", stacksAnswer{}},
	{"GET /api/frame", detailAnswer{}},
	{"GET /api/traces/{trace}", traceAnswer{}},
	{"GET /api/traces/{trace}/rows", waterfall.Answer{}},
	{"GET /api/traces/{trace}/spans/{span}", spanDetailAnswer{}},
	{"GET /api/errors", exceptions.ListAnswer{}},
	{"GET /api/errors/{group}", exceptions.DetailAnswer{}},
	{"GET /api/logs", records.ListAnswer{}},
	{"GET /api/metrics", series.ListAnswer{}},
	{"GET /api/service", releases.Answer{}},
	{"GET /api/notices", noticesAnswer{}},
	{"GET /api/changes", changesAnswer{}},
	{"POST /api/import", importAnswer{}},
}

// TestAPIPage: docs/viewer-api.md has every endpoint and every field of the responses. With the flag -update it writes the page.
func TestAPIPage(t *testing.T) {
	w := pageWriter{t: t, sources: map[string]map[string]*ast.StructType{}, described: map[reflect.Type]bool{}, named: map[string]reflect.Type{}}
	w.WriteString(apiPageIntroduction)
	for _, r := range apiResponses {
		fmt.Fprintf(&w, "\n## `%s`\n\n", r.endpoint)
		w.table(reflect.TypeOf(r.response))
	}
	w.WriteString("\n## Parts of responses\n")
	for len(w.parts) > 0 {
		part := w.parts[0]
		w.parts = w.parts[1:]
		fmt.Fprintf(&w, "\n### %s\n\n", w.name(part))
		w.table(part)
	}
	file := filepath.Join(golden.Root(t), "docs", "viewer-api.md")
	if golden.Updating() {
		require.NoError(t, os.WriteFile(file, []byte(w.String()), 0o644))
	}
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(page), w.String(), "run make golden and review the diff")

	routes, err := os.ReadFile("server.go")
	require.NoError(t, err)
	for _, match := range regexp.MustCompile(`(?:handle|list)\("([^"]+)"|"((?:GET|POST) /api/[^"]+)"`).FindAllStringSubmatch(string(routes), -1) {
		route := match[2]
		if route == "" {
			route = "GET /api/" + match[1]
		}
		switch route {
		case "GET /api/", "GET /api/download/{format}", "POST /api/clear": // no fields
		default:
			assert.Contains(t, string(page), "\n## `"+route+"`\n")
		}
	}
}

// pageWriter writes tables of fields.
type pageWriter struct {
	strings.Builder
	t         *testing.T
	sources   map[string]map[string]*ast.StructType // by package, by name
	described map[reflect.Type]bool
	named     map[string]reflect.Type
	parts     []reflect.Type
}

func (w *pageWriter) table(of reflect.Type) {
	w.WriteString("| Field | Type | Content |\n|---|---|---|\n")
	w.rows(of)
}

func (w *pageWriter) rows(of reflect.Type) {
	source := w.source(of)
	for i := range of.NumField() {
		field := of.Field(i)
		if field.Anonymous {
			w.rows(field.Type)
			continue
		}
		if !field.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		require.NotEmpty(w.t, name, "%s of %s", field.Name, of)
		content := w.comment(source, field.Name)
		if strings.Contains(options, "omitempty") && !strings.Contains(content, "absent") {
			content = strings.TrimPrefix(content+"; may be absent", "; ")
		}
		fmt.Fprintf(w, "| `%s` | %s | %s |\n", name, w.describe(field.Type), content)
	}
}

// describe returns the type of a field, and adds its parts to the page.
func (w *pageWriter) describe(of reflect.Type) string {
	switch of.Kind() {
	case reflect.Pointer:
		return w.describe(of.Elem())
	case reflect.Slice:
		return "list: " + w.describe(of.Elem())
	case reflect.Array:
		return fmt.Sprintf("list of %d: %s", of.Len(), w.describe(of.Elem()))
	case reflect.Map:
		return "object: " + w.describe(of.Elem())
	case reflect.Struct:
		if !w.described[of] {
			w.described[of] = true
			w.parts = append(w.parts, of)
		}
		return fmt.Sprintf("[%s](#%s)", w.name(of), strings.ReplaceAll(w.name(of), " ", "-"))
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "boolean"
	}
	return "number"
}

// name returns the name of a part: "span samples" for spanSamples, "group" for exceptions.GroupAnswer, and "exceptions frame" for
// exceptions.FrameAnswer, because another part is called "frame".
func (w *pageWriter) name(of reflect.Type) string {
	name := strings.TrimSuffix(strings.TrimSuffix(of.Name(), "Answer"), "Listing")
	if other, taken := w.named[strings.ToLower(name)]; name == "" || taken && other != of {
		name = path.Base(of.PkgPath()) + name
	}
	w.named[strings.ToLower(name)] = of
	var words strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			words.WriteByte(' ')
		}
		words.WriteRune(unicode.ToLower(r))
	}
	return words.String()
}

// source returns the declaration of a type.
func (w *pageWriter) source(of reflect.Type) *ast.StructType {
	folder := strings.TrimPrefix(of.PkgPath(), "github.com/otelcol-sentry/otelcol-sentry/")
	if w.sources[folder] == nil {
		w.sources[folder] = map[string]*ast.StructType{}
		files, err := filepath.Glob(filepath.Join(golden.Root(w.t), folder, "*.go"))
		require.NoError(w.t, err)
		for _, file := range slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, "_test.go") }) {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			require.NoError(w.t, err)
			ast.Inspect(parsed, func(n ast.Node) bool {
				if spec, ok := n.(*ast.TypeSpec); ok {
					if declared, ok := spec.Type.(*ast.StructType); ok {
						w.sources[folder][spec.Name.Name] = declared
					}
				}
				return true
			})
		}
	}
	return w.sources[folder][of.Name()]
}

// comment returns the comment of a field on one line.
func (w *pageWriter) comment(of *ast.StructType, field string) string {
	require.NotNil(w.t, of, field)
	for _, f := range of.Fields.List {
		if slices.ContainsFunc(f.Names, func(name *ast.Ident) bool { return name.Name == field }) {
			text := f.Comment.Text()
			if text == "" {
				text = f.Doc.Text()
			}
			text = strings.TrimSuffix(strings.Join(strings.Fields(text), " "), ".")
			return strings.TrimPrefix(strings.TrimPrefix(text, field+" is "), field+" has ")
		}
	}
	return ""
}
