// SPDX-License-Identifier: Apache-2.0

package sourcemap

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// The reference is Sentry's own library, the package symbolic of PyPI. testdata/app/*.json has its
// recorded results.
//
//	go test -run TestOracle                                   compares with the recorded results, for each column of two minified files
//	make symbolic                                             installs the library, and compares random places of real bundles from npm
//	SYMBOLIC_PYTHON=python3 go test -run TestOracle -record   records
var (
	record = flag.Bool("record", false, "record the results of the reference")
	places = flag.Int("places", 20_000, "random places per file")
	seed   = flag.Uint64("seed", 1, "seed of the random places")
)

type request struct {
	Script string      `json:"script"`
	Map    string      `json:"map"`
	Places [][2]uint32 `json:"places"`
}

// result is what the reference says about a place.
type result struct {
	Source                 *string
	Line, Column           uint32
	Name, Function         *string
	TokenLine, TokenColumn uint32
}

func (r *result) UnmarshalJSON(raw []byte) error {
	return json.Unmarshal(raw, &[]any{&r.Source, &r.Line, &r.Column, &r.Name, &r.Function, &r.TokenLine, &r.TokenColumn})
}

// TestOracle compares each column of the recorded applications.
func TestOracle(t *testing.T) {
	for _, name := range []string{"esbuild", "terser", "uglify2"} {
		t.Run(name, func(t *testing.T) {
			script := filepath.Join("testdata/app", name+".js")
			text, err := os.ReadFile(script)
			require.NoError(t, err)
			line, _, _ := strings.Cut(string(text), "\n")
			r := request{Script: script, Map: script + ".map"}
			for i := range line {
				r.Places = append(r.Places, [2]uint32{0, uint32(i)})
			}
			recording := filepath.Join("testdata/app", name+".json")
			if *record {
				require.NoError(t, os.WriteFile(recording, ask(t, r), 0o644))
			}
			answers, err := os.ReadFile(recording)
			require.NoError(t, err)
			compare(t, r, answers)
		})
	}
}

// TestRealBundles compares random places of the bundles that testdata/oracle/build makes.
func TestRealBundles(t *testing.T) {
	directory := os.Getenv("SYMBOLIC_BUNDLES")
	if directory == "" {
		t.Skip("run make symbolic: it needs Python's package symbolic, and bundles from npm")
	}
	maps, err := filepath.Glob(filepath.Join(directory, "*.js.map"))
	require.NoError(t, err)
	require.NotEmpty(t, maps)
	for _, path := range maps {
		t.Run(filepath.Base(path), func(t *testing.T) {
			script := strings.TrimSuffix(path, ".map")
			text, err := os.ReadFile(script)
			require.NoError(t, err)
			lines, starts := strings.Split(string(text), "\n"), []int{0}
			for _, line := range lines {
				starts = append(starts, starts[len(starts)-1]+len(line)+1)
			}
			random := rand.New(rand.NewPCG(*seed, 22))
			r := request{Script: script, Map: path}
			for range *places {
				offset := random.IntN(len(text)) // long lines have most of the places
				line := sort.SearchInts(starts, offset+1) - 1
				if start := text[starts[line]:offset]; isASCII(start) { // columns are bytes
					r.Places = append(r.Places, [2]uint32{uint32(line), uint32(len(start))})
				}
			}
			compare(t, r, ask(t, r))
		})
	}
}

func isASCII(s []byte) bool { return !slices.ContainsFunc(s, func(c byte) bool { return c >= 0x80 }) }

func ask(t *testing.T, r request) []byte {
	python := os.Getenv("SYMBOLIC_PYTHON")
	require.NotEmpty(t, python, "set SYMBOLIC_PYTHON to a Python with the package symbolic")
	line, err := json.Marshal(r)
	require.NoError(t, err)
	command := exec.Command(python, "testdata/oracle/lookup.py")
	command.Stdin, command.Stderr = bytes.NewReader(line), os.Stderr
	out, err := command.Output()
	require.NoError(t, err)
	return out
}

// compare checks source, line, column and name of each place, and the function as far as both mean
// the same by it.
func compare(t *testing.T, r request, answers []byte) {
	var results []*result
	require.NoError(t, json.Unmarshal(answers, &results))
	require.Len(t, results, len(r.Places))
	text, err := os.ReadFile(r.Map)
	require.NoError(t, err)
	script, err := os.ReadFile(r.Script)
	require.NoError(t, err)
	file, _, err := open(text, string(script))
	require.NoError(t, err)
	require.NotNil(t, file.scopes)
	equal, listed := 0, map[string]int{}
	for i, at := range r.Places {
		want := results[i]
		position, ok := file.m.Lookup(at[0], at[1])
		if reason := listedPosition(want, at); reason != "" {
			listed[reason]++
			assert.False(t, ok, "place %v", at)
			continue
		}
		require.True(t, ok, "place %v: reference %+v", at, want)
		got := []any{position.Source, position.Line, position.Column, position.Name}
		require.Equal(t, []any{*want.Source, want.Line, want.Column, value(want.Name)}, got, "place %v", at)
		frames, status := file.Call(nil, "", int64(at[0])+1, int64(at[1])+1)
		require.Equal(t, symbols.OK, status)
		reason, same := sameFunction(value(want.Function), frames[0].Function)
		if atToken, _ := file.Call(nil, "", int64(want.TokenLine)+1, int64(want.TokenColumn)+1); !same && len(atToken) == 1 {
			if _, same = sameFunction(value(want.Function), atToken[0].Function); same {
				reason = "the reference takes the function at the start of the mapping"
			}
		}
		if got := frames[0].Function; !same && isFieldOrText(string(script), got) {
			reason, same = "the reference does not use fields of classes, and keys in quotes", true
		}
		if !same && want.Function == nil {
			reason, same = "the reference has no function", true
		}
		if !same {
			reason = "DIFFERENT"
			if listed[reason] < 20 {
				t.Logf("place %v: %q, reference %q", at, frames[0].Function, value(want.Function))
			}
		}
		if reason == "" {
			equal++
		} else {
			listed[reason]++
		}
	}
	t.Logf("%d places equal; listed differences: %v", equal, listed)
	assert.LessOrEqual(t, listed["DIFFERENT"]*100, len(r.Places), "at most one place of a hundred has another function")
}

func isFieldOrText(script, name string) bool {
	return strings.Contains(script, `"`+name+`":`) || strings.Contains(script, ";"+name+"=") || strings.Contains(script, "}"+name+"=")
}

// listedPosition returns why the reference finds a source, or none, where this package must find
// none.
func listedPosition(want *result, at [2]uint32) string {
	switch {
	case want == nil:
		return "before the first mapping"
	case want.TokenLine != at[0]:
		return "the reference takes the last mapping of an earlier line (ECMA-426 does not)"
	case want.Source == nil:
		return "no source"
	}
	return ""
}

// sameFunction compares names of functions. The reference names the places of classes, too, writes
// the objects in front of a function and anonymous functions with the variable around their
// expression.
func sameFunction(want, got string) (reason string, same bool) {
	if want == "<anonymous>" || want == "<unknown>" {
		want = ""
	}
	for _, prefix := range []string{"get ", "set "} {
		want, got = strings.TrimPrefix(want, prefix), strings.TrimPrefix(got, prefix)
	}
	switch {
	case want == got:
		return "", true
	case got == "":
		return "the reference has a name for an anonymous function", true
	case strings.Trim(got, "0123456789") == "":
		return "the reference does not use keys that are numbers", true
	case strings.HasSuffix(want, got):
		return "the reference has objects or computed keys in front", true
	case strings.HasPrefix(want, got+"."):
		return "the reference adds the inner name of a class", true
	case strings.HasPrefix(want, "new ") && !strings.HasPrefix(got, "new "):
		return "the reference names the body of a class", true
	case lastPart(want) == lastPart(got) || lastPart(strings.TrimPrefix(want, "new ")) == strings.TrimPrefix(got, "new "):
		return "more or fewer objects in front", true
	}
	return "", false
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
