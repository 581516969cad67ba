// SPDX-License-Identifier: Apache-2.0

package proguard

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// The references are Sentry's own library, the package symbolic of PyPI, and R8's retrace.
// testdata/oracle/*.json has their recorded results.
//
//	go test -run TestOracle                                           compares testdata/shop.txt with the recorded results
//	SYMBOLIC_PYTHON=python3 R8_JAR=r8.jar go test -run TestOracle     runs the references, and compares random places of MAPPINGS
//	SYMBOLIC_PYTHON=python3 R8_JAR=r8.jar go test -run TestOracle -record
//
// MAPPINGS is a list of mapping files, separated by colons.
var (
	record = flag.Bool("record", false, "record the results of the references")
	places = flag.Int("places", 20_000, "random places per file")
	seed   = flag.Uint64("seed", 1, "seed of the random places")
)

const (
	symbolicRecording = "testdata/oracle/symbolic.json"
	retraceRecording  = "testdata/oracle/retrace.json"
)

// TestOracleSymbolic compares with Sentry's library.
func TestOracleSymbolic(t *testing.T) {
	testOracle(t, symbolicRecording, os.Getenv("SYMBOLIC_PYTHON"), runSymbolic, compareSymbolic)
}

// TestOracleRetrace compares with R8's retrace.
func TestOracleRetrace(t *testing.T) {
	testOracle(t, retraceRecording, os.Getenv("R8_JAR"), runRetrace, compareRetrace)
}

func testOracle[R any](t *testing.T, recording, reference string, run func(t *testing.T, reference, mapping string, places []Place) []R, compare func(*Mapping, Place, R) (difference string, equal bool)) {
	const mapping = "testdata/shop.txt"
	if reference == "" {
		var results []R
		text, err := os.ReadFile(recording)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &results))
		compareAll(t, mapping, results, allPlaces(t, mapping), compare)
		return
	}
	at := allPlaces(t, mapping)
	results := run(t, reference, mapping, at)
	compareAll(t, mapping, results, at, compare)
	if *record {
		writeResults(t, recording, results)
	}
	for _, mapping := range filepath.SplitList(os.Getenv("MAPPINGS")) {
		t.Run(filepath.Base(mapping), func(t *testing.T) {
			at := allPlaces(t, mapping)
			random := rand.New(rand.NewPCG(*seed, 1))
			random.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
			at = at[:min(len(at), *places)]
			compareAll(t, mapping, run(t, reference, mapping, at), at, compare)
		})
	}
}

// compareAll fails for results that differ without a listed reason, and logs how often each reason
// applied.
func compareAll[R any](t *testing.T, mapping string, results []R, places []Place, compare func(*Mapping, Place, R) (string, bool)) {
	require.Len(t, results, len(places))
	m := readFile(t, mapping)
	tally, unlisted := map[string]int{}, 0
	for i, p := range places {
		difference, equal := compare(m, p, results[i])
		if equal {
			tally[difference]++
			continue
		}
		if unlisted++; unlisted <= 10 {
			t.Errorf("%+v: %s", p, difference)
		}
	}
	assert.Zero(t, unlisted, "unlisted differences of %d places", len(places))
	t.Logf("%s: %d places, %d lines unreadable; differences by reason: %v", mapping, len(places), m.Unreadable, tally)
}

// allPlaces returns places for every class and method of a mapping, found with a second, simple
// reader: for each line of a method the first and the last line of its range, the line behind it
// and no line.
func allPlaces(t *testing.T, mapping string) (places []Place) {
	text, err := os.ReadFile(mapping)
	require.NoError(t, err)
	classLine := regexp.MustCompile(`^\S.* -> (.*):\s*$`)
	methodLine := regexp.MustCompile(`^\s+(?:(\d+):(\d+):)?\S+ \S+\(.*\).* -> (\S+)\s*$`)
	class, seen := "", map[Place]bool{}
	for _, line := range strings.Split(string(text), "\n") {
		if parts := classLine.FindStringSubmatch(line); parts != nil && line[0] != '#' {
			class = parts[1]
		} else if parts := methodLine.FindStringSubmatch(line); parts != nil {
			from, _ := strconv.ParseInt(parts[1], 10, 64)
			to, _ := strconv.ParseInt(parts[2], 10, 64)
			for _, n := range []int64{0, from, to, (from + to) / 2, to + 1} {
				if p := (Place{Class: class, Method: parts[3], Line: n}); !seen[p] {
					seen[p] = true
					places = append(places, p)
				}
			}
		}
	}
	return places
}

// symbolicResult is what Sentry's library says about a place.
type symbolicResult struct {
	Class  *string // remap_class
	Method *string // remap_method
	Frames []string
}

func (r *symbolicResult) UnmarshalJSON(raw []byte) error {
	var frames [][4]any
	if err := json.Unmarshal(raw, &[]any{&r.Class, &r.Method, &frames}); err != nil {
		return err
	}
	for _, f := range frames {
		r.Frames = append(r.Frames, fmt.Sprintf("%s.%s(%s:%v)", f[0], f[1], f[3], int64(f[2].(float64))))
	}
	return nil
}

func runSymbolic(t *testing.T, python, mapping string, places []Place) (results []symbolicResult) {
	request := struct {
		Mapping string   `json:"mapping"`
		Places  [][4]any `json:"places"`
	}{Mapping: mapping}
	for _, p := range places {
		request.Places = append(request.Places, [4]any{p.Class, p.Method, p.Line, nil})
	}
	input, err := json.Marshal(request)
	require.NoError(t, err)
	command := exec.Command(python, "testdata/oracle/lookup.py")
	command.Stdin, command.Stderr = bytes.NewReader(input), os.Stderr
	output, err := command.Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(output, &results))
	return results
}

// MarshalJSON writes what UnmarshalJSON reads.
func (r symbolicResult) MarshalJSON() ([]byte, error) {
	frames := [][4]any{}
	for _, f := range r.Frames {
		parts := frameText.FindStringSubmatch(f)
		line, _ := strconv.Atoi(parts[4])
		frames = append(frames, [4]any{parts[1], parts[2], line, parts[3]})
	}
	return json.Marshal([]any{r.Class, r.Method, frames})
}

var frameText = regexp.MustCompile(`^(.*)\.([^.(]+)\((.*?)(?::(\d+))?\)$`)

// compareSymbolic: the frames of all alternatives are equal, with these exceptions.
func compareSymbolic(m *Mapping, p Place, want symbolicResult) (difference string, equal bool) {
	original, known := m.Class(p.Class)
	if known != (want.Class != nil) || known && original != *want.Class {
		return fmt.Sprintf("class %q", original), false
	}
	frames, status := m.Lookup(nil, p)
	if want.Method != nil {
		if function := frames[len(frames)-1].Function; !strings.HasSuffix(function, "."+*want.Method) {
			if c, _ := m.class(p.Class); slices.ContainsFunc(m.slowMembers(c, p.Method), func(f member) bool { return f.lines.to == 0 }) {
				return "remap_method leaves out members without lines", true
			}
			outermost := func(x chain) bool { return m.strings.Get(x[len(x)-1].name) != *want.Method }
			if c, _ := m.class(p.Class); status == symbols.Ambiguous && !slices.ContainsFunc(m.slowAlternatives(c, p), outermost) {
				return "merged classes", true
			}
			return fmt.Sprintf("function %s (%s) is not %s", function, status, *want.Method), false
		}
	}
	if slices.Equal(texts(frames), want.Frames) {
		return "none", true
	}
	c, _ := m.class(p.Class)
	chains := m.slowAlternatives(c, p)
	if len(want.Frames) == 0 {
		if slices.ContainsFunc(chains, func(x chain) bool { return x[0].hasLine(p.Line) && x[0].lines.to > 0 }) {
			return "nothing found by the reference", false
		}
		return "outside of all ranges", true
	}
	reasons := map[string]bool{}
	var all []string
	for _, x := range chains {
		for i, f := range m.every(c, p, x) {
			if len(all) == len(want.Frames) {
				return "the reference has fewer frames", false
			}
			theirs := frameText.FindStringSubmatch(want.Frames[len(all)])
			if theirs[3] == "" {
				reasons["no derived file"], f.File = true, ""
			}
			if theirs[4] != strconv.FormatInt(f.Line, 10) {
				switch member := x[i]; {
				case member.flags&(hasLines|hasOriginal) == 0 && theirs[4] == "0":
					reasons["line kept by the compiler"] = true
				case member.lines.to-member.lines.from != member.original.to-member.original.from:
					reasons["ranges of different lengths"] = true
				default:
					return fmt.Sprintf("line %d is not %s", f.Line, theirs[4]), false
				}
				f.Line, _ = strconv.ParseInt(theirs[4], 10, 64)
			}
			all = append(all, written([]symbols.Frame{f}))
		}
	}
	if !slices.Equal(all, want.Frames) {
		return fmt.Sprintf("\n%s is not\n%s", strings.Join(all, " < "), strings.Join(want.Frames, " < ")), false
	}
	if len(reasons) == 0 {
		reasons[map[bool]string{true: "several alternatives", false: "synthesized"}[len(chains) > 1]] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(reasons)), ", "), true
}

func texts(frames []symbols.Frame) (lines []string) {
	for _, f := range frames {
		lines = append(lines, written([]symbols.Frame{f}))
	}
	return lines
}

func readFile(t testing.TB, path string) *Mapping {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	m, err := read(file)
	require.NoError(t, err)
	return m
}

func writeResults[R any](t *testing.T, path string, results []R) {
	var b bytes.Buffer
	for i, r := range results {
		text, err := json.Marshal(r)
		require.NoError(t, err)
		b.WriteString(map[bool]string{true: "[", false: ",\n"}[i == 0])
		b.Write(text)
	}
	b.WriteString("]\n")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
}

// retraceResult has the alternatives of R8's retrace, each innermost first.
type retraceResult [][]string

func runRetrace(t *testing.T, jar, mapping string, places []Place) (results []retraceResult) {
	var input strings.Builder
	for i, p := range places {
		fmt.Fprintf(&input, "place %d\n\tat %s.%s(SourceFile:%d)\n", i, p.Class, p.Method, p.Line)
	}
	stack := filepath.Join(t.TempDir(), "stack.txt")
	require.NoError(t, os.WriteFile(stack, []byte(input.String()), 0o600))
	command := exec.Command("java", "-XX:TieredStopAtLevel=1", "-cp", jar, "com.android.tools.r8.retrace.Retrace", mapping, stack)
	command.Stderr = os.Stderr
	output, err := command.Output()
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(output)), "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "place ") {
			results = append(results, retraceResult{nil})
			continue
		}
		r := &results[len(results)-1]
		if rest, ok := strings.CutPrefix(line, "<OR> "); ok {
			line = rest
			*r = append(*r, nil)
		}
		last := &(*r)[len(*r)-1]
		*last = append(*last, strings.TrimPrefix(line, "at "))
	}
	return results
}

// compareRetrace: the common part of the alternatives is equal, with these exceptions.
func compareRetrace(m *Mapping, p Place, want retraceResult) (difference string, equal bool) {
	frames, status := m.Lookup(nil, p)
	got := retraced(frames)
	if len(want) == 1 && slices.Equal(got, want[0]) {
		return "none", true
	}
	if len(want) == 1 && len(want[0]) == 0 && m.Outline(p) {
		return "outlines are left out", true
	}
	c, _ := m.class(p.Class)
	if m.strings.Get(c.file) == syntheticFile {
		for _, alternative := range want {
			for i, f := range alternative {
				alternative[i] = strings.ReplaceAll(f, "("+syntheticFile, "("+outerClass(m.strings.Get(c.original)))
			}
		}
	}
	chains := m.slowAlternatives(c, p)
	inRange := slices.ContainsFunc(chains, func(x chain) bool { return x[0].hasLine(max(p.Line, 0)) || x[0].flags&hasLines == 0 })
	obfuscated := retraced([]symbols.Frame{m.unlisted(c, p)})
	if len(want) == 1 && !inRange && slices.Equal(want[0], obfuscated) {
		return "outside of all ranges", true
	}
	if p.Line <= 0 && !inRange && len(want) == 1 {
		first := withoutLines(withoutFiles(retraced(m.frames(c, p, chains[0]))))
		theirs := withoutLines(withoutFiles(want[0]))
		return "retrace takes the first range, or the innermost function of it", len(theirs) <= len(first) && slices.Equal(theirs, first[:len(theirs)])
	}
	if len(chains) == 1 && len(want) == 1 && slices.Equal(withoutFiles(retraced(m.every(c, p, chains[0]))), withoutFiles(want[0])) {
		return "synthesized functions that are annotated once", true
	}
	common := commonText(want)
	if len(common) == 0 && status != symbols.Ambiguous {
		for i := range want {
			want[i] = withoutFiles(want[i])
		}
		if common = commonText(want); slices.Equal(withoutFiles(got), common) {
			return "several alternatives, extension of a derived file", true
		}
	}
	if len(common) == 0 {
		return "several alternatives", status == symbols.Ambiguous
	}
	reason := "several alternatives"
	if len(want) == 1 {
		reason = ""
	}
	if !slices.Equal(got, common) && slices.Equal(withoutFiles(got), withoutFiles(common)) {
		reason, common = strings.TrimPrefix(reason+", extension of a derived file", ", "), got
	}
	if slices.Equal(got, common) {
		return reason, true
	}
	return fmt.Sprintf("\n%s is not\n%v", strings.Join(got, " < "), want), false
}

// retraced returns frames as retrace prints them: without a line of 0.
func retraced(frames []symbols.Frame) []string {
	lines := texts(frames)
	for i, line := range lines {
		if before, ok := strings.CutSuffix(line, ":0)"); ok {
			lines[i] = before + ")"
		}
	}
	return lines
}

var (
	lineText      = regexp.MustCompile(`:\d+\)$`)
	extensionText = regexp.MustCompile(`\.(kt|java)`)
)

func withoutFiles(frames []string) (lines []string) {
	for _, f := range frames {
		open := strings.LastIndexByte(f, '(')
		lines = append(lines, f[:open]+extensionText.ReplaceAllString(f[open:], ""))
	}
	return lines
}

func withoutLines(frames []string) (lines []string) {
	for _, f := range frames {
		lines = append(lines, lineText.ReplaceAllString(f, ")"))
	}
	return lines
}

// commonText is the end that all alternatives share, without lines that differ.
func commonText(alternatives [][]string) []string {
	result := alternatives[0]
	for _, other := range alternatives[1:] {
		var shared []string
		for i, j := len(result)-1, len(other)-1; i >= 0 && j >= 0; i, j = i-1, j-1 {
			a, b := result[i], other[j]
			if a != b {
				a, b = lineText.ReplaceAllString(a, ")"), lineText.ReplaceAllString(b, ")")
			}
			if a != b {
				break
			}
			shared = append(shared, a)
		}
		slices.Reverse(shared)
		result = shared
	}
	return result
}
