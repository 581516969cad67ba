// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// mappingRow is a row of a table of docs/mapping.md.
type mappingRow struct {
	text   string
	fields []string // of Sentry, that it is about
	target string
	back   string // what Sentry receives again
	cases  []string
}

// shapeTable is the head of the one table without cases: it is the shape of every profile.
const shapeTable = "| OTLP | value |"

// wayBack is the head of the last part of the page: its rows are about data of other origins, and
// differences that concern no single field.
const wayBack = "## OTLP to Sentry\n"

var code = regexp.MustCompile("`([^`]+)`")

func mappingRows(t *testing.T) (rows []mappingRow) {
	page, err := os.ReadFile(filepath.Join(golden.Root(t), "docs", "mapping.md"))
	require.NoError(t, err)
	there, _, _ := strings.Cut(string(page), "\n"+wayBack)
	for table := range strings.SplitSeq(there, "\n\n") {
		lines := strings.Split(strings.TrimSpace(table), "\n")
		if !strings.HasPrefix(table, "|") || lines[0] == shapeTable {
			continue
		}
		for _, line := range lines[2:] {
			cells := strings.Split(strings.Trim(line, "|"), "|")
			require.Len(t, cells, 4, "%s", line)
			row := mappingRow{text: line, fields: codes(cells[0]), target: cells[1], back: strings.TrimSpace(cells[2]), cases: codes(cells[3])}
			if row.cases == nil { // the case that the heading names
				row.cases = codes(lines[0])
			}
			if strings.HasPrefix(lines[0], "| Metric ") { // the other way round: what it is made from comes second
				row.fields, row.target = codes(cells[1]), cells[0]
			}
			require.NotEmpty(t, row.cases, "no case shows the row %s", line)
			rows = append(rows, row)
		}
	}
	return rows
}

func codes(cell string) (all []string) {
	for _, match := range code.FindAllStringSubmatch(cell, -1) {
		all = append(all, match[1])
	}
	return all
}

// TestMappingPage holds docs/mapping.md against the cases: what a row names is in what comes out of
// the cases it names.
func TestMappingPage(t *testing.T) {
	shown := map[string]string{}
	for _, c := range golden.Cases(t) {
		for _, file := range golden.Signals {
			shown[c.Name] += c.Read(t, file)
		}
	}
	for _, row := range mappingRows(t) {
		var texts []string
		for _, name := range row.cases {
			require.Contains(t, shown, name, "no such case: row %s", row.text)
			texts = append(texts, shown[name])
		}
		for _, attribute := range attributes(row.target) {
			assert.True(t, strings.Contains(strings.Join(texts, ""), attribute), "no case shows %s of the row %s", attribute, row.text)
		}
	}
}

var absentWithoutReason = regexp.MustCompile(`^(absent|not sent)[^:]*$`)

// TestMappingPageWayBack checks that each row states what comes back, or the reason why nothing
// does. The round trips check the values: see roundtrip_test.go in tosentry and toitems.
func TestMappingPageWayBack(t *testing.T) {
	for _, row := range mappingRows(t) {
		assert.NotEmpty(t, row.back, "row %s", row.text)
		assert.NotRegexp(t, absentWithoutReason, row.back, "row %s", row.text)
		if strings.HasPrefix(strings.TrimSpace(row.target), "not mapped") {
			assert.NotRegexp(t, "^same", row.back, "nothing can come back of the row %s", row.text)
		}
	}
}

// attribute tells those of OpenTelemetry and ours from names of Sentry's fields, which a cell may
// refer to.
var attribute = regexp.MustCompile(`^(client|code|deployment|device|exception|file|host|http|os|process|profile|sentry|server|service|telemetry|thread|url|user|user_agent)(\.[a-z_]+)+$`)

// attributes are those that a cell names; none where nothing is mapped.
func attributes(cell string) (keys []string) {
	if strings.Contains(cell, "not mapped") {
		return nil
	}
	for _, name := range codes(cell) {
		if attribute.MatchString(name) {
			keys = append(keys, name)
		}
	}
	return keys
}

// TestMappingPageIsComplete holds docs/mapping.md against the models: every field has a row.
func TestMappingPageIsComplete(t *testing.T) {
	mapped := map[string]bool{}
	for _, row := range mappingRows(t) {
		for _, field := range row.fields {
			mapped[field], mapped[lastPart(field)] = true, true
		}
	}
	p, c := decodeFull(t)
	for _, leaf := range append(leaves(reflect.ValueOf(p), ""), leaves(reflect.ValueOf(c), "")...) {
		if leaf.name != "measurements" { // the name of a series is a key
			assert.True(t, mapped[leaf.name] || mapped[lastPart(leaf.name)], "docs/mapping.md has no row for %s", leaf.name)
		}
	}
	for object, keys := range event.Schema() {
		for _, key := range keys {
			assert.True(t, mapped[key] || mapped[strings.TrimPrefix(object+"."+key, ".")], "docs/mapping.md has no row for %s of %q", key, object)
		}
	}
}

func lastPart(field string) string { return field[strings.LastIndex(field, ".")+1:] }
