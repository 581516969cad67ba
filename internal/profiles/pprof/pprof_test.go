// SPDX-License-Identifier: Apache-2.0

package pprof_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/pprof"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

const ms = time.Millisecond

// export writes profiles, and has google/pprof read them.
func export(filter timeline.Filter, profiles ...*timeline.Profile) (*profile.Profile, error) {
	var b bytes.Buffer
	w := pprof.NewWriter(&b)
	for _, p := range profiles {
		if err := w.Add(p, filter); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	out, err := profile.Parse(&b)
	if err == nil {
		err = out.CheckValid()
	}
	return out, err
}

func read(shape timelinetest.Shape, samples ...timelinetest.Sample) *timeline.Profile {
	message := timelinetest.Message("shop", shape, samples...)
	return timelinetest.Read(message.Dictionary(), timelinetest.Profile(message))
}

var shop = []timelinetest.Sample{
	{Thread: 1, Stack: "main;handle;query", Span: 7, At: []time.Duration{0, 10 * ms}},
	{Thread: 1, Stack: "main;handle", At: []time.Duration{20 * ms}},
	{Thread: 1, At: []time.Duration{40 * ms}},
	{Thread: 2, Stack: "libpoll", At: []time.Duration{0, 70 * ms}},
}

func TestExport(t *testing.T) {
	out, err := export(timeline.Filter{}, read(timelinetest.Wall, shop...))
	require.NoError(t, err)

	require.Len(t, out.Sample, 3, "one per identity, none without a stack")
	query := out.Sample[0]
	assert.Equal(t, []int64{2, int64(20 * ms)}, query.Value)
	assert.Equal(t, map[string][]int64{"thread.id": {1}}, query.NumLabel)
	assert.Equal(t, map[string][]string{
		"thread.name": {"main"}, "trace_id": {"00000000000000000000000000000007"}, "span_id": {"0000000000000007"},
	}, query.Label)
	require.Len(t, query.Location, 3)
	leaf := query.Location[0].Line[0]
	assert.Equal(t, "query", leaf.Function.Name, "leaf first")
	assert.Equal(t, "/app/query.py", leaf.Function.Filename)
	assert.Equal(t, [2]int64{30, 3}, [2]int64{leaf.Line, leaf.Column})
	assert.Equal(t, []int64{1, int64(20 * ms)}, out.Sample[1].Value)
	assert.Equal(t, []int64{2, int64(80 * ms)}, out.Sample[2].Value)

	assert.Equal(t, int64(timelinetest.Start), out.TimeNanos)
	assert.Equal(t, int64(80*ms), out.DurationNanos)
	assert.Equal(t, int64(10*ms), out.Period)
	assert.Equal(t, "wall", out.DefaultSampleType)
	assert.Equal(t, []string{"without a stack: 10000000 nanoseconds"}, out.Comments)
	assert.Empty(t, out.Mapping, "interpreted code has none")
}

func TestExportOfASelection(t *testing.T) {
	span := timeline.Filter{Link: &timeline.Link{Trace: timelinetest.Trace(7), Span: timelinetest.Span(7)}}
	a, b := read(timelinetest.Wall, shop...), read(timelinetest.Wall, shop...)
	out, err := export(span, a, b)
	require.NoError(t, err)
	require.Len(t, out.Sample, 2, "one of each profile")
	assert.Equal(t, out.Sample[0].Location, out.Sample[1].Location, "the same in both")
	assert.Len(t, out.Function, 3)
	assert.Equal(t, []int64{2, int64(20 * ms)}, out.Sample[1].Value)
	assert.Equal(t, int64(160*ms), out.DurationNanos)

	other := read(timelinetest.Shape{Type: "alloc_space", Unit: "bytes"}, timelinetest.Sample{Stack: "a", Values: []int64{1}})
	_, err = export(timeline.Filter{}, a, other)
	assert.ErrorContains(t, err, "do not add up")
	_, err = export(timeline.Filter{})
	assert.Error(t, err)
}

func TestMappings(t *testing.T) {
	message := pprofile.NewProfiles()
	b := dictionary.NewBuilder(message.Dictionary())
	mapping := b.Mapping(dictionary.Mapping{
		Start: 0x1000, Limit: 0x3000, FileOffset: 0x10, Filename: b.String("/lib/libshop.so"),
		Attributes: []dictionary.AttributeIndex{
			b.AttrString("sentry.debug_id", "no"), b.AttrString("process.executable.build_id.gnu", "abc1"),
		},
	})
	function := b.Function(dictionary.Function{Name: b.String("shop"), SystemName: b.String("_Z4shop")})
	p := message.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	dictionary.SetValueType(p.SampleType(), b.String("alloc_space"), b.String("bytes"))
	sample := p.Samples().AppendEmpty()
	sample.Values().Append(512)
	sample.SetStackIndex(int32(b.Stack([]dictionary.LocationIndex{b.Location(dictionary.Location{
		Mapping: mapping, Address: 0x1234, Lines: []dictionary.Line{{Function: function, Line: 7}},
	})})))
	b.Finish()

	out, err := export(timeline.Filter{}, timelinetest.Read(message.Dictionary(), p))
	require.NoError(t, err)
	require.Len(t, out.Mapping, 1)
	m := out.Mapping[0]
	assert.Equal(t, "/lib/libshop.so abc1", m.File+" "+m.BuildID)
	assert.Equal(t, []uint64{0x1000, 0x3000, 0x10}, []uint64{m.Start, m.Limit, m.Offset})
	assert.Same(t, m, out.Location[0].Mapping)
	assert.Equal(t, uint64(0x1234), out.Location[0].Address)
	assert.Equal(t, "_Z4shop", out.Function[0].SystemName)
	assert.Equal(t, []int64{512}, out.Sample[0].Value)
}

// TestGoToolPprof has the tool itself read a file, and say what was put in.
func TestGoToolPprof(t *testing.T) {
	testsize.NeedFull(t)
	t.Parallel()
	file := filepath.Join(t.TempDir(), "shop.pb.gz")
	f, err := os.Create(file)
	require.NoError(t, err)
	w := pprof.NewWriter(f)
	require.NoError(t, w.Add(read(timelinetest.Wall, shop...), timeline.Filter{}))
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())

	pprof := func(arguments ...string) string {
		tool := exec.Command("go", append([]string{"tool", "pprof", "-symbolize=none"}, append(arguments, file)...)...)
		text, err := tool.CombinedOutput()
		require.NoError(t, err, "%s", text)
		return strings.Join(strings.Fields(string(text)), " ")
	}
	top := pprof("-top", "-unit=ms")
	assert.Contains(t, top, "Type: wall")
	assert.Contains(t, top, "120ms, 100% of 120ms")
	assert.Contains(t, top, "80ms 66.67% 66.67% 80ms 66.67% libpoll")
	assert.Contains(t, top, "20ms 16.67% 83.33% 40ms 33.33% handle")
	assert.Contains(t, top, "0 0% 100% 40ms 33.33% main")
	assert.Contains(t, pprof("-top", "-sample_index=samples"), "2 40.00% 40.00% 2 40.00% libpoll")
	assert.Contains(t, pprof("-top", "-unit=ms", "-tagfocus=span_id=^0+7$"), "20ms 16.67% 16.67% 20ms 16.67% query")
	assert.Contains(t, pprof("-peek=query", "-lines", "-unit=ms"), "handle /app/handle.py:20")
}

// A message can name a deep stack a million times in few bytes.
func TestExportOfManyFunctions(t *testing.T) {
	testsize.NeedFull(t)
	message := timelinetest.Message("shop", timelinetest.Wall, timelinetest.Sample{Thread: 1, Stack: "f", At: []time.Duration{0}})
	b := dictionary.NewEditor(message.Dictionary())
	var lines []dictionary.Line
	for i := range timeline.MaxExportedEntries + 1 {
		lines = append(lines, dictionary.Line{Function: b.Function(dictionary.Function{Name: b.String(strconv.Itoa(i))})})
	}
	stack := b.Stack([]dictionary.LocationIndex{b.Location(dictionary.Location{Lines: lines})})
	timelinetest.Profile(message).Samples().At(0).SetStackIndex(int32(stack))
	_, err := export(timeline.Filter{}, timelinetest.Read(message.Dictionary(), timelinetest.Profile(message)))
	assert.ErrorIs(t, err, timeline.ErrTooLarge)
}

func TestExportIsBounded(t *testing.T) {
	deep := strings.TrimSuffix(strings.Repeat("f;", 1000), ";")
	samples := make([]timelinetest.Sample, timeline.MaxExportedFrames/1000+1)
	for i := range samples {
		samples[i] = timelinetest.Sample{Thread: 1, Stack: "f", Values: []int64{1}}
	}
	samples[0].Stack = deep
	message := timelinetest.Message("shop", timelinetest.Wall, samples...)
	list := timelinetest.Profile(message).Samples()
	for i := range list.Len() {
		list.At(i).SetStackIndex(list.At(0).StackIndex())
	}
	p := timelinetest.Read(message.Dictionary(), timelinetest.Profile(message))
	_, err := export(timeline.Filter{}, p)
	assert.ErrorIs(t, err, timeline.ErrTooLarge)
}
