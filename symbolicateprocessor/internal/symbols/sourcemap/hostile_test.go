// SPDX-License-Identifier: Apache-2.0

package sourcemap

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// shapes are maps and scripts in which one part is huge or very frequent.
var shapes = map[string]func(n int) (text, script string){
	"sources of zeros":         func(n int) (string, string) { return `{"sources":[0` + strings.Repeat(",0", n) + `]}`, "" },
	"lists of lists":           func(n int) (string, string) { return `{"sources":[[0` + strings.Repeat(",0", n) + `]]}`, "" },
	"names of nothing":         func(n int) (string, string) { return `{"names":[""` + strings.Repeat(`,""`, n) + `]}`, "" },
	"names with escapes":       func(n int) (string, string) { return `{"names":["\u0041"` + strings.Repeat(`,"\u0041"`, n) + `]}`, "" },
	"a long name with escapes": func(n int) (string, string) { return `{"names":["` + strings.Repeat(`\ud800`, n) + `"]}`, "" },
	"invalid UTF-8":            func(n int) (string, string) { return `{"names":["` + strings.Repeat("\xff", n) + `"]}`, "" },
	"a long root": func(n int) (string, string) {
		return `{"sourceRoot":"` + strings.Repeat("r", maxRoot-2) + `","sources":[0` + strings.Repeat(",0", n) + `]}`, ""
	},
	"a longer root": func(n int) (string, string) {
		return `{"sourceRoot":"` + strings.Repeat("r", n) + `","sources":[0]}`, ""
	},
	"a long version":  func(n int) (string, string) { return `{"version":3` + strings.Repeat("0", n) + `}`, "" },
	"a long debug ID": func(n int) (string, string) { return `{"debugId":"` + strings.Repeat("0", n) + `"}`, "" },
	"ignored sources": func(n int) (string, string) {
		return `{"sources":[0` + strings.Repeat(",0", n/4) + `],"ignoreList":[0` + strings.Repeat(",0", n) + `]}`, ""
	},
	"unsorted mappings on one line": func(n int) (string, string) {
		return `{"sources":["a"],"mappings":"` + strings.Repeat("CAAA,", n) + `DAAA"}`, ""
	},
	"unsorted lines": func(n int) (string, string) { return `{"mappings":"` + strings.Repeat("C,D;", n) + `"}`, "" },
	"far apart":      func(n int) (string, string) { return `{"mappings":"` + strings.Repeat("+//////B;", n) + `"}`, "" },
	"one column":     func(n int) (string, string) { return `{"mappings":"` + strings.Repeat("A,", n) + `"}`, "" },
	"lines":          func(n int) (string, string) { return `{"mappings":"` + strings.Repeat(";", n) + `A"}`, "" },
	"changes of source": func(n int) (string, string) {
		return `{"sources":["",""],"names":["",""],"mappings":"` + strings.Repeat("ACAAC,ADAAD,", n/2) + `"}`, ""
	},
	"sections": func(n int) (string, string) {
		return `{"sections":[` + strings.TrimSuffix(strings.Repeat(`{"map":{"mappings":"A"}},`, min(n, maxSections)), ",") + `]}`, ""
	},
	"nested sections": func(n int) (string, string) {
		depth := min(n, 3000) // encoding/json permits 10,000 levels
		return strings.Repeat(`{"sections":[{"map":`, depth) + `{}` + strings.Repeat(`}]}`, depth), ""
	},
	"arrow functions": func(n int) (string, string) { return `{"mappings":"A"}`, strings.Repeat("x=>", n) + "1" },
	"empty functions": func(n int) (string, string) { return `{"mappings":"A"}`, strings.Repeat("()=>1;", n) },
	"a class of a long name": func(n int) (string, string) {
		return `{"mappings":"A"}`, "class " + strings.Repeat("C", maxName) + "{" + strings.Repeat("a(){}", n) + "}"
	},
	"one long key": func(n int) (string, string) {
		return `{"mappings":"A"}`, `class C{["k"];"` + strings.Repeat("k", n) + `"` + strings.Repeat("=()=>1", n/4) + "}"
	},
	"one long name": func(n int) (string, string) {
		return `{"mappings":"A"}`, strings.Repeat("n", n) + strings.Repeat("=()=>{}", n/4)
	},
	"brackets":       func(n int) (string, string) { return `{"mappings":"A"}`, strings.Repeat("(", n) },
	"nested classes": func(n int) (string, string) { return `{"mappings":"A"}`, strings.Repeat("class A{a(){", n) },
	"templates":      func(n int) (string, string) { return `{"mappings":"A"}`, strings.Repeat("`${", n) },
	"comments": func(n int) (string, string) {
		return `{"mappings":"A"}`, strings.Repeat("/**/", n) + strings.Repeat("/*", n)
	},
	"calls that look like methods": func(n int) (string, string) {
		return `{"mappings":"A"}`, "x={" + strings.Repeat("a(),", n) + "}"
	},
}

// TestHostile: no part of a map or of a script needs more work or memory than its size justifies,
// and twice as much of it needs twice as much.
func TestHostile(t *testing.T) {
	n := 20_000
	if testsize.Full() {
		n = 200_000
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			var perByte [2]float64
			for i := range perByte {
				text, script := shape(n << i)
				size := len(text) + len(script)
				data := []byte(text)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				f, work, err := open(data, script)
				runtime.ReadMemStats(&after)
				// Claims, lists that grow, and garbage: 32 bytes for each word of a script, and
				// names of methods.
				assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(6*work.Peak())+uint64(64*size)+1<<20, "%d bytes", size)
				assert.LessOrEqual(t, work.Peak(), Limits.Memory*int64(size)+symbols.MinMemory)
				if err != nil {
					assert.NotErrorIs(t, err, symbols.ErrSteps)
					continue
				}
				perByte[i] = float64(work.Steps()) / float64(size)
				assert.LessOrEqual(t, f.Bytes(), 2*work.Peak()+4096)
				extremes(f)
			}
			if perByte[1] > 0 && perByte[0] > 0 {
				assert.LessOrEqual(t, perByte[1], 1.2*perByte[0], "steps per byte")
			}
		})
	}
}

// extremes looks up extreme places.
func extremes(f *File) {
	for _, line := range []int64{math.MinInt64, -1, 0, 1, 2, maxFile, math.MaxInt32, math.MaxUint32, math.MaxInt64} {
		for _, column := range []int64{math.MinInt64, -1, 0, 1, 2, 1000, maxFile, math.MaxInt32, math.MaxUint32, math.MaxInt64} {
			for _, raw := range []string{"", "a", ".", strings.Repeat("n", 2*maxName)} {
				_, _ = f.Call(nil, raw, line, column)
				_, _ = f.Definition(nil, raw, line, column)
				_, _ = f.DefinitionInColumn(nil, raw, column)
			}
		}
	}
}

// TestLookupsAreLogarithmic counts the functions that a lookup visits, and checks that a lookup in
// a line with many mappings decodes only those near the place.
func TestLookupsAreLogarithmic(t *testing.T) {
	const n = 1 << 14
	// All functions around the place have ended, except for the outermost.
	f, _, err := open([]byte(`{"mappings":"A"}`), "function f(){("+strings.Repeat("x=>", n)+"1);}")
	require.NoError(t, err)
	require.Len(t, f.scopes, n+1)
	end := f.scopes[0].end
	end.column--
	scope, visited := f.around(n, end)
	assert.EqualValues(t, 0, scope)
	assert.LessOrEqual(t, visited, bits.Len(n)*bits.Len(n))

	m, err := readMap([]byte(`{"sources":["a"],"mappings":"` + strings.Repeat("CAAC,", n) + `"}`))
	require.NoError(t, err)
	f, err = NewFile(symbols.NewWork(t.Context(), 1<<20, Limits, nil), m, "")
	require.NoError(t, err)
	for _, column := range []int64{1, 2, n / 2, n} {
		want, status := f.DefinitionInColumn(nil, "", column)
		near := int(m.tokens.blocks[min(int(column)/blockSize, len(m.tokens.blocks)-1)].chunk)
		chunks := m.tokens.chunks
		m.tokens.chunks = make([][]byte, len(chunks)) // reading any other block panics
		for i := max(near-1, 0); i <= near; i++ {
			m.tokens.chunks[i] = chunks[i]
		}
		got, again := f.DefinitionInColumn(nil, "", column)
		m.tokens.chunks = chunks
		assert.Equal(t, want, got)
		assert.Equal(t, status, again)
	}
}

// TestManyInColumn: functions in one column are found by their names.
func TestManyInColumn(t *testing.T) {
	const n = 3000
	var script, mappings strings.Builder
	for i := range n {
		fmt.Fprintf(&script, "f%04d=()=>{}\n", i)
		mappings.WriteString("AAAA;")
	}
	script.WriteString("f0000=()=>{}\n")
	f, _, err := open([]byte(`{"sources":["a"],"mappings":"`+mappings.String()+`AAAA"}`), script.String())
	require.NoError(t, err)
	column := int64(len("f0000=") + 1)
	for raw, want := range map[string]symbols.Status{"f0001": symbols.OK, "x.f2999": symbols.OK, "f0000": symbols.Ambiguous, "": symbols.Ambiguous, "f": symbols.NoSymbol} {
		frames, status := f.DefinitionInColumn(nil, raw, column)
		assert.Equal(t, want, status, raw)
		if raw == "f0000" {
			assert.Equal(t, []symbols.Frame{{Function: "f0000"}}, frames, "both have this name")
		}
		if raw == "" {
			assert.Empty(t, frames)
		}
	}
}

// TestEveryNumber generates maps with extreme numbers in all fields: unsorted, repeated, negative,
// beyond the tables and beyond 32 bits.
func TestEveryNumber(t *testing.T) {
	rounds := 2_000
	if testsize.Full() {
		rounds = 100_000
	}
	random := rand.New(rand.NewPCG(38, 1))
	read := 0
	for range rounds {
		text, err := json.Marshal(randomMap(random, 0))
		require.NoError(t, err)
		f, work, err := open(text, "a=>b=>({c(){}})\nclass D{e(){}}")
		assert.LessOrEqual(t, work.Peak(), Limits.Memory*int64(len(text))+symbols.MinMemory)
		if err != nil {
			assert.NotErrorIs(t, err, symbols.ErrSteps, "%s", text)
			continue
		}
		read++
		extremes(f)
	}
	assert.Greater(t, read, rounds/20, "maps that can be read")
}

func randomMap(random *rand.Rand, depth int) map[string]any {
	one := func(choices ...any) any { return choices[random.IntN(len(choices))] }
	number := func() any { return one(0, 1, 2, 3, -1, 1<<31-1, 1<<31, 1<<32-1, 1<<32, 1<<62, 0.5, "1", nil) }
	m := map[string]any{"version": one(3, 3, 3, "3", 4), "sources": one([]any{"a"}, []any{"a", nil, 1}, nil), "names": one([]any{"n"}, []any{}, nil)}
	if random.IntN(3) == 0 {
		m["ignoreList"] = []any{number(), 0}
	}
	if depth < 2 && random.IntN(3) == 0 {
		var sections []any
		for range random.IntN(4) {
			offset := map[string]any{"line": random.IntN(3), "column": random.IntN(3)}
			if random.IntN(3) == 0 {
				offset[one("line", "column").(string)] = number()
			}
			sections = append(sections, map[string]any{"offset": offset, "map": randomMap(random, depth+1)})
		}
		m["sections"] = sections
		return m
	}
	var mappings strings.Builder
	for range random.IntN(12) {
		for field := range []int{1, 1, 4, 4, 4, 5, 5, 2, 6}[random.IntN(7+random.IntN(20)/18*2)] {
			value := int64(0)
			if field == 0 || random.IntN(4) == 0 {
				value = []int64{0, 0, 1, 1, 2, 5, 30, -1, -3, 1<<31 - 1, -1 << 31, 1 << 31, 1 << 40}[random.IntN(5+random.IntN(10)/9*8)]
			}
			mappings.WriteString(vlq(value))
		}
		mappings.WriteByte(",,,;"[random.IntN(4)])
	}
	m["mappings"] = mappings.String()
	if random.IntN(3) == 0 {
		m["x_facebook_sources"] = []any{nil, []any{map[string]any{"names": m["names"], "mappings": mappings.String()}}, random.IntN(3)}
	}
	if random.IntN(5) == 0 {
		m["x_org_dartlang_dart2js"] = map[string]any{}
	}
	return m
}

// vlq encodes a number.
func vlq(value int64) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	u := uint64(value) << 1
	if value < 0 {
		u = uint64(-value)<<1 | 1
	}
	var b []byte
	for {
		digit := u & 31
		if u >>= 5; u > 0 {
			digit |= 32
		}
		if b = append(b, digits[digit]); u == 0 {
			return string(b)
		}
	}
}
