// SPDX-License-Identifier: Apache-2.0

package symbolicate

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/proguard"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/sourcemap"
)

const (
	url     = "https://shop.example/assets/esbuild.js"
	debugID = "3f2b7c1e-8d4a-4e65-9b0c-73656e747279"
	app     = "../symbols/sourcemap/testdata/app/"
	release = "shop@1.0"
)

// shop has the minified application of the source map tests, by its debug ID.
type shop struct {
	t     testing.TB
	asked *[]ScriptID
}

func (s shop) Script(id ScriptID) (*sourcemap.File, symbols.Status) {
	*s.asked = append(*s.asked, id)
	switch {
	case id.DebugID == "soon":
		return nil, symbols.Pending
	case id.DebugID != debugID:
		return nil, symbols.MissingFile
	}
	text, err := os.ReadFile(app + "esbuild.js.map")
	require.NoError(s.t, err)
	work := symbols.NewWork(s.t.Context(), 1<<20, sourcemap.Limits, nil)
	m, err := sourcemap.Read(work, text)
	require.NoError(s.t, err)
	file, err := sourcemap.NewFile(work, m, minified(s.t))
	require.NoError(s.t, err)
	return file, symbols.OK
}

// Mapping returns the mapping of the ProGuard tests.
func (s shop) Mapping(id string) (*proguard.Mapping, symbols.Status) {
	*s.asked = append(*s.asked, ScriptID{DebugID: id})
	if id != buildID {
		return nil, symbols.MissingFile
	}
	file, err := os.Open("../symbols/proguard/testdata/shop.txt")
	require.NoError(s.t, err)
	defer file.Close()
	m, err := proguard.Read(symbols.NewWork(s.t.Context(), 1<<20, proguard.Limits, nil), file)
	require.NoError(s.t, err)
	return m, symbols.OK
}

func minified(t testing.TB) string {
	text, err := os.ReadFile(app + "esbuild.js")
	require.NoError(t, err)
	return string(text)
}

// frame is a frame of V8 before symbolication.
type frame struct {
	function, file string
	line, column   int64
}

// at returns the frame of the function whose parameters follow a text of the script.
func at(t *testing.T, function, before string) frame {
	i := strings.Index(minified(t), before)
	require.GreaterOrEqual(t, i, 0)
	return frame{function, url, 1, int64(i+len(before)) + 1}
}

// profileOf returns a message with one stack per frame.
func profileOf(language string, images map[string]string, frames ...frame) pprofile.Profiles {
	p := pprofile.NewProfiles()
	b := dictionary.NewBuilder(p.Dictionary())
	defer b.Release()
	resource := p.ResourceProfiles().AppendEmpty()
	resource.Resource().Attributes().PutStr("telemetry.sdk.language", language)
	resource.Resource().Attributes().PutStr("sentry.release", release)
	profile := resource.ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))
	profile.SetTime(1000)
	profile.SetDurationNano(1000)
	payload.Set(profile, "sentry", []byte("{}"))
	list := pcommon.NewValueSlice()
	for file, id := range images {
		image := list.Slice().AppendEmpty().SetEmptyMap()
		image.PutStr("type", "sourcemap")
		image.PutStr("code_file", file)
		image.PutStr("debug_id", id)
	}
	dictionary.SetAttributes(profile.AttributeIndices(), b.Attribute("sentry.debug_meta.images", dictionary.AnyValue(list), ""))
	for i, f := range frames {
		sample := profile.Samples().AppendEmpty()
		sample.TimestampsUnixNano().Append(uint64(1000 + i))
		sample.SetStackIndex(int32(b.Stack([]dictionary.LocationIndex{b.Location(dictionary.Location{
			Lines:      []dictionary.Line{{Function: b.Function(dictionary.Function{Name: b.String(f.function), Filename: b.String(f.file)}), Line: f.line, Column: f.column}},
			Attributes: []dictionary.AttributeIndex{b.Attribute("profile.frame.type", dictionary.StringValue("v8js"), "")},
		})})))
	}
	b.Finish()
	return p
}

func symbolicated(t *testing.T, p pprofile.Profiles) (Counts, []ScriptID) {
	var asked []ScriptID
	counts := Profiles(p, shop{t, &asked})()
	require.Empty(t, broken(p))
	return counts, asked
}

// broken returns the violations of a message, except addresses outside of their mapping, which the
// processor keeps.
func broken(p pprofile.Profiles) []conformance.Violation {
	return slices.DeleteFunc(dictionarytest.Violations(p), func(v conformance.Violation) bool { return v.Rule == conformance.RuleAddress })
}

func TestBrowserProfile(t *testing.T) {
	p := profileOf("webjs", map[string]string{url: debugID},
		at(t, "l", "function l"), at(t, "onPaid", "onPaid="), at(t, "add", "}add"), at(t, "", ".map("),
		frame{"now", "", 0, 0}, frame{"x", "https://other.example/x.js", 1, 1}, frame{"y", url, 9, 1})
	counts, asked := symbolicated(t, p)
	assert.Equal(t, Counts{symbols.OK: 4, symbols.MissingFile: 1, symbols.NoSymbol: 1}, counts)
	assert.Equal(t, []ScriptID{{debugID, url, release}, {"", "https://other.example/x.js", release}}, asked, "each file is looked up once")
	text := dictionarytest.Dump(p)
	for _, want := range []string{
		`discountOf basket.ts:8:17 system=l`, `sentry.frame.raw_function="l"`, `sentry.frame.raw_file="https://shop.example/assets/esbuild.js"`,
		`onPaid shop.ts:7:13`, `add shop.ts:17:3`, `? shop.ts:42:57`, `symbolication.status="ok"`, `symbolication.status="no_symbol"`, `now {`,
		`x "https://other.example/x.js":1:1`,
	} {
		assert.Contains(t, text, want)
	}
	profile := p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0)
	assert.Empty(t, profile.OriginalPayloadFormat())

	again, _ := symbolicated(t, p)
	assert.Equal(t, Counts{symbols.MissingFile: 1}, again, "symbolicated frames are left alone")
	assert.Equal(t, text, dictionarytest.Dump(p))
}

// node states the line of the call, in the file of the caller: only the column counts.
func TestNodeProfile(t *testing.T) {
	f := at(t, "p", "function p")
	f.line = 4711
	p := profileOf("nodejs", map[string]string{url: debugID}, f, frame{"readFileSync", "node:fs", 400, 22})
	counts, _ := symbolicated(t, p)
	assert.Equal(t, Counts{symbols.OK: 1}, counts)
	assert.Contains(t, dictionarytest.Dump(p), `fail shop.ts:43:10 system=p`)
	assert.Contains(t, dictionarytest.Dump(p), `sentry.frame.raw_line=4711`)
}

// A message without a file that is ready stays as it is, with its original payload.
func TestUnchanged(t *testing.T) {
	for id, status := range map[string]symbols.Status{"soon": symbols.Pending, "other": symbols.MissingFile} {
		p := profileOf("webjs", map[string]string{url: id}, at(t, "l", "function l"))
		before := pprofile.NewProfiles()
		p.CopyTo(before)
		counts, _ := symbolicated(t, p)
		assert.Equal(t, Counts{status: 1}, counts)
		assert.Equal(t, before, p)
	}
}

// A location of profiles that mean positions differently is not guessed.
func TestMixedSources(t *testing.T) {
	p := profileOf("webjs", map[string]string{url: debugID}, at(t, "l", "function l"))
	other := p.ResourceProfiles().AppendEmpty()
	p.ResourceProfiles().At(0).CopyTo(other)
	other.Resource().Attributes().PutStr("telemetry.sdk.language", "nodejs")
	counts, _ := symbolicated(t, p)
	assert.Equal(t, Counts{symbols.Ambiguous: 1}, counts)
}

// Hostile messages refer to tables that do not have the entries.
func TestBrokenReferences(t *testing.T) {
	p := profileOf("webjs", map[string]string{url: debugID}, at(t, "l", "function l"))
	d := p.Dictionary()
	for i := range d.LocationTable().Len() {
		d.LocationTable().At(i).AttributeIndices().Append(-1, 1<<30)
	}
	for i := range d.StackTable().Len() {
		d.StackTable().At(i).LocationIndices().Append(-1, 1<<30)
	}
	samples := p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples()
	samples.AppendEmpty().SetStackIndex(1 << 30)
	samples.AppendEmpty().SetStackIndex(-1)
	var asked []ScriptID
	assert.Equal(t, Counts{symbols.OK: 1}, Profiles(p, shop{t, &asked})())
}
