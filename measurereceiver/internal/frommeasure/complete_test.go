// SPDX-License-Identifier: Apache-2.0

package frommeasure_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/frommeasure"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

// unmapped are the fields that come out nowhere, or that no test can change alone.
var unmapped = map[string]string{
	"Attributes.os_name": "says which rules hold: all cases show it", "Span.span_name": "a spelling of the published document that no SDK has",
	"Attachment.size": "the file has one", "Attachment.bytes": "becomes a file",
	"CPUUsage.interval": "nothing adds up without it", "MemoryUsage.interval": "as above", "MemoryUsageAbsolute.interval": "as above",
	"Log.severity_text": "only together with the next", "Log.severity_number": "as above",
	"CPUUsage.cutime": "always 0", "CPUUsage.cstime": "always 0",
}

// TestMeasureFields changes every field of testdata/measure, one at a time, and looks whether
// anything else comes out. So each field of the model stands in a case, and each is mapped, or
// listed as not.
func TestMeasureFields(t *testing.T) {
	missing := map[string]bool{}
	for _, model := range []any{measure.Event{}, measure.Span{}} {
		modelFields(reflect.TypeOf(model), func(name string) { missing[name] = true })
	}
	for _, c := range golden.MeasureCases(t) {
		var batch map[string][]map[string]any
		require.NoError(t, json.Unmarshal([]byte(c.Read(t, "in.json")), &batch), c.Name)
		for list, model := range map[string]any{"events": measure.Event{}, "spans": measure.Span{}} {
			for _, item := range batch[list] {
				before := measureDump(t, list, item)
				setFields(item, reflect.TypeOf(model), func(name string, owner map[string]any, key string) {
					if !missing[name] {
						return
					}
					value := owner[key]
					for _, other := range []any{nil, changed(value)} {
						owner[key] = other
						if after := measureDump(t, list, item); after != "" && after != before {
							delete(missing, name)
						}
					}
					owner[key] = value
				})
			}
		}
	}
	for name := range missing {
		assert.Contains(t, unmapped, name, "no case shows that it is mapped")
	}
	for name := range unmapped {
		assert.Contains(t, missing, name, "it is mapped, or no field")
	}
}

// fieldsOf gives the struct of a model that stands behind a field, and whether it has fields of its
// own in JSON.
func fieldsOf(field reflect.Type) (reflect.Type, bool) {
	for field.Kind() == reflect.Pointer || field.Kind() == reflect.Slice {
		field = field.Elem()
	}
	_, scalar := reflect.PointerTo(field).MethodByName("UnmarshalJSON")
	return field, field.Kind() == reflect.Struct && !scalar
}

func modelFields(model reflect.Type, visit func(name string)) {
	for field := range model.Fields() {
		key := field.Tag.Get("json")
		switch inner, deeper := fieldsOf(field.Type); {
		case !field.IsExported() || key == "-":
		case deeper:
			modelFields(inner, visit)
		default:
			visit(model.Name() + "." + key)
		}
	}
}

// setFields visits the fields that an object of JSON has of its model.
func setFields(object map[string]any, model reflect.Type, visit func(name string, owner map[string]any, key string)) {
	for field := range model.Fields() {
		key := field.Tag.Get("json")
		value := object[key]
		inner, deeper := fieldsOf(field.Type)
		if value == nil || !deeper {
			if value != nil {
				visit(model.Name()+"."+key, object, key)
			}
			continue
		}
		list, isList := value.([]any)
		if !isList {
			list = []any{value}
		}
		for _, element := range list {
			if object, is := element.(map[string]any); is {
				setFields(object, inner, visit)
			}
		}
	}
}

// words are values of which there are not many.
var words = map[string]string{
	"wifi": "cellular", "cellular": "wifi", "unknown": "3g", "no_network": "wifi", "vpn": "wifi", "2g": "3g", "3g": "4g", "4g": "5g", "5g": "4g", "info": "error", "error": "info", "warning": "error",
	"created": "resumed", "resumed": "created", "foreground": "background", "background": "foreground", "screenshot": "layout_snapshot",
	"jvm": "dart", "dart": "js", "js": "dart", "apple": "js",
}

// changed gives another value of the same kind: ids, times and names are still some.
func changed(value any) any {
	switch value := value.(type) {
	case bool:
		return !value
	case float64:
		return value + 4 // as the numbers of severities
	case string:
		if other := words[value]; other != "" {
			return other
		}
		at := strings.LastIndexAny(value, "0123456789")
		if at < 0 {
			return value + "x"
		}
		return value[:at] + string('0'+(value[at]-'0'+1)%10) + value[at+1:]
	}
	return nil
}

// measureDump is what comes of a batch with one item, "" if the item is lost.
func measureDump(t *testing.T, list string, item map[string]any) string {
	body, err := json.Marshal(map[string]any{list: []any{item}})
	require.NoError(t, err)
	b, err := measure.DecodeJSON(body, nil)
	if err != nil || b.Validate(measure.Lenient) != nil {
		return ""
	}
	src := measureSource
	src.HTTPBodies = true
	metrics, _ := frommeasure.ToMetrics(b.Events, src)
	return "." + golden.DumpLogs(frommeasure.ToLogs(b.Events, src), golden.Receipt{}) +
		golden.DumpTraces(frommeasure.ToTraces(b.Spans, b.Events, src), golden.Receipt{}) + golden.DumpMetrics(metrics, golden.Receipt{})
}

// docRow is a line of a table in docs/measure.md.
type docRow struct {
	text    string
	names   []string // of attributes, metrics, event names; with * at the end for all that begin so
	shownBy string
}

var (
	quoted   = regexp.MustCompile("`([^`]+)`")
	otelName = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*\.([a-z0-9_]+|\*)$`)
)

// docRows reads the tables. A name that begins with a dot shares all but the end with the full one
// before it.
func docRows(t *testing.T, text string, cases map[string]string) (rows []docRow) {
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if !strings.HasPrefix(line, "|") || len(cells) < 2 || strings.HasPrefix(line, "|---") {
			continue
		}
		row, full := docRow{text: line}, ""
		last := strings.Trim(strings.TrimSpace(cells[len(cells)-1]), "`")
		if cases[last] != "" {
			row.shownBy, cells = last, cells[:len(cells)-1]
		}
		for _, match := range quoted.FindAllStringSubmatch(strings.Join(cells[1:], " "), -1) {
			name := match[1]
			if strings.HasPrefix(name, ".") && full != "" {
				name = full[:strings.LastIndex(full, ".")] + name
			}
			if otelName.MatchString(name) {
				row.names = append(row.names, name)
				if !strings.HasPrefix(match[1], ".") {
					full = name
				}
			}
		}
		rows = append(rows, row)
	}
	require.Greater(t, len(rows), 50)
	return rows
}

// unshown are names that no case has, because it would be large or is an option.
var unshown = map[string]string{
	"measure.app_unique_id": "an option", "http.request.body.content": "an option", "http.response.body.content": "an option",
	"measure.app_exit.trace_bytes": "256 KiB", "measure.fields_dropped": "129 fields", "measure.exception.parts_dropped": "65 exceptions",
}

// made are values that look like names of ours: what made the exception, and what comes of the type
// "hologram".
var made = regexp.MustCompile(`^measure\.(android\.anr|hologram(\..*)?)$`)

// TestMeasureDocument holds docs/measure.md against the golden files: what it names comes out,
// where it says so, and what comes out under a name of ours is named.
func TestMeasureDocument(t *testing.T) {
	root := golden.Root(t)
	text, err := os.ReadFile(filepath.Join(root, "docs", "measure.md"))
	require.NoError(t, err)
	cases, all := map[string]string{}, ""
	for _, c := range golden.MeasureCases(t) {
		for _, file := range []string{golden.Logs, golden.Traces, golden.Metrics} {
			golden, err := os.ReadFile(filepath.Join(root, "testdata", "measure", c.Name, file))
			if err == nil {
				cases[c.Name] += string(golden)
			}
		}
		all += cases[c.Name]
	}
	found := func(where, name string) bool {
		pattern := `(^|[^a-z0-9_.])` + regexp.QuoteMeta(strings.TrimSuffix(name, "*"))
		if !strings.HasSuffix(name, "*") {
			pattern += `([^a-z0-9_.]|$)`
		}
		return regexp.MustCompile(pattern).MatchString(where)
	}
	documented := map[string]bool{}
	var prefixes []string
	for _, row := range docRows(t, string(text), cases) {
		shown := len(row.names) == 0 || row.shownBy == ""
		for _, name := range row.names {
			documented[name] = true
			if prefix, is := strings.CutSuffix(name, "*"); is {
				prefixes = append(prefixes, prefix)
			}
			shown = shown || found(cases[row.shownBy], name)
			if unshown[name] == "" {
				assert.True(t, found(all, name), "%s is in no golden file: %s", name, row.text)
			}
		}
		assert.True(t, shown, "%s does not show any of %s", row.shownBy, row.text)
	}
	for _, name := range regexp.MustCompile(`\bmeasure\.[a-z0-9_.]*[a-z0-9_]`).FindAllString(all, -1) {
		is := documented[name] || made.MatchString(name)
		for _, prefix := range prefixes {
			is = is || strings.HasPrefix(name, prefix)
		}
		assert.True(t, is, "%s comes out and is not documented", name)
	}
}

// TestMeasureFieldsDocumented: docs/measure.md names each field of the model.
func TestMeasureFieldsDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(golden.Root(t), "docs", "measure.md"))
	require.NoError(t, err)
	fields := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if cell, _, is := strings.Cut(strings.TrimPrefix(line, "| "), " | "); is && strings.HasPrefix(line, "|") {
			for _, match := range quoted.FindAllStringSubmatch(cell, -1) {
				fields[match[1]] = true
			}
		}
	}
	for _, model := range []any{measure.Event{}, measure.Span{}} {
		modelFields(reflect.TypeOf(model), func(name string) {
			_, key, _ := strings.Cut(name, ".")
			globbed := strings.HasPrefix(key, "expo_") || strings.HasPrefix(key, "is_expo_")
			assert.True(t, fields[key] || globbed, "%s is in no first column", name)
		})
	}
}
