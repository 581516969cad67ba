// SPDX-License-Identifier: Apache-2.0

package sourcemap

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// TestMetro compares all mappings of a bundle that Metro 0.84 has built with the answers of Metro's
// library (testdata/oracle/metro.js). The map is enough; the bundle need not be known.
func TestMetro(t *testing.T) {
	text, err := os.ReadFile("testdata/metro/metro.js.map")
	require.NoError(t, err)
	recorded, err := os.ReadFile("testdata/metro/metro.json")
	require.NoError(t, err)
	var places [][3]any
	require.NoError(t, json.Unmarshal(recorded, &places))
	require.Greater(t, len(places), 500)
	file, _, err := open(text, "")
	require.NoError(t, err)
	for _, p := range places {
		want, _ := p[2].(string)
		if want == metroGlobal || want == metroAnonymous {
			want = ""
		}
		frames, status := file.Call(nil, "", int64(p[0].(float64))+1, int64(p[1].(float64))+1)
		require.Equal(t, symbols.OK, status)
		require.Equal(t, want, frames[0].Function, "%v", p)
	}
}

// TestDamagedMetadata: a source whose functions cannot be read has none; the map stays usable.
func TestDamagedMetadata(t *testing.T) {
	for name, list := range map[string]string{
		"null":           `null`,
		"no list":        `[{"names":["f"],"mappings":"AAA"}]`,
		"no functions":   `[[]]`,
		"other metadata": `[[null,{"names":["f"],"mappings":"AAA"}]]`,
		"no name":        `[[{"names":[],"mappings":"AAA"}]]`,
		"no VLQ":         `[[{"names":["f"],"mappings":"A?A"}]]`,
		"not in order":   `[[{"names":["f"],"mappings":"EAA,DAA"}]]`,
		"more sources":   `[null,[{"names":["f"],"mappings":"AAA"}]]`,
	} {
		file, _, err := open(fmt.Appendf(nil, `{"version":3,"sources":["a"],"names":[],"mappings":"AAAA","x_facebook_sources":%s}`, list), "function g(){}")
		require.NoError(t, err, name)
		frames, status := file.Call(nil, "", 1, 12)
		assert.Equal(t, symbols.OK, status, name)
		assert.Equal(t, "g", frames[0].Function, name)
	}
	_, _, err := open([]byte(`{"version":3,"sources":["a"],"names":[],"mappings":"AAAA","x_facebook_sources":[[{"names":7,"mappings":"AAA"}]]}`), "")
	assert.Error(t, err)
}

// TestDart2JS: dart2js names the mappings of a body after its function (getsentry/symbolic#791).
// Elsewhere, the name of a mapping is that of an identifier.
func TestDart2JS(t *testing.T) {
	const script = "A={\naRf(a,b){return A.cig(a,b)},\n$1(a){throw A.b(a)}}"
	segment := func(fields ...int64) (text string) {
		for _, f := range fields {
			text += vlq(f)
		}
		return text
	}
	mappings := ";" + segment(9, 0, 20, 4, 0) + "," + segment(7, 0, 1, 4, 0) + ";" + segment(6, 0, 3, 0, 1) + "," + segment(6, 0, 0, 6, 0)
	const text = `{"version":3,"sources":["lib/main.dart"],"names":["MainApp.build","MainApp.build.<anonymous function>"],"mappings":"%s"%s}`
	for extension, want := range map[string][3]string{
		"": {"aRf", "aRf", "$1"},
		`,"x_org_dartlang_dart2js":{"minified_names":{"global":"","instance":""},"frames":""}`: {"MainApp.build", "MainApp.build", "MainApp.build.<anonymous function>"},
	} {
		file, _, err := open(fmt.Appendf(nil, text, mappings, extension), script)
		require.NoError(t, err)
		for i, at := range [][2]int64{{2, 10}, {2, 20}, {3, 7}} {
			frames, _ := file.Call(nil, "", at[0], at[1])
			require.Len(t, frames, 1)
			assert.Equal(t, want[i], frames[0].Function, "%q: %v", extension, at)
		}
	}
}
