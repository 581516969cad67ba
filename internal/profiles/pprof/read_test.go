// SPDX-License-Identifier: Apache-2.0

package pprof_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/pprof"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// file is a profile that google/pprof writes, with one value of each type.
func file(t *testing.T, change func(*profile.Profile), types ...string) []byte {
	t.Helper()
	main := &profile.Function{ID: 1, Name: "main", SystemName: "main"}
	free := &profile.Function{ID: 2, Name: "malloc", SystemName: "malloc"}
	p := &profile.Profile{
		PeriodType: &profile.ValueType{Type: "wall", Unit: "nanoseconds"}, Period: 1000,
		Function: []*profile.Function{main, free},
		Location: []*profile.Location{{ID: 1, Line: []profile.Line{{Function: main}}}, {ID: 2, Line: []profile.Line{{Function: free}}}},
	}
	s := &profile.Sample{Location: []*profile.Location{p.Location[1], p.Location[0]}}
	for i := 0; i < len(types); i += 2 {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: types[i], Unit: types[i+1]})
		s.Value = append(s.Value, int64(i/2+1))
	}
	p.Sample = []*profile.Sample{s}
	change(p)
	var out bytes.Buffer
	require.NoError(t, p.Write(&out))
	return out.Bytes()
}

func imported(t *testing.T, data []byte) (profiles []*timeline.Profile, losses []importer.Loss) {
	t.Helper()
	message, losses, err := pprof.Read(data, importer.Options{})
	require.NoError(t, err)
	return readAll(message), losses
}

func readAll(message pprofile.Profiles) (profiles []*timeline.Profile) {
	reader := timeline.NewReader(message.Dictionary())
	for _, p := range message.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().All() {
		profiles = append(profiles, reader.Read(p))
	}
	return profiles
}

// TestTypes: the first profile is the type that pprof displays (profile.SampleIndexByName), in the
// base unit; types that measure the same do not add up.
func TestTypes(t *testing.T) {
	for name, c := range map[string]struct {
		types   []string
		unset   string // the default type
		want    []string
		weights []int64
		lost    int
	}{
		"the last":           {[]string{"alloc_space", "bytes", "inuse_space", "bytes"}, "", []string{"inuse_space bytes", "alloc_space bytes"}, []int64{2, 1}, 0},
		"the default":        {[]string{"alloc_space", "bytes", "inuse_space", "bytes"}, "alloc_space", []string{"alloc_space bytes", "inuse_space bytes"}, []int64{1, 2}, 0},
		"an unknown default": {[]string{"alloc_space", "bytes", "inuse_space", "bytes"}, "other", []string{"inuse_space bytes", "alloc_space bytes"}, []int64{2, 1}, 0},
		"Node.js":            {[]string{"sample", "count", "wall", "nanoseconds", "cpu", "nanoseconds"}, "", []string{"cpu nanoseconds", "wall nanoseconds"}, []int64{3, 2}, 1},
		"numbers by default": {[]string{"samples", "count", "wall", "nanoseconds"}, "samples", []string{"wall nanoseconds"}, []int64{1000}, 1},
		"other numbers":      {[]string{"contentions", "count", "delay", "nanoseconds"}, "", []string{"delay nanoseconds", "contentions count"}, []int64{2, 1}, 0},
		"units of time":      {[]string{"wall", "milliseconds", "delay", "us", "cpu", "second"}, "", []string{"cpu nanoseconds", "wall nanoseconds", "delay nanoseconds"}, []int64{3e9, 1e6, 2e3}, 0},
		"units of memory":    {[]string{"space", "kilobytes", "objects", "objects"}, "space", []string{"space bytes", "objects objects"}, []int64{1024, 2}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			profiles, losses := imported(t, file(t, func(p *profile.Profile) { p.DefaultSampleType = c.unset }, c.types...))
			var measures []string
			var weights []int64
			for _, p := range profiles {
				measures = append(measures, p.Measure.Type+" "+p.Measure.Unit)
				for _, s := range p.Selected(timeline.Filter{}) {
					weights = append(weights, s.Weight)
				}
			}
			assert.Equal(t, c.want, measures)
			assert.Equal(t, c.weights, weights)
			assert.Len(t, losses, c.lost)
		})
	}
}

// again writes the first profile of a file, and reads it with google/pprof.
func again(t *testing.T, data []byte) *profile.Profile {
	t.Helper()
	profiles, _ := imported(t, data)
	out, err := export(timeline.Filter{}, profiles[0])
	require.NoError(t, err)
	return out
}

// TestRest: comments and a duration without a start are kept.
func TestRest(t *testing.T) {
	out := again(t, file(t, func(p *profile.Profile) {
		p.Comments, p.DurationNanos = []string{"build 7", "on shop-1"}, 1e9
	}, "cpu", "nanoseconds"))
	assert.Equal(t, []string{"build 7", "on shop-1"}, out.Comments)
	assert.Equal(t, []int64{0, 1e9}, []int64{out.TimeNanos, out.DurationNanos})
	require.Len(t, out.SampleType, 1, "numbers of samples are not known")
}

// TestDropFrames: as google/pprof does (profile.RemoveUninteresting).
func TestDropFrames(t *testing.T) {
	for name, c := range map[string]struct {
		drop, keep string
		frames     int
		lost       string
	}{
		"drop":           {"mal.*", "", 1, "drop_frames"},
		"keep":           {"mal.*", "malloc", 2, ""},
		"no expression":  {"(", "", 2, "no regular expressions"},
		"too large":      {strings.Repeat("a{1000}", 11), "", 2, "too large"},
		"no user frames": {".*", "", 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			profiles, losses := imported(t, file(t, func(p *profile.Profile) { p.DropFrames, p.KeepFrames = c.drop, c.keep }, "cpu", "nanoseconds"))
			assert.Len(t, profiles[0].Stacks[1], c.frames)
			if c.lost == "" {
				assert.Empty(t, losses)
				return
			}
			require.Len(t, losses, 1)
			assert.Contains(t, losses[0].What, c.lost)
		})
	}
}

// TestDroppedNames: google/pprof drops the same frames, with any pattern.
func TestDroppedNames(t *testing.T) {
	names := []string{"malloc", "a::malloc", "malloc(int)", "(anonymous namespace)::f(x)", "operator()", "A::operator()(int)", "operator()()", "moperator(", ".dot", "", "(", "a b\nc", "naïve", "\xff\xfe", "MALLOC", "x"}
	patterns := []string{"malloc", "mal.*", ".*", "", "a)|(b", "(?i)malloc", `\b[a-z]+\b`, "^malloc$", "(?m)b$", "(?s).*c", `[^m]*`, ".*::.*", `\(anonymous namespace\)::f`, "A::operator\\(\\)", "na.ve", `.{2}`, "(a|m)+.{0,5}c?", `\xff.*`, "x{1,3}|operator.*"}
	for _, drop := range patterns {
		for _, keep := range []string{"", "malloc", ".*o.*", "x"} {
			in := &profile.Profile{DropFrames: drop, KeepFrames: keep, SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}}
			sample := &profile.Sample{Value: []int64{1}}
			for i, name := range names {
				id := uint64(i + 1)
				f := &profile.Function{ID: id, Name: name, SystemName: fmt.Sprint("f", i)}
				l := &profile.Location{ID: id, Line: []profile.Line{{Function: f}}}
				in.Function, in.Location = append(in.Function, f), append(in.Location, l)
				in.Sample = append(in.Sample, &profile.Sample{Value: []int64{1}, Location: []*profile.Location{in.Location[0], l, in.Location[0]}})
				sample.Location = append(sample.Location, l)
			}
			in.Sample = append(in.Sample, sample)
			want := in.Copy()
			require.NoError(t, want.RemoveUninteresting())
			frames := 0
			for _, s := range want.Sample {
				frames += len(s.Location)
			}
			var file bytes.Buffer
			require.NoError(t, in.Write(&file))
			message, _, err := pprof.Read(file.Bytes(), importer.Options{})
			require.NoError(t, err)
			got := 0
			for _, s := range message.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples().All() {
				got += int(s.Values().At(0)) * message.Dictionary().StackTable().At(int(s.StackIndex())).LocationIndices().Len()
			}
			assert.Equal(t, frames, got, "%q, but not %q", drop, keep)
		}
	}
}

func TestWithoutSamples(t *testing.T) {
	data, err := os.ReadFile("testdata/go-mutex-without-samples.pb.gz")
	require.NoError(t, err)
	_, _, err = pprof.Read(data, importer.Options{})
	assert.Equal(t, importer.ErrEmpty, err, "it is a pprof, without samples")
}

// TestWithoutStack: pprof counts samples without a stack. They are not idle time.
func TestWithoutStack(t *testing.T) {
	out := again(t, file(t, func(p *profile.Profile) { p.Sample[0].Location = nil }, "cpu", "nanoseconds"))
	require.Len(t, out.Sample, 1)
	assert.Equal(t, []int64{1}, out.Sample[0].Value)
}

func foreign(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/foreign", name))
	require.NoError(t, err)
	return data
}

// TestLabels: a label with a text and a number keeps the text, and counts the number.
func TestLabels(t *testing.T) {
	_, losses := imported(t, foreign(t, "pprof-label-text-and-number.pb.gz"))
	assert.Equal(t, []importer.Loss{{What: "further values of labels", Count: 1}}, losses)
}

// TestOffsets: names of native code have the offset in the file.
func TestOffsets(t *testing.T) {
	for name, want := range map[string]string{
		"pprof-native-file-offset.pb.gz":    "plain+0x113d",
		"parca-node-libc-file-offset.pb.gz": "libc-2.31.so+0x23d0a",
	} {
		profiles, _ := imported(t, foreign(t, name))
		var names []string
		for _, f := range profiles[0].Frames {
			names = append(names, f.Name)
		}
		assert.Contains(t, names, want)
	}
}

// TestUnnamedLocations: locations without a function have none in the output, and their mapping
// permits that pprof finds them; other mappings do not.
func TestUnnamedLocations(t *testing.T) {
	for _, m := range again(t, foreign(t, "go-cpu.pb.gz")).Mapping {
		assert.True(t, m.HasFunctions, m.File)
	}
	out := again(t, foreign(t, "parca-node-libc-file-offset.pb.gz"))
	bare := map[*profile.Mapping]int{}
	for _, l := range out.Location {
		if len(l.Line) == 0 {
			assert.NotZero(t, l.Address)
			bare[l.Mapping]++
		}
	}
	assert.NotEmpty(t, bare)
	for _, m := range out.Mapping {
		assert.Equal(t, bare[m] == 0, m.HasFunctions, m.File)
	}
}

// TestNegativeValues: a format that has no negative values rejects them; pprof has them.
func TestNegativeValues(t *testing.T) {
	profiles, _ := imported(t, foreign(t, "pprof-diff-base-negative.pb.gz"))
	i := 0
	for profiles[i].Measure.Type != "inuse_space" {
		i++
	}
	assert.ErrorIs(t, profiles[i].CheckPositive(timeline.Filter{}), timeline.ErrNegative)
	out, err := export(timeline.Filter{}, profiles[i])
	require.NoError(t, err)
	sum := int64(0)
	for _, s := range out.Sample {
		sum += s.Value[0]
	}
	assert.Equal(t, int64(-94_769_662), sum)
	assert.NoError(t, read(timelinetest.Wall, shop...).CheckPositive(timeline.Filter{}))
}

// FuzzTotals compares the totals of types with those of google/pprof, and the default type.
func FuzzTotals(f *testing.F) {
	files, err := filepath.Glob("testdata/foreign/*.pb*")
	require.NoError(f, err)
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		p, err := profile.ParseData(data)
		require.NoError(f, err)
		var plain bytes.Buffer
		require.NoError(f, p.WriteUncompressed(&plain))
		f.Add(plain.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) || len(data) == 0 {
			return
		}
		message, losses, err := pprof.Read(data, importer.Options{})
		if err != nil {
			return
		}
		want, err := profile.ParseUncompressed(data)
		require.NoError(t, err)
		position, err := want.SampleIndexByName("")
		require.NoError(t, err)
		for _, l := range losses {
			if strings.HasPrefix(l.What, "samples") {
				return
			}
		}
		total := new(big.Int)
		for _, s := range want.Sample {
			total.Add(total, big.NewInt(s.Value[position]))
		}
		got := new(big.Int)
		for _, p := range message.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().All() {
			view := dictionary.NewView(message.Dictionary())
			if name, unit, _ := view.ValueType(p.SampleType()); name != strings.ToValidUTF8(want.SampleType[position].Type, "\uFFFD") || unit != strings.ToValidUTF8(want.SampleType[position].Unit, "\uFFFD") {
				break // all values of the default type are 0
			}
			for _, s := range p.Samples().All() {
				value := s.Values().At(0)
				if value == math.MaxInt64 || value == math.MinInt64 { // a sum that is out of range
					return
				}
				got.Add(got, big.NewInt(value))
			}
			break
		}
		require.Equal(t, total.String(), got.String())
	})
}
