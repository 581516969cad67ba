// SPDX-License-Identifier: Apache-2.0

package processor

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace/arttracetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

const (
	androidRecordings = "testdata/android/"
	androidBuild      = "5f3c1ab0-8d4a-4e65-9b0c-73656e747279"
	proguardImage     = `"debug_meta":{"images":[{"type":"proguard","uuid":"` + androidBuild + `"}]},`
)

// TestSymbolicateAndroid: a program has recorded its stacks, before and after R8
// (testdata/android/build). A method trace of ART and a chunk with lines of the obfuscated stacks
// get the names, files and lines of the original. Sentry still gets the obfuscated frames.
func TestSymbolicateAndroid(t *testing.T) {
	a := startAndroid(t)
	original, obfuscated := javaStacks(t, "plain.txt"), javaStacks(t, "obfuscated.txt")
	require.Len(t, obfuscated, len(original))
	inlined := 0
	for i, stack := range obfuscated {
		var frames, locations []string
		for n, f := range stack {
			frames = append(frames, fmt.Sprintf(`{"function":%q,"module":%q,"filename":%q,"lineno":%d}`, f.method, f.class, f.file, f.line))
			locations = append(locations, strconv.Itoa(n))
		}
		withLines := a.symbolicate(t, stack, func(id string) harness.Request {
			return harness.Chunk{ID: id, Platform: "android", Frames: strings.Join(frames, ","), Stacks: "[" + strings.Join(locations, ",") + "]",
				Samples: harness.TwoSamples, More: proguardImage}.Request()
		})
		var want []string
		for _, f := range original[i] {
			want = append(want, fmt.Sprintf("%s.%s %s:%d", f.class, f.method, f.file, f.line))
		}
		assert.Equal(t, want, slices.Concat(withLines...), "with lines")
		inlined += len(want) - len(stack)

		trace := base64.StdEncoding.EncodeToString(artTrace(stack))
		withoutLines := a.symbolicate(t, stack, func(id string) harness.Request {
			return harness.ItemRequest("profile_chunk", fmt.Sprintf(`{"platform":"android","chunk_id":"%s","profiler_id":"%s","timestamp":1700000000.5,"release":"shop@1.0",%s"sampled_profile":"%s"}`,
				id, harness.NewID(), proguardImage, trace))
		})
		for n := range stack { // inlined functions are known if all lines of the method have them
			got, want := names(withoutLines[n]), names(withLines[n])
			require.NotEmpty(t, got)
			assert.Equal(t, want[max(0, len(want)-len(got)):], got, "method trace")
		}
	}
	assert.Positive(t, inlined, "functions that R8 inlined")
}

// names returns functions without their files and lines.
func names(functions []string) (names []string) {
	for _, f := range functions {
		name, _, _ := strings.Cut(f, " ")
		names = append(names, name)
	}
	return names
}

// android is a collector that symbolicates with the mapping of the recorded program, and sends to
// an OTLP backend and to Sentry.
type android struct {
	*harness.Collector
	backend *harness.Sink
	sentry  *fakesentry.Server
}

func startAndroid(t *testing.T) *android {
	directory := t.TempDir()
	mapping, err := os.ReadFile(androidRecordings + "mapping.txt")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(directory, androidBuild+".txt"), mapping, 0o644))
	a := &android{backend: harness.NewSink(t), sentry: fakesentry.Start(t)}
	a.Collector = harness.Start(t, harness.Settings{Config: fmt.Sprintf(`
receivers: {sentry: {endpoint: "ENDPOINT"}}
processors: {symbolicate: {store: {directory: "%s"}}}
exporters:
  otlp_http: {endpoint: "%s", sending_queue: {enabled: false}}
  sentry_envelope: {dsn: "%s"}
service: {pipelines: {profiles: {receivers: [sentry], processors: [symbolicate], exporters: [otlp_http, sentry_envelope]}}}
`, directory, a.backend.URL(), a.sentry.DSN())})
	return a
}

// symbolicate sends a profile of one stack until the mapping is open. It returns the functions of
// each frame, and checks that Sentry got the raw frames.
func (a *android) symbolicate(t *testing.T, raw []javaFrame, request func(id string) harness.Request) (named [][]string) {
	id := ""
	require.Eventually(t, func() bool {
		id = harness.NewID()
		got := a.Send(t, request(id))
		require.Equal(t, http.StatusOK, got.Status, got.Body)
		p, err := harness.DecodeProfiles(a.backend.OneProfile(t))
		require.NoError(t, err)
		named = longestStack(p)
		return slices.Contains(p.Dictionary().StringTable().AsRaw(), "symbolication.status")
	}, time.Minute, 100*time.Millisecond)
	require.Len(t, named, len(raw))

	type frame struct{ Function, Module string }
	var got, want []frame
	require.Eventually(t, func() bool {
		for _, e := range a.sentry.Taken() {
			if payload := string(e.Items[0].Payload); strings.Contains(payload, id) {
				var chunk struct{ Profile struct{ Frames []frame } }
				require.NoError(t, json.Unmarshal(e.Items[0].Payload, &chunk))
				got = chunk.Profile.Frames
			}
		}
		return got != nil
	}, time.Minute, 10*time.Millisecond)
	for _, f := range raw {
		want = append(want, frame{f.method, f.class})
	}
	assert.ElementsMatch(t, want, got, "Sentry")
	return named
}

// longestStack returns the functions of the longest stack: by frame, innermost first.
func longestStack(p pprofile.Profiles) (frames [][]string) {
	profile := timeline.NewReader(p.Dictionary()).Read(p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0))
	longest := slices.MaxFunc(profile.Stacks, func(a, b timeline.Stack) int { return len(a) - len(b) })
	for _, location := range longest {
		var functions []string
		for _, line := range profile.Locations[location].Lines {
			f := profile.Frames[line.Frame]
			name := f.Name
			if !strings.Contains(name, ".") { // inlined functions of other classes have their class in the name
				name = f.Module + "." + name
			}
			functions = append(functions, fmt.Sprintf("%s %s:%d", name, f.File, line.Line))
		}
		frames = append(frames, functions)
	}
	return frames
}

// javaFrame is a frame that the program printed.
type javaFrame struct {
	class, method, descriptor, file string
	line                            int
}

func javaStacks(t *testing.T, name string) (stacks [][]javaFrame) {
	text, err := os.ReadFile(androidRecordings + name)
	require.NoError(t, err)
	for _, paragraph := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		var stack []javaFrame
		for _, line := range strings.Split(paragraph, "\n") {
			parts := strings.Split(line, "\t")
			require.Len(t, parts, 5, line)
			number, err := strconv.Atoi(parts[4])
			require.NoError(t, err)
			stack = append(stack, javaFrame{parts[0], parts[1], parts[2], parts[3], number})
		}
		stacks = append(stacks, stack)
	}
	return stacks
}

// artTrace returns a method trace of 50 ms in which a thread is in the stack. Like most traces of
// ART, it has no lines.
func artTrace(stack []javaFrame) []byte {
	trace := arttrace.Trace{Version: 3, Clock: arttrace.ClockWall, Elapsed: 50 * time.Millisecond, Threads: []arttrace.Thread{{ID: 1, Name: "main"}}}
	var events []arttrace.Event
	for n, f := range slices.Backward(stack) {
		id := uint32(4 * (n + 1))
		trace.Methods = append(trace.Methods, arttrace.Method{ID: id, Class: f.class, Name: f.method, Signature: f.descriptor, File: f.file})
		events = append(events, arttrace.Event{Thread: 1, Method: id})
	}
	return arttracetest.File(trace, events)
}
