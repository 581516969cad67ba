// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

const breakpadFile = `MODULE Linux x86_64 4FBF22D9B8D24BA2A7F8C1E2D3A4B5C60 shop
FILE 0 shop.cc
INLINE_ORIGIN 0 discount
FUNC 1000 30 0 shop::pay
INLINE 0 26 0 0 1010 8
1000 10 25 0
1010 8 12 0
1018 18 27 0
FUNC 2000 20 0 main
2000 20 31 0
`

// families are chunks with frames of each kind of symbol file, and the functions in the page's
// table with the names from it and without.
var families = map[string]struct {
	chunk            harness.Chunk
	named, raw       []string
	provenance, file string
}{
	"javascript": {
		chunk: harness.Chunk{Platform: "javascript", Frames: `{"function":"l","abs_path":"https://shop.example/assets/app.js","lineno":1,"colno":39}`},
		named: []string{"discountOf"}, raw: []string{"l"}, file: "basket.ts", provenance: "https://shop.example/assets/app.js",
	},
	"jvm": {
		chunk: harness.Chunk{Platform: "android", Frames: `{"function":"a","module":"a.b","lineno":6}`,
			More: `"debug_meta":{"images":[{"type":"proguard","uuid":"5f3c1ab0-8d4a-4e65-9b0c-73656e747279"}]},`},
		named: []string{"com.example.shop.Item.tax", "com.example.shop.Item.price", "Cart.total"}, raw: []string{"b.a"}, file: "Items.kt", provenance: "a.b",
	},
	"native": {
		chunk: harness.Chunk{Platform: "native", Frames: `{"instruction_addr":"0x11014"},{"instruction_addr":"0x12010"}`, Stacks: "[0,1]",
			More: `"debug_meta":{"images":[{"type":"elf","code_file":"/app/shop","debug_id":"4fbf22d9-b8d2-4ba2-a7f8-c1e2d3a4b5c6","image_addr":"0x10000","image_size":65536}]},`},
		named: []string{"discount", "shop::pay", "main"}, raw: []string{"shop+0x1014", "shop+0x2010"}, file: "shop.cc", provenance: "ok",
	},
}

// TestBrowserViewerSymbolicated: profiles and errors have the names from symbol files, and those
// that the SDK reported.
func TestBrowserViewerSymbolicated(t *testing.T) {
	testsize.NeedFull(t)
	b := findBrowser(t)
	t.Parallel()
	directory, address := t.TempDir(), harness.FreeAddress(t)
	write := func(name, content string) {
		path := filepath.Join(directory, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	const symbols = "../../../../symbolicateprocessor/internal/symbols/"
	for name, from := range map[string]string{
		"assets/app.js": "sourcemap/testdata/app/esbuild.js", "assets/app.js.map": "sourcemap/testdata/app/esbuild.js.map",
		"5f3c1ab0-8d4a-4e65-9b0c-73656e747279.txt": "proguard/testdata/shop.txt",
	} {
		content, err := os.ReadFile(symbols + from)
		require.NoError(t, err)
		write(name, string(content))
	}
	write("shop.sym", breakpadFile)
	c := harness.Start(t, harness.Settings{Config: fmt.Sprintf(`
receivers: {sentry: {endpoint: "ENDPOINT"}}
processors: {symbolicate: {store: {directory: "%s"}}}
exporters: {profile_viewer: {endpoint: "%s"}}
service:
  pipelines:
    profiles: {receivers: [sentry], processors: [symbolicate], exporters: [profile_viewer]}
    logs: {receivers: [sentry], processors: [symbolicate], exporters: [profile_viewer]}
`, directory, address)})
	page := "http://" + address + "/"
	profiles := url.Values{}
	for name, family := range families {
		profiles.Set(name, symbolicatedProfile(t, c, page, family.chunk))
	}
	envelopes(t, c)("{}\n{\"type\":\"event\"}\n" + fmt.Sprintf(`{"timestamp":%d,"platform":"javascript","exception":{"values":[{"type":"RangeError","value":"negative price",`+
		`"stacktrace":{"frames":[{"function":"r.add","abs_path":"https://shop.example/assets/app.js","filename":"assets/app.js","lineno":1,"colno":343}]}}]}}`, time.Now().Unix()) + "\n")

	traffic := b.run(t, "viewer-symbolicated.mjs", page+"?"+profiles.Encode())
	assert.Empty(t, traffic.Errors)
	assert.Empty(t, traffic.Requests, "nothing goes to other origins")
	var result struct {
		Findings, Frames []string
		Families         map[string]struct {
			Named, Raw []string
			Details    string
		}
	}
	require.NoError(t, json.Unmarshal(traffic.Result, &result))
	assert.Empty(t, result.Findings)
	for name, want := range families {
		got := result.Families[name]
		assert.ElementsMatch(t, want.named, got.Named, name)
		assert.ElementsMatch(t, want.raw, got.Raw, name)
		for _, text := range []string{"symbolication.status", want.file, want.provenance} {
			assert.Contains(t, got.Details, text, name)
		}
	}
	require.Len(t, result.Frames, 1)
	assert.Regexp(t, `Checkout\.add[\s\S]*shop\.ts:18:20[\s\S]*reported as r\.add .*app\.js:1:343`, result.Frames[0])
}

// symbolicatedProfile sends a chunk until the viewer has a profile with names from a symbol file,
// and returns the ID of the profile there.
func symbolicatedProfile(t *testing.T, c *harness.Collector, page string, chunk harness.Chunk) (id string) {
	get := func(path string, into any) {
		response, err := http.Get(page + "api/" + path)
		require.NoError(t, err)
		defer response.Body.Close()
		require.NoError(t, json.NewDecoder(response.Body).Decode(into))
	}
	chunk.Samples = harness.TwoSamples
	require.Eventually(t, func() bool {
		chunk.ID = harness.NewID()
		got := c.Send(t, chunk.Request())
		require.Equal(t, http.StatusOK, got.Status, got.Body)
		var list struct {
			Profiles []struct {
				ID        string
				ProfileID string `json:"profile_id"`
			}
		}
		get("profiles", &list)
		for _, p := range list.Profiles {
			if p.ProfileID == chunk.ID {
				var graph struct{ Symbolicated bool }
				get("flame?profile="+p.ID, &graph)
				id = p.ID
				return graph.Symbolicated
			}
		}
		return false
	}, time.Minute, 100*time.Millisecond)
	return id
}
