// SPDX-License-Identifier: Apache-2.0

package sourcemap

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// fourTokens: at column 0 source 0, at 5 a place without source, at 9 source 1 with a name; on line
// 2 source 0.
const fourTokens = `"mappings":"AAAA,K,IECIA;ADDA","sources":["a.js",null,"b.js"],"names":["total"]`

func TestRead(t *testing.T) {
	m, err := readMap([]byte(")]}'\n{\"version\":3,\"sourceRoot\":\"src/\",\"debug_id\":\"0-1\",\"debugId\":\"2\",\"ignoreList\":[2]," + fourTokens + "}"))
	require.NoError(t, err)
	assert.Equal(t, "0-1", m.DebugID)
	at := func(line, column uint32) any {
		if p, ok := m.Lookup(line, column); ok {
			return p
		}
		return nil
	}
	assert.Equal(t, Position{Source: "src/a.js"}, at(0, 4))
	assert.Nil(t, at(0, 5), "no source")
	assert.Nil(t, at(0, 8))
	assert.Equal(t, Position{Source: "src/b.js", Line: 1, Column: 4, Name: "total", Ignored: true}, at(0, 1000))
	assert.Equal(t, Position{Source: "src/", Line: 0, Column: 4}, at(1, 0), "a source without a name")
	assert.Nil(t, at(2, 0), "a mapping ends with its line")
}

// An index map shifts sections; the columns of a section's first line only.
func TestSections(t *testing.T) {
	m, err := readMap([]byte(`{"version":3,"sections":[{"offset":{"line":0,"column":100},"map":{"version":3,` + fourTokens + `}},
		{"offset":{"line":7,"column":3},"map":{"version":3,"mappings":"AAAA;AACA","sources":["c.js"],"names":[]}}]}`))
	require.NoError(t, err)
	for at, want := range map[[2]uint32]string{{0, 100}: "a.js 0", {0, 109}: "b.js 1", {7, 3}: "c.js 0", {8, 0}: "c.js 1"} {
		p, ok := m.Lookup(at[0], at[1])
		require.True(t, ok, at)
		assert.Equal(t, want, fmt.Sprint(p.Source, " ", p.Line), at)
	}
	_, ok := m.Lookup(7, 2)
	assert.False(t, ok)
}

func TestUnsortedMappings(t *testing.T) {
	m, err := readMap([]byte(`{"version":3,"mappings":"UAAA,VACA;AACA","sources":["a.js"],"names":[]}`)) // columns 10, 0
	require.NoError(t, err)
	for at, line := range map[[2]uint32]uint32{{0, 0}: 1, {0, 9}: 1, {0, 10}: 0, {1, 0}: 2} {
		p, ok := m.Lookup(at[0], at[1])
		require.True(t, ok, at)
		assert.Equal(t, line, p.Line, at)
	}
}

func TestBadMaps(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                                      "unexpected end",
		`[]`:                                     "cannot unmarshal",
		`{"version":2}`:                          "version is 2, must be 3",
		`{"mappings":7}`:                         "mappings must be text",
		`{"mappings":"A!"}`:                      "byte 0 is not base64 VLQ of 32 bits",
		`{"mappings":"gggggggggggB"}`:            "byte 0 is not base64 VLQ of 32 bits",
		`{"mappings":"AAAAAA"}`:                  "more than five fields",
		`{"mappings":"AA"}`:                      "has 2 fields, must have 1, 4 or 5",
		`{"mappings":"D"}`:                       "refers to position -1",
		`{"mappings":"AAAA"}`:                    "source 0 of 0",
		`{"mappings":"AAAAC","sources":["a"]}`:   "name 1 of 0",
		`{"sources":[[]]}`:                       "must be text",
		`{"sources":{}}`:                         "must be a list",
		`{"sections":[{"offset":{},"url":"x"}]}`: "sections[0]: has no map",
		`{"sections":[{"map":{"sections":[]}}]}`: "sections[0]: has sections itself",
		`{"sections":[],"mappings":""}`:          "has mappings and sections",
	} {
		_, err := readMap([]byte(text))
		assert.ErrorContains(t, err, want, text)
	}
}

// Blocks of tokens return what was added, for any order of sources and names.
func TestTokens(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var all []token
	var stored tokens
	work := symbols.NewWork(t.Context(), 1<<20, Limits, nil)
	at := token{}
	for range 5000 {
		if random.IntN(20) == 0 {
			at.line, at.column = at.line+1+random.Uint32N(3), 0
		}
		at.column += random.Uint32N(4)
		next := token{line: at.line, column: at.column, source: int32(random.IntN(4)) - 1, name: int32(random.IntN(5)) - 1}
		if next.source >= 0 {
			next.sourceLine, next.sourceColumn = random.Uint32N(1<<31), random.Uint32N(1<<31)
		}
		require.NoError(t, stored.append(work, next))
		all = append(all, next)
	}
	stored.finish()
	var got []token
	for i := range stored.blocks {
		r := stored.block(i)
		for more := true; more; more = r.next() {
			got = append(got, r.token)
		}
	}
	require.Equal(t, all, got)
	places := 2_000 // each is searched for in all tokens
	if testsize.Full() {
		places = 20_000
	}
	for range places {
		line, column := random.Uint32N(at.line+2), random.Uint32N(60)
		var want token
		found := false
		for _, t := range all {
			if t.line == line && t.column <= column && !(found && want.column == column) {
				want, found = t, true
			}
		}
		have, ok := stored.find(line, column)
		if found != ok || want != have {
			t.Fatalf("%d:%d: %v %+v is not %v %+v", line, column, ok, have, found, want)
		}
	}
}

// A map of some megabytes needs less memory than its text.
func TestMemory(t *testing.T) {
	pairs := 50_000
	if testsize.Full() {
		pairs = 500_000
	}
	var text strings.Builder
	text.WriteString(`{"version":3,"sources":["a.js"],"names":["x"],"sourcesContent":["` + strings.Repeat("x", 8*pairs) + `"],"mappings":"`)
	for range pairs {
		text.WriteString("IACEA,EADF,") // two mappings
	}
	text.WriteString(`"}`)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	data := []byte(text.String())
	m, err := readMap(data)
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	assert.Equal(t, 2*pairs, m.tokens.count)
	assert.Less(t, m.Bytes(), int64(16*pairs))
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8*len(data)))
}

func TestLinks(t *testing.T) {
	assert.Equal(t, Links{DebugID: "ab-cd", Map: "app.js.map?x=1"}, ReadLinks("code()\n//# debugId=ab-cd\n//# sourceMappingURL=app.js.map?x=1\n\n"))
	assert.Equal(t, Links{Map: "b.map"}, ReadLinks("//# sourceMappingURL=a.map\n//@ sourceMappingURL=b.map"))
	assert.Equal(t, Links{}, ReadLinks("let x = '//# debugId=1'\n"+strings.Repeat("\n", tailLines)))
}

// Profiles have the places of definitions: the parenthesis of the parameters.
func TestDefinitions(t *testing.T) {
	text, err := os.ReadFile("testdata/app/esbuild.js.map")
	require.NoError(t, err)
	script, err := os.ReadFile("testdata/app/esbuild.js")
	require.NoError(t, err)
	withScript, _, err := open(text, string(script))
	require.NoError(t, err)
	without, _, err := open(text, "")
	require.NoError(t, err)
	for _, c := range []struct{ before, raw, name, withoutScript string }{
		{"function l", "l", "discountOf", "discountOf"},
		{"get total", "get total", "get total", ""},
		{"onPaid=", "onPaid", "onPaid", ""},
		{"constructor", "r", "Checkout", ""},
		{"m=", "m", "parse", "parse"},
		{".map(", "", "", ""},
		{"deep:function", "deep", "deep", ""},
		{"describe=function", "i.describe", "Basket.prototype.describe", ""},
		{"log", "log", "log", ""},
		{`"to-json":`, "to-json", "to-json", ""},
	} {
		column := int64(strings.Index(string(script), c.before)+len(c.before)) + 1
		frames, status := withScript.Definition(nil, c.raw, 1, column)
		require.Equal(t, symbols.OK, status, c.before)
		assert.Equal(t, c.name, frames[0].Function, c.before)
		frames, _ = without.Definition(nil, c.raw, 1, column)
		assert.Equal(t, c.withoutScript, frames[0].Function, "%s, without the script", c.before)
		inColumn, _ := withScript.DefinitionInColumn(nil, c.raw, column)
		assert.Equal(t, c.name, inColumn[0].Function, c.before)
	}
}

// node states the column of the definition, and the line of the call.
func TestDefinitionInColumn(t *testing.T) {
	script := "function a(){}\nfunction b(){}\nfunction c(){}let d=()=>1\nfunction b(){}\n"
	f, _, err := open([]byte(`{"version":3,"sources":["s.js"],"names":["first","second"],"mappings":"AAAA,SAASA;AACT,SAASC;AACT;AACA"}`), script)
	require.NoError(t, err)
	lookup := func(raw string) (symbols.Frame, symbols.Status) {
		frames, status := f.DefinitionInColumn(nil, raw, 11)
		return append(frames, symbols.Frame{})[0], status
	}
	frame, status := lookup("a")
	assert.Equal(t, symbols.OK, status)
	assert.Equal(t, symbols.Frame{Function: "first", File: "s.js", Line: 1, Column: 10}, frame)
	frame, status = lookup("b")
	assert.Equal(t, symbols.Ambiguous, status, "two lines have a function b")
	assert.Empty(t, frame)
	_, status = lookup("x")
	assert.Equal(t, symbols.NoSymbol, status)
}

// FuzzRead reads any map and script: no panic, and every token can be found.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"esbuild", "terser"} {
		text, err := os.ReadFile("testdata/app/" + name + ".js.map")
		require.NoError(f, err)
		script, err := os.ReadFile("testdata/app/" + name + ".js")
		require.NoError(f, err)
		f.Add(text, string(script))
	}
	f.Add([]byte(`{"version":3,"sections":[{"offset":{"line":0,"column":100},"map":{`+fourTokens+`}}]}`), "class A{b=()=>`${{c(){}}}`;static{}}")
	f.Add([]byte(`{"mappings":"AAAA","sources":["a"]}`), "x=()=>`${{c(){}}}`;=>y") // the last one starts where the first does
	f.Add([]byte(`{"mappings":"UAAA,VACA","sources":["a"],"ignoreList":[0]}`), "x=>({a:b?c=>1:d=>/[/]/})")
	f.Fuzz(func(t *testing.T, text []byte, script string) {
		file, work, err := open(text, script)
		if err != nil {
			return
		}
		require.LessOrEqual(t, file.Bytes(), 2*work.Peak()+4096) // lists grow
		for i, s := range file.scopes {
			require.LessOrEqual(t, s.start.compare(s.end), 0, "function %d", i)
			for _, at := range []place{s.start, s.end, s.params} {
				require.Equal(t, innermost(file, at), file.scopeAt(at))
			}
		}
		m := file.m
		for i := range m.tokens.blocks {
			r := m.tokens.block(i)
			for more := true; more; more = r.next() {
				want := r.token
				got, ok := m.tokens.find(want.line, want.column)
				require.True(t, ok)
				require.Equal(t, [2]uint32{want.line, want.column}, [2]uint32{got.line, got.column})
				_, _ = file.Call(nil, "a", int64(want.line)+1, int64(want.column)+1)
				_, _ = file.DefinitionInColumn(nil, "a", int64(want.column)+1)
			}
		}
		_ = ReadLinks(script)
	})
}

// innermost is scopeAt without jumps.
func innermost(f *File, at place) int32 {
	i := int32(len(f.scopes)) - 1
	for i >= 0 && f.scopes[i].start.compare(at) > 0 {
		i--
	}
	for i >= 0 && f.scopes[i].end.compare(at) <= 0 {
		i = f.scopes[i].parent
	}
	return i
}
