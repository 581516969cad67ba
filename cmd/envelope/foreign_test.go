// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gopprof "github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
)

// The files of testdata/foreign are those of other tools. Judges that are not ours state the self
// and total time of each function: a file judged.json in each folder has their numbers. The tests
// of full size ask them again, see TestForeignJudges. For .cpuprofile, V8's deltas judge.

// foreign is a file with the numbers of its judge.
type foreign struct {
	format, name string
	data         []byte
	functionTimes
}

// foreignFiles returns the files of a format.
func foreignFiles(t *testing.T, format string) (files []foreign) {
	folder := filepath.Join(golden.Root(t), "testdata/foreign", format)
	judged := map[string]functionTimes{}
	text, err := os.ReadFile(filepath.Join(folder, judgedFile))
	if err == nil {
		require.NoError(t, json.Unmarshal(text, &judged))
	}
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, entry := range entries {
		if entry.Name() == judgedFile {
			continue
		}
		data, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		require.NoError(t, err)
		if strings.HasSuffix(entry.Name(), ".gz") {
			r, err := gzip.NewReader(bytes.NewReader(data))
			require.NoError(t, err)
			data, err = io.ReadAll(r)
			require.NoError(t, err)
		}
		name := strings.TrimSuffix(entry.Name(), ".gz")
		if name != versionsFile {
			files = append(files, foreign{format, name, data, judged[name]})
			continue
		}
		versions := map[string]json.RawMessage{}
		require.NoError(t, json.Unmarshal(data, &versions))
		for _, version := range slices.Sorted(maps.Keys(versions)) {
			files = append(files, foreign{format, "version " + version, versions[version], judged[versionsFile]})
		}
	}
	return files
}

const (
	judgedFile = "judged.json"
	// versionsFile has one profile in all versions of the format: the Firefox Profiler has upgraded
	// it step by step.
	versionsFile = "versions.json"
)

// foreignLosses are the losses of files that have any, by the beginning of the name.
var foreignLosses = map[string][]string{
	"diff":                             {"weights in the first of two columns"},
	"speedscope-simple-with-invalids.": {"lines without a stack and a weight"},
	"fractional-none.json":             {"fractions of values, which are rounded"},
}

// TestForeignFiles: the files of other tools are recognized, and have the numbers of their judges
// in all outputs.
func TestForeignFiles(t *testing.T) {
	for format, least := range map[string]int{profilefile.Firefox: 10 + 47, profilefile.CPUProfile: 10, profilefile.Collapsed: 10, profilefile.Speedscope: 10} {
		files := foreignFiles(t, format)
		assert.GreaterOrEqual(t, len(files), least, format)
		for _, f := range files {
			t.Run(format+" "+f.name, func(t *testing.T) { f.check(t) })
		}
	}
}

func (f foreign) check(t *testing.T) {
	format, content, err := profilefile.Read(profilefile.File{Data: f.data}, "", testOptions)
	require.NoError(t, err)
	require.Equal(t, f.format, format)
	message := content.Profiles[0]
	dictionarytest.MustBeValid(t, message)
	require.Empty(t, conformance.Check(message))
	f.losses(t, content.Losses)
	want := f.want(t, message)
	require.NotEmpty(t, want.Total)
	equalTimes(t, want, timesIn(message), "OTLP")
	for output, read := range map[string]func(*testing.T, string) functionTimes{
		profilefile.Collapsed: collapsedTimes, profilefile.Speedscope: speedscopeTimes, profilefile.Pprof: pprofTimes,
		profilefile.Firefox: again(profilefile.Firefox), profilefile.OTLPJSON: again(profilefile.OTLPJSON), profilefile.OTLPProto: again(profilefile.OTLPProto),
	} {
		equalTimes(t, want, read(t, written(t, output, "1.10", copied(message))), output)
	}
}

func (f foreign) losses(t *testing.T, got []importer.Loss) {
	for name, want := range foreignLosses {
		if strings.HasPrefix(f.name, name) {
			var what []string
			for _, l := range got {
				what = append(what, l.What)
			}
			assert.Equal(t, want, what)
			return
		}
	}
	for _, l := range got {
		assert.Contains(t, []string{"markers", "counters", "allocations"}, l.What)
	}
}

// want returns the numbers of the judge in the unit of the message.
func (f foreign) want(t *testing.T, message pprofile.Profiles) functionTimes {
	if f.format == profilefile.CPUProfile {
		return v8Times(t, f.data)
	}
	require.NotEmpty(t, f.Total, "no numbers of a judge")
	scale := 1.0
	p := dictionarytest.FirstProfile(message)
	if read := timeline.NewReader(message.Dictionary()).Read(p); f.format == profilefile.Firefox && read.Measure.Unit == "nanoseconds" {
		scale = 1e6 // of a millisecond
		if p.Samples().At(0).Values().At(0) == 1 {
			scale = float64(p.Period()) // of a sample
		}
	}
	if unit := unitOf(f.data); f.format == profilefile.Speedscope && nanosOf[unit] > 0 {
		scale = nanosOf[unit]
	}
	want := functionTimes{Self: scaled(f.Self, scale), Total: scaled(f.Total, scale)}
	if idle := want.Self[idleFunction]; idle > 0 { // V8's, which is no code
		want.Total["(root)"] -= idle
		delete(want.Self, idleFunction)
		delete(want.Total, idleFunction)
	}
	return want
}

const idleFunction = "(idle)"

var nanosOf = map[string]float64{"seconds": 1e9, "milliseconds": 1e6, "microseconds": 1e3, "nanoseconds": 1}

// unitOf returns the unit of a file of speedscope.
func unitOf(data []byte) string {
	if unit := regexp.MustCompile(`"unit": *"(\w+)"`).FindSubmatch(data); unit != nil {
		return string(unit[1])
	}
	return ""
}

// scaled multiplies times, and names functions without a name as our readers do.
func scaled(times map[string]float64, scale float64) map[string]float64 {
	out := map[string]float64{}
	for name, time := range times {
		if time != 0 {
			out[cmp.Or(name, "(unknown)")] += time * scale
		}
	}
	return out
}

// equalTimes compares times, which outputs round to whole numbers.
func equalTimes(t *testing.T, want, got functionTimes, output string) {
	t.Helper()
	for kind, maps := range map[string][2]map[string]float64{"self": {want.Self, got.Self}, "total": {want.Total, got.Total}} {
		for name, time := range maps[0] {
			if time < 0 { // unknownTotal, in the unit of the message
				continue
			}
			assert.InDelta(t, time, maps[1][name], max(1, math.Abs(time)*1e-6), "%s of %q as %s", kind, name, output)
		}
		for name, time := range maps[1] {
			if _, known := maps[0][name]; !known {
				assert.LessOrEqual(t, time, 1.0, "%s of %q as %s", kind, name, output)
			}
		}
	}
}

// add adds a stack, root first.
func (f *functionTimes) add(stack []string, weight float64) {
	if f.Self == nil {
		*f = functionTimes{map[string]float64{}, map[string]float64{}}
	}
	for i, name := range stack {
		if i == len(stack)-1 {
			f.Self[name] += weight
		}
		if !slices.Contains(stack[:i], name) {
			f.Total[name] += weight
		}
	}
}

// v8Times returns the times of a .cpuprofile by V8's deltas: a sample lasts until the next one. Its
// pseudo function (idle) is no code.
func v8Times(t *testing.T, data []byte) (times functionTimes) {
	type frame struct{ FunctionName, URL string }
	type node struct {
		ID        int
		CallFrame frame
		Children  json.RawMessage
		frame
	}
	var file struct {
		Nodes      []node
		Head       json.RawMessage
		Samples    []int
		TimeDeltas []float64
		Timestamps []float64
	}
	require.NoError(t, json.Unmarshal(data, &file))
	stacks := map[int][]string{}
	byID := map[int]node{}
	for _, n := range file.Nodes {
		byID[n.ID] = n
	}
	var walk func(n node, callers []string)
	walk = func(n node, callers []string) {
		f := n.CallFrame
		if file.Head != nil {
			f = n.frame
		}
		if f.FunctionName == "" {
			f.FunctionName = "(anonymous)"
			if f.URL != "" {
				f.FunctionName = "(anonymous in " + path.Base(f.URL) + ")"
			}
		}
		if f.FunctionName != "(root)" {
			callers = append(slices.Clip(callers), f.FunctionName)
		}
		stacks[n.ID] = callers
		var nested []node
		var ids []int
		if json.Unmarshal(n.Children, &ids) == nil {
			for _, id := range ids {
				walk(byID[id], callers)
			}
		} else if json.Unmarshal(n.Children, &nested) == nil {
			for _, n := range nested {
				walk(n, callers)
			}
		}
	}
	if file.Head != nil {
		var head node
		require.NoError(t, json.Unmarshal(file.Head, &head))
		walk(head, nil)
	} else {
		walk(file.Nodes[0], nil)
	}
	at := file.Timestamps
	sum := 0.0
	for _, delta := range file.TimeDeltas {
		sum += delta
		at = append(at, sum)
	}
	for i, id := range file.Samples {
		if stack := stacks[id]; i+1 < len(at) && len(stack) > 0 && stack[len(stack)-1] != idleFunction {
			times.add(stack, (at[i+1]-at[i])*1000)
		}
	}
	return functionTimes{scaled(times.Self, 1), scaled(times.Total, 1)}
}

// collapsedTimes, speedscopeTimes and pprofTimes read what the tool wrote, without our readers.
func collapsedTimes(t *testing.T, file string) (times functionTimes) {
	for line := range strings.Lines(file) {
		i := strings.LastIndexByte(line, ' ')
		var weight float64
		_, err := fmt.Sscan(line[i:], &weight)
		require.NoError(t, err)
		times.add(strings.Split(line[:i], ";"), weight)
	}
	return times
}

func speedscopeTimes(t *testing.T, file string) (times functionTimes) {
	var content struct {
		Shared   struct{ Frames []struct{ Name string } }
		Profiles []struct {
			Samples [][]int
			Weights []float64
		}
	}
	require.NoError(t, json.Unmarshal([]byte(file), &content))
	for _, p := range content.Profiles {
		for i, sample := range p.Samples {
			var stack []string
			for _, frame := range sample {
				stack = append(stack, content.Shared.Frames[frame].Name)
			}
			times.add(stack, p.Weights[i])
		}
	}
	return times
}

func pprofTimes(t *testing.T, file string) (times functionTimes) {
	p, err := gopprof.ParseData([]byte(file))
	require.NoError(t, err)
	for _, s := range p.Sample {
		var stack []string
		for _, l := range slices.Backward(s.Location) {
			for _, line := range slices.Backward(l.Line) {
				stack = append(stack, cmp.Or(line.Function.Name, line.Function.SystemName))
			}
		}
		times.add(stack, float64(s.Value[len(s.Value)-1]))
	}
	return times
}

// again reads an output with our reader, which TestForeignFiles checks itself.
func again(format string) func(*testing.T, string) functionTimes {
	return func(t *testing.T, file string) functionTimes {
		content, err := profilefile.Readers[format]([]byte(file), testOptions)
		require.NoError(t, err)
		return timesIn(content.Profiles[0])
	}
}

// TestForeignJudges: the stored numbers are those that the judges state: the Firefox Profiler's own
// loader and speedscope's importers. With -update, they are stored.
func TestForeignJudges(t *testing.T) {
	testsize.NeedFull(t)
	t.Run(profilefile.Firefox, func(t *testing.T) {
		p := newFirefoxProfiler(t)
		judged := map[string]functionTimes{}
		for i, f := range foreignFiles(t, profilefile.Firefox) {
			name := f.name
			if version, ok := strings.CutPrefix(name, "version "); ok {
				if name = versionsFile; version != "24" && version != "70" {
					continue // TestForeignFiles reads all of them
				}
			}
			p.session = fmt.Sprint("f", i)
			times := p.times(t, write(t, t.TempDir(), "profile", string(f.data)))
			if known, ok := judged[name]; ok {
				assert.Equal(t, known, times, f.name)
			}
			judged[name] = times
		}
		storeJudged(t, profilefile.Firefox, judged)
	})
	for _, format := range []string{profilefile.Collapsed, profilefile.Speedscope} {
		t.Run(format, func(t *testing.T) {
			page, folder := newSpeedscope(t), t.TempDir()
			for _, f := range foreignFiles(t, format) {
				text := string(f.data)
				if format == profilefile.Collapsed { // speedscope reads one column of whole numbers
					text = regexp.MustCompile(`(?m)( \d+)\.\d*$`).ReplaceAllString(text, "$1")
					if strings.HasPrefix(f.name, "diff") {
						text = regexp.MustCompile(`(?m) \d+( \d+)$`).ReplaceAllString(text, "$1")
					}
				}
				write(t, folder, f.name, text)
			}
			storeJudged(t, format, page.read(t, folder))
		})
	}
}

func storeJudged(t *testing.T, format string, judged map[string]functionTimes) {
	for name, times := range judged {
		judged[name] = functionTimes{scaled(times.Self, 1), scaled(times.Total, 1)}
	}
	text, err := json.MarshalIndent(judged, "", " ")
	require.NoError(t, err)
	golden.CompareFile(t, filepath.Join(golden.Root(t), "testdata/foreign", format, judgedFile), string(text)+"\n")
}

// defaults are the fields that a file may omit, with a meaning of its own: a smaller result is none
// that lost something.
var defaults = []string{
	"weight", "weightType", "interval", "meta", // each sample weighs 1, of no known time
	"unit", // none
}

// TestFieldsThatAreMissing: a file without one of its fields is an error, has the same result, or
// lists a loss.
func TestFieldsThatAreMissing(t *testing.T) {
	for _, format := range []string{profilefile.Firefox, profilefile.CPUProfile, profilefile.Speedscope} {
		for _, f := range foreignFiles(t, format) {
			if strings.HasPrefix(f.name, "version ") && !testsize.Full() && f.name != "version 24" && f.name != "version 66" || len(f.data) > 4_000 && !testsize.Full() {
				continue
			}
			content, err := profilefile.Readers[f.format](f.data, testOptions)
			require.NoError(t, err)
			before, usual := sum(content.Profiles[0]), lossesIn(content.Losses)
			var file any
			require.NoError(t, json.Unmarshal(f.data, &file))
			for field := range fieldsIn(file) {
				if slices.Contains(defaults, field) {
					continue
				}
				require.NoError(t, json.Unmarshal(f.data, &file))
				without(file, field)
				data, err := json.Marshal(file)
				require.NoError(t, err)
				content, err := profilefile.Readers[f.format](data, testOptions)
				if err != nil || lossesIn(content.Losses) > usual {
					continue
				}
				assert.GreaterOrEqual(t, sum(content.Profiles[0]), before-1, "%s %s without %s: %v", format, f.name, field, content.Losses)
			}
		}
	}
}

func lossesIn(losses []importer.Loss) (n int) {
	for _, l := range losses {
		n += l.Count
	}
	return n
}

// sum returns the weight of all frames of all samples.
func sum(message pprofile.Profiles) (all float64) {
	reader := timeline.NewReader(message.Dictionary())
	for _, profile := range profilesOf(message) {
		p := reader.Read(profile)
		for _, s := range p.Selected(timeline.Filter{}) {
			all += float64(s.Weight) * float64(len(p.Stacks[s.Stack]))
		}
	}
	return all
}

// fieldsIn returns the names of all fields of a JSON value.
func fieldsIn(value any) map[string]bool {
	fields := map[string]bool{}
	visit(value, func(object map[string]any) {
		for field := range object {
			fields[field] = true
		}
	})
	return fields
}

func without(value any, field string) {
	visit(value, func(object map[string]any) { delete(object, field) })
}

func visit(value any, object func(map[string]any)) {
	switch value := value.(type) {
	case map[string]any:
		object(value)
		for _, v := range value {
			visit(v, object)
		}
	case []any:
		for _, v := range value {
			visit(v, object)
		}
	}
}

// TestForeignTotals: the totals of files for which users have reported others.
func TestForeignTotals(t *testing.T) {
	totals := map[string]float64{
		"bun-fractions.cpuprofile":    699.107 * 1e6,
		"node20-long-gaps.cpuprofile": 838.836 * 1e6,
		"49-samply.json":              236,
		"fractional.txt":              333,
		"differential.txt":            513,
		"fractional-none.json":        1, // 0.9
	}
	for _, format := range []string{profilefile.Firefox, profilefile.CPUProfile, profilefile.Collapsed, profilefile.Speedscope} {
		for _, f := range foreignFiles(t, format) {
			want, ok := totals[f.name]
			if !ok {
				continue
			}
			delete(totals, f.name)
			content, err := profilefile.Readers[f.format](f.data, testOptions)
			require.NoError(t, err)
			all := 0.0
			for _, self := range collapsedTimes(t, written(t, profilefile.Collapsed, "", content.Profiles[0])).Self {
				all += self
			}
			assert.InDelta(t, want, all, 1000*want/1e6+0.5, f.name)
		}
	}
	assert.Empty(t, totals)
}

// TestNumbersWithFractions: a whole number that a tool writes with a fraction is the same.
func TestNumbersWithFractions(t *testing.T) {
	for _, format := range []string{profilefile.Firefox, profilefile.CPUProfile, profilefile.Speedscope} {
		for _, f := range foreignFiles(t, format) {
			if !testsize.Full() && len(f.data) > 4_000 {
				continue
			}
			decoder := json.NewDecoder(bytes.NewReader(f.data))
			decoder.UseNumber()
			var file any
			require.NoError(t, decoder.Decode(&file))
			data, err := json.Marshal(withFractions(file))
			require.NoError(t, err)
			before, err := profilefile.Readers[format](f.data, testOptions)
			require.NoError(t, err)
			after, err := profilefile.Readers[format](data, testOptions)
			require.NoError(t, err, "%s %s", format, f.name)
			assert.Empty(t, dictionarytest.Diff(before.Profiles[0], after.Profiles[0]), "%s %s", format, f.name)
		}
	}
}

// withFractions returns a JSON value with a fraction in each number.
func withFractions(value any) any {
	switch value := value.(type) {
	case json.Number:
		if !strings.ContainsAny(value.String(), ".eE") {
			return json.Number(value.String() + ".0")
		}
	case map[string]any:
		for key := range value {
			value[key] = withFractions(value[key])
		}
	case []any:
		for i := range value {
			value[i] = withFractions(value[i])
		}
	}
	return value
}
