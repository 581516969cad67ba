// SPDX-License-Identifier: Apache-2.0

package importer_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	gopprof "github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/collapsed"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/cpuprofile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/firefox"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/pprof"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/speedscope"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
)

type writer interface {
	Add(*timeline.Profile, timeline.Filter) error
	Close() error
}

type format struct {
	create func(io.Writer) writer // nil: only read
	read   func([]byte, importer.Options) (pprofile.Profiles, []importer.Loss, error)
}

var formats = map[string]format{
	"collapsed":  {func(w io.Writer) writer { return collapsed.NewWriter(w) }, collapsed.Read},
	"firefox":    {func(w io.Writer) writer { return firefox.NewWriter(w, "shop") }, firefox.Read},
	"pprof":      {func(w io.Writer) writer { return pprof.NewWriter(w) }, pprof.Read},
	"speedscope": {func(w io.Writer) writer { return speedscope.NewWriter(w, "shop") }, speedscope.Read},
	"cpuprofile": {nil, cpuprofile.Read},
}

const ms = time.Millisecond

var options = importer.Options{Start: time.Unix(0, timelinetest.Start)}

var shop = []timelinetest.Sample{
	{Thread: 2, Stack: "libpoll", At: []time.Duration{0, 10 * ms, 20 * ms, 3 * time.Second}},
	{Thread: 1, Stack: "main;query", Span: 7, At: []time.Duration{0}},
	{Thread: 1, Stack: "main", At: []time.Duration{20 * ms, 40 * ms}},
	{Thread: 1, At: []time.Duration{30 * ms}},
}

var messages = map[string]pprofile.Profiles{
	"wall":   timelinetest.Message("shop", timelinetest.Wall, shop...),
	"memory": timelinetest.Message("shop", timelinetest.Shape{Type: "space", Unit: "bytes"}, timelinetest.Sample{Stack: "main;a", Values: []int64{512}}, timelinetest.Sample{Stack: "main;b;c", Values: []int64{1 << 40}}),
	"counts": timelinetest.Message("shop", timelinetest.Shape{Type: "samples", Unit: "count"}, timelinetest.Sample{Stack: "main;a", Values: []int64{7}}),
}

func write(t testing.TB, f format, message pprofile.Profiles) []byte {
	var b bytes.Buffer
	w := f.create(&b)
	reader := timeline.NewReader(message.Dictionary())
	for _, p := range message.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().All() {
		require.NoError(t, w.Add(reader.Read(p), timeline.Filter{}))
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// content returns the part of a file that a round trip keeps: all of it, but of pprof the weights
// by stack and labels. The number of observations of a weight is not in the import, and a comment
// has the idle time.
func content(t testing.TB, name string, file []byte) string {
	if name != "pprof" {
		return string(file)
	}
	p, err := gopprof.ParseData(file)
	require.NoError(t, err)
	var text strings.Builder
	for _, s := range p.Sample {
		for _, l := range s.Location {
			for _, line := range l.Line {
				fmt.Fprintf(&text, "%s %s:%d:%d\n", line.Function.Name, line.Function.Filename, line.Line, line.Column)
			}
		}
		fmt.Fprintln(&text, s.Label, s.NumLabel, s.Value[len(s.Value)-1], p.SampleType[len(p.SampleType)-1].Type, p.TimeNanos, p.DurationNanos, p.Period)
	}
	return text.String()
}

// TestRoundTrips: a file that is read and written again is the same file.
func TestRoundTrips(t *testing.T) {
	for name, f := range formats {
		if f.create == nil {
			continue
		}
		for kind, message := range messages {
			t.Run(name+" "+kind, func(t *testing.T) {
				first := write(t, f, message)
				imported, losses, err := f.read(first, options)
				require.NoError(t, err)
				dictionarytest.MustBeValid(t, imported)
				assert.Equal(t, content(t, name, first), content(t, name, write(t, f, imported)))
				if name != "pprof" {
					assert.Empty(t, losses)
				}
			})
		}
	}
}

// TestBrokenFiles: damaged files give errors or valid profiles.
func TestBrokenFiles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, f := range formats {
		file := []byte(v8)
		if f.create != nil {
			file = write(t, f, messages["wall"])
		}
		if name == "pprof" { // the checksum of gzip would detect every change
			p, err := gopprof.ParseData(file)
			require.NoError(t, err)
			var plain bytes.Buffer
			require.NoError(t, p.WriteUncompressed(&plain))
			file = plain.Bytes()
		}
		usable := 0
		for range 300 {
			broken := bytes.Clone(file)
			for range 1 + random.IntN(3) {
				switch at := random.IntN(len(broken)); random.IntN(3) {
				case 0:
					broken[at] = byte(random.IntN(256))
				case 1:
					broken[at] = "0123456789-"[random.IntN(11)]
				default:
					broken = append(broken[:at:at], broken[min(at+random.IntN(9), len(broken)-1):]...)
				}
			}
			imported, _, err := f.read(broken, options)
			if err != nil {
				continue
			}
			usable++
			require.Empty(t, conformance.Check(imported), "%s: %q", name, broken)
		}
		t.Logf("%s: %d of 300 damaged files have usable samples", name, usable)
		assert.Positive(t, usable, name)
	}
}

// TestDeepStacks: one deep stack with many leaves is small in a file, and would be large in OTLP.
func TestDeepStacks(t *testing.T) {
	t.Parallel()
	depth := 5_000
	if testsize.Full() {
		depth = 50_000
	}
	var nodes, samples, deltas []string
	for i := range depth {
		nodes = append(nodes, fmt.Sprintf(`{"id":%d,"parent":%d,"callFrame":{"functionName":"f%d"}}`, i+1, i, i%3))
		samples, deltas = append(samples, fmt.Sprint(i+1)), append(deltas, "1")
	}
	file := `{"nodes":[` + strings.Join(nodes, ",") + `],"samples":[` + strings.Join(samples, ",") + `],"timeDeltas":[` + strings.Join(deltas, ",") + `]}`
	imported, losses, err := cpuprofile.Read([]byte(file), options)
	require.NoError(t, err)
	assert.Less(t, new(pprofile.ProtoMarshaler).ProfilesSize(imported), 10<<20)
	require.Len(t, losses, 1)
	assert.Contains(t, losses[0].What, "1024")

	var wide strings.Builder
	deep := strings.Repeat("a;", importer.MaxDepth-1)
	for i := range importer.MaxStackFrames/importer.MaxDepth + 10 {
		fmt.Fprintf(&wide, "%sleaf%d 1\n", deep, i)
	}
	_, losses, err = collapsed.Read([]byte(wide.String()), options)
	require.NoError(t, err)
	onlyLoss(t, losses, "too many frames", 10)
}

// onlyLoss checks that a reader reports one kind of loss.
func onlyLoss(t *testing.T, losses []importer.Loss, what string, count int) {
	t.Helper()
	require.Len(t, losses, 1)
	assert.Contains(t, losses[0].What, what)
	assert.Equal(t, count, losses[0].Count)
}

const v8 = `{"nodes":[
	{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"children":[2,4]},
	{"id":2,"callFrame":{"functionName":"main","scriptId":"1","url":"file:///app/shop.js","lineNumber":0,"columnNumber":4},"children":[3]},
	{"id":3,"callFrame":{"functionName":"","scriptId":"1","url":"file:///app/shop.js","lineNumber":9,"columnNumber":0}},
	{"id":4,"callFrame":{"functionName":"(idle)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}}],
	"startTime":1000000,"endTime":1004000,"samples":[2,3,4,2,9],"timeDeltas":[500,1000,1000,2000,1]}`

func TestCPUProfile(t *testing.T) {
	imported, losses, err := cpuprofile.Read([]byte(v8), options)
	require.NoError(t, err)
	dictionarytest.MustBeValid(t, imported)
	onlyLoss(t, losses, "node", 1)
	assert.Equal(t, "main 1001000\n(anonymous in shop.js) 1000000\n", leaves(imported), "the idle thread has none; the last sample has no duration")

	// A cycle of callers has no root.
	_, _, err = cpuprofile.Read([]byte(`{"nodes":[{"id":1,"parent":2},{"id":2,"parent":1}],"samples":[1,2,1],"timeDeltas":[1,1,1]}`), options)
	require.NoError(t, err)
}

// leaves returns the weights of leaf functions.
func leaves(message pprofile.Profiles) string {
	var b bytes.Buffer
	w := collapsed.NewWriter(&b)
	_ = w.Add(timelinetest.Read(message.Dictionary(), timelinetest.Profile(message)), timeline.Filter{})
	_ = w.Close()
	var text strings.Builder
	for line := range strings.Lines(b.String()) {
		text.WriteString(line[strings.LastIndex(line, ";")+1:])
	}
	return text.String()
}

// TestSpeedscopeEvents: calls that begin and end become samples of the time between two events.
func TestSpeedscopeEvents(t *testing.T) {
	imported, losses, err := speedscope.Read([]byte(`{"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":[{"type":"evented",
		"name":"main","unit":"milliseconds","startValue":1000,"endValue":1010,"events":[{"type":"O","frame":0,"at":1000},{"type":"O","frame":1,"at":1002},
		{"type":"C","frame":1,"at":1005},{"type":"C","frame":1,"at":1006},{"type":"C","frame":0,"at":1010}]}],"shared":{"frames":[{"name":"a"},{"name":"b"}]}}`), options)
	require.NoError(t, err)
	dictionarytest.MustBeValid(t, imported)
	assert.Equal(t, "a 7000000\nb 3000000\n", leaves(imported))
	onlyLoss(t, losses, "events", 1)
	assert.Equal(t, int64(timelinetest.Start), int64(timelinetest.Profile(imported).Time()))
}

func TestCollapsedLines(t *testing.T) {
	imported, losses, err := collapsed.Read([]byte("# a comment\n\nmain;operator new(unsigned long) 3\r\nmain;operator new(unsigned long) 4\nmain\n"), options)
	require.NoError(t, err)
	assert.Equal(t, "operator new(unsigned long) 7\n", leaves(imported))
	onlyLoss(t, losses, "lines", 1)

	imported, losses, err = collapsed.Read([]byte("# total 9\n#<Class:A>;b 1.5\r\n#<Class:A>;b 1.5\na;worker 12 3\n;c 2\n 4\n"), options)
	require.NoError(t, err)
	assert.Equal(t, "b 3\n(unknown) 4\nc 2\nworker 12 3\n", leaves(imported), "a comment is no name, a number may be one")
	onlyLoss(t, losses, "fractions", 2)

	_, _, err = collapsed.Read(nil, options)
	assert.ErrorIs(t, err, importer.ErrEmpty)
	_, _, err = collapsed.Read([]byte("A text\nwith lines\nof chapter 1\n"), options)
	assert.ErrorContains(t, err, "1 lines have")
	assert.ErrorContains(t, err, "2 have not")
}

// TestProcesses: the resources of all processes state the same schema and service.
func TestProcesses(t *testing.T) {
	b := importer.NewBuilder(importer.Options{Name: "shop"})
	for _, id := range []int64{7, 8} {
		b.Process(id, "")
		out := b.Profile(importer.Type{Shape: importer.Totals, Name: "samples", Unit: "count"})
		out.Add(importer.Sample{Node: b.Call(0, b.Frame(importer.Frame{Name: "main"})), Value: 1})
	}
	message, _, err := b.Finish()
	require.NoError(t, err)
	require.Equal(t, 2, message.ResourceProfiles().Len())
	for i, resource := range message.ResourceProfiles().All() {
		assert.Equal(t, map[string]any{semconv.ServiceName: "shop", semconv.ProcessPID: int64(7 + i)}, resource.Resource().Attributes().AsRaw())
		assert.Equal(t, semconv.SchemaURL, resource.SchemaUrl())
		assert.Equal(t, semconv.SchemaURL, resource.ScopeProfiles().At(0).SchemaUrl())
	}
}

// TestManyEntries: a file within the maximum size of an import has so many different frames, stacks
// or samples that its message would need gigabytes. Each limit is a loss, or an error.
func TestManyEntries(t *testing.T) {
	testsize.NeedFull(t) // hundreds of thousands of frames
	t.Parallel()
	var lines strings.Builder
	for i := range 350_000 {
		fmt.Fprintf(&lines, "%x 1\n", i)
	}
	imported, losses, err := collapsed.Read([]byte(lines.String()), options)
	require.NoError(t, err)
	assert.Less(t, imported.Dictionary().LocationTable().Len(), 265_000)
	assert.Less(t, timelinetest.Profile(imported).Samples().Len(), 265_000)
	require.Len(t, losses, 1, "the others are one frame")
	assert.Contains(t, losses[0].What, "262144")

	lines.Reset()
	for i := range 550 {
		for j := range 1_000 {
			fmt.Fprintf(&lines, "%x;%x 1\n", i, j)
		}
	}
	_, losses, err = collapsed.Read([]byte(lines.String()), options)
	require.NoError(t, err)
	var lost []string
	for _, l := range losses {
		lost = append(lost, l.What)
	}
	assert.Equal(t, []string{"samples beyond the maximum", "frames beyond 524288 different stacks"}, lost)

	for name, message := range map[string]string{"samples": "\x12\x00", "locations": "\x22\x00", "lines": "\x22\x04\x22\x00\x22\x00"} {
		_, _, err = pprof.Read([]byte(strings.Repeat(message, 2_000_000)), options)
		assert.ErrorContains(t, err, "more than 256", name)
	}
}
