// SPDX-License-Identifier: Apache-2.0

package sourcemap

import (
	"bytes"
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

// TestDart2JS: dart2js names each mapping after the function that it is in
// (getsentry/symbolic#791). Elsewhere, the name of a mapping is that of an identifier. The program
// is a part of a real one.
func TestDart2JS(t *testing.T) {
	script, err := os.ReadFile("testdata/dart2js/validator.dart.js")
	require.NoError(t, err)
	text, err := os.ReadFile("testdata/dart2js/validator.dart.js.map")
	require.NoError(t, err)
	dart, _, err := open(text, string(script))
	require.NoError(t, err)
	other, _, err := open(bytes.Replace(text, []byte("x_org_dartlang_dart2js"), []byte("x_other"), 1), string(script))
	require.NoError(t, err)
	for _, want := range []struct {
		line, column     int64
		function, script string
		file             string
		fileLine         int64
	}{
		{4, 58, "main", "main", "gltf_validator.dart", 83},
		{10, 16, "validateBytes", "validateBytes", "gltf_validator.dart", 105},
		{14, 14, "_getResourcesLoader", "_getResourcesLoader", "../packages/gltf/src/data_access/resources_loader.dart", 72}, // inlined
		{20, 31, "ValidationResult._getGltfInfoMap.<anonymous function>", "call$1", "../packages/gltf/src/validation_result.dart", 101},
		{26, 16, "ValidationResult._getGltfInfoMap.<anonymous function>.<anonymous function>", "call$1", "../packages/gltf/src/validation_result.dart", 101},
		{43, 9, "main.<anonymous function>.<anonymous function>", "call$2", "gltf_validator.dart", 85},
		{51, 20, "main.<anonymous function>.<anonymous function>.<anonymous function>", "call$1", "gltf_validator.dart", 86},
	} {
		frames, _ := dart.Call(nil, "", want.line, want.column)
		require.Len(t, frames, 1, want)
		assert.Equal(t, want.function, frames[0].Function, want)
		assert.Equal(t, want.file, frames[0].File, want)
		assert.Equal(t, want.fileLine, frames[0].Line, want)
		frames, _ = other.Call(nil, "", want.line, want.column)
		require.Len(t, frames, 1, want)
		assert.Equal(t, want.script, frames[0].Function, want)
	}
}
