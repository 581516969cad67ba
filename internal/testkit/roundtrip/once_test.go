// SPDX-License-Identifier: Apache-2.0

package roundtrip

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// The folders with the tables and with the code that uses them.
const (
	tablesOfFields     = "internal/format/sentry/event"
	tablesOfAttributes = "internal/translate/attr/field_tables.go"
)

var usersOfTables = []string{
	tablesOfFields, "internal/translate/exception", "internal/translate/fromsentry", "internal/translate/toitems", "internal/translate/tosentry", "internal/translate/toissues", "internal/sentryitems",
}

// repeated are the keys that occur more often than once outside the tables: at most in so many
// places, for a reason.
var repeated = map[string]struct {
	places int
	reason string
}{
	"attributes": {6, "an attribute has no table, because containers have thousands; also a member of the context otel"},
	"unit":       {4, "of an attribute and of a measurement, which have no tables"},
	"value":      {4, "the same; also of the thrown exception"},
	"type":       {5, "of an attribute, which has no table; of images and of the thrown exception"},
	"trace":      {6, "of contexts, which hold any members; also a level of logs and a word in a hash"},

	"message": {4, "of contexts.feedback; also in the aliases of logentry"},
	"headers": {2, "of contexts.response"},

	"breadcrumbs": {2, "a name of what the exporter cuts from issues"},
	"extra":       {3, "the same"},
	"fingerprint": {2, "the same"},
	"request":     {2, "the same"},
	"tags":        {2, "the same"},
	"user":        {2, "the same"},
	"transaction": {3, "the same; also a type of items, and a word in a hash"},
	"stacktrace":  {2, "of an exception, a thread or a message; also in the extra data of issues"},
	"id":          {5, "of users of issues; also in profiles"},
	"ip_address":  {2, "inferred from the request; of users of issues"},
	"settings":    {3, "written anew, so that ingest infers nothing"},
	"image_addr":  {2, "of images of profiles"},
	"native":      {8, "a platform"},

	"semconv.ClientAddress":            {8, "the client of a request, who is the user only in data from Sentry"},
	"semconv.OSName":                   {2, "of V1 profiles; also determines os.type"},
	"semconv.ProcessRuntimeName":       {2, "of V1 profiles, and of issues"},
	"semconv.ProcessRuntimeVersion":    {2, "the same"},
	"semconv.SentryDeviceArchitecture": {4, "as sent, if host.arch has another name"},
	"semconv.ProfileID":                {2, "also of spans, and of records whose context has it"},
	"semconv.SentryProfilerID":         {11, "the same"},
	"semconv.SentryReplayID":           {4, "of contexts, exemplars and the trace header"},
	"semconv.SentrySegmentName":        {3, "of V1 profiles; also repeated on each span of a container"},
	"semconv.HTTPRequestMethod":        {4, "tells the kind of a span that is not Sentry's"},
	"semconv.SentryDebugMetaImages":    {2, "of profiles"},
	"semconv.SentryEventID":            {2, "from the envelope header, also for items without a table"},
	"semconv.SentryFingerprint":        {2, "an attribute that an application may set on any span or record"},
	"semconv.SentryIsSegment":          {3, "derived for the root, and read before spans are grouped"},
	"semconv.SentryKind":               {4, "in data and attributes, from which the kind is derived"},
	"semconv.SentryOp":                 {4, "the same"},
	"semconv.SentryOrigin":             {2, "set for spans that are not Sentry's"},
	"semconv.SentryPlatform":           {8, "of the resource"},
	"semconv.SentrySegmentID":          {8, "derived for children, and read before spans are grouped"},
	"semconv.ServerAddress":            {5, "of servers or of their peers, by the kind of the span"},
}

// TestKeysOccurOnce: a key of Sentry's items, and an attribute that states one, occurs at most once
// in production code outside the tables.
func TestKeysOccurOnce(t *testing.T) {
	isKey := map[string]bool{}
	for _, keys := range event.Schema() {
		for _, key := range keys {
			isKey[key] = true
		}
	}
	isAttribute := map[string]bool{}
	eachKey(t, tablesOfAttributes, func(name string, attribute, _ bool, _ token.Position) {
		if attribute {
			isAttribute[name] = true
		}
	})
	require.Greater(t, len(isAttribute), 50)

	places := map[string][]string{}
	for _, folder := range usersOfTables {
		entries, err := os.ReadDir(filepath.Join(golden.Root(t), folder))
		require.NoError(t, err)
		for _, entry := range entries {
			if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") {
				continue
			}
			eachKey(t, filepath.Join(folder, entry.Name()), func(name string, attribute, inTable bool, at token.Position) {
				if !inTable && (attribute && isAttribute[name] || !attribute && isKey[name]) {
					if attribute {
						name = "semconv." + name
					}
					places[name] = append(places[name], filepath.Join(folder, entry.Name())+":"+strconv.Itoa(at.Line))
				}
			})
		}
	}
	for name, all := range places {
		assert.LessOrEqual(t, len(all), max(1, repeated[name].places), "%s: %s", name, strings.Join(all, " "))
	}
	for name := range repeated {
		assert.Greater(t, len(places[name]), 1, "%s needs no exception: %v", name, places[name])
	}
}

// eachKey visits the strings and the constants of semconv of a Go file.
func eachKey(t *testing.T, path string, visit func(name string, attribute, inTable bool, at token.Position)) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, filepath.Join(golden.Root(t), path), nil, 0)
	require.NoError(t, err)
	for _, declaration := range file.Decls {
		inTable := strings.HasPrefix(path, tablesOfFields) && isTable(declaration)
		ast.Inspect(declaration, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "semconv" {
					visit(n.Sel.Name, true, inTable, files.Position(n.Pos()))
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
					visit(text, false, inTable, files.Position(n.Pos()))
				}
			}
			return true
		})
	}
}

// isTable reports whether a declaration of package event is a table, or returns rows of tables.
func isTable(declaration ast.Decl) bool {
	switch d := declaration.(type) {
	case *ast.GenDecl:
		return d.Tok == token.VAR
	case *ast.FuncDecl:
		return d.Type.Results != nil && slices.ContainsFunc(d.Type.Results.List, func(result *ast.Field) bool {
			kind := result.Type
			if pointer, ok := kind.(*ast.StarExpr); ok {
				kind = pointer.X
			}
			generic, ok := kind.(*ast.IndexExpr)
			if !ok {
				return false
			}
			name, ok := generic.X.(*ast.Ident)
			return ok && (name.Name == "row" || name.Name == "Table")
		})
	}
	return false
}
