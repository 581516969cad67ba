// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/sentrytest"
)

// spelledOut is a decoded profile in the oracle's terms.
func spelledOut(s *Sampled) *sentrytest.Profile {
	p := &sentrytest.Profile{Lost: map[string]int{}}
	for _, loss := range s.Lost {
		p.Lost[string(loss.Reason)] += loss.Count
	}
	stacks := make([][]sentrytest.Frame, s.Stacks.Len())
	for i, stack := range s.Samples.Stack {
		if stacks[stack] == nil {
			stacks[stack] = []sentrytest.Frame{}
			for _, f := range s.Stacks.At(stack) {
				stacks[stack] = append(stacks[stack], frameInWords(s.Frames[f]))
			}
		}
		thread, queue := s.Threads[s.Samples.Thread[i]], Queue{}
		if len(s.Samples.Queue) > 0 {
			queue = s.Queues[s.Samples.Queue[i]]
		}
		priority := ""
		if thread.Priority != nil {
			priority = strconv.FormatInt(*thread.Priority, 10)
		}
		p.Samples = append(p.Samples, sentrytest.Sample{
			Time: s.Samples.Time[i], Thread: thread.ID, ThreadName: thread.Name, Priority: priority,
			Queue: queue.Address, QueueLabel: queue.Label, Stack: stacks[stack],
		})
	}
	return p
}

func frameInWords(f Frame) sentrytest.Frame {
	return sentrytest.Frame{
		Function: f.Function, Module: f.Module, Filename: f.Filename, AbsPath: f.AbsPath, Package: f.Package,
		Platform: f.Platform, Line: f.Line, Column: f.Column, Address: f.InstructionAddr,
		InApp: map[InApp]string{InAppFalse: "false", InAppTrue: "true"}[f.InApp],
	}
}

// checkAgainstOracle decodes a payload both ways and compares verdict and model, in both formats.
func checkAgainstOracle(t *testing.T, payload []byte) {
	t.Helper()
	checkFormat(t, formatV1, payload)
	checkFormat(t, formatV2, payload)
}

func checkFormat(t *testing.T, f format, payload []byte) {
	t.Helper()
	before := string(payload)
	want, wantErr := sentrytest.Read(int(f), payload)

	d := AcquireDecoder()
	defer d.Release()
	d.reset(f, payload)
	found, err := d.document(fields{})
	require.Equal(t, before, string(payload), "the decoder changed its input")
	var discarded *discard.Error
	if errors.As(err, &discarded) && discarded.Reason == discard.ReasonTooDeep {
		require.Greater(t, strings.Count(before, "[")+strings.Count(before, "{"), jsonscan.MaxJSONDepth)
		return
	}
	if wantErr != nil {
		require.Error(t, err, "encoding/json refuses this: %v", wantErr)
		return
	}
	require.NoError(t, err)
	require.True(t, !found.profile || json.Valid(payload))

	sampled := d.resolve()
	got := spelledOut(&sampled)
	require.Equal(t, want.Lost, got.Lost)
	require.Len(t, got.Samples, len(want.Samples))
	for i := range want.Samples {
		a, b := want.Samples[i], got.Samples[i]
		a.Priority, b.Priority = strings.TrimPrefix(a.Priority, "-0"), strings.TrimPrefix(b.Priority, "-0")
		if a.StackText() != b.StackText() {
			require.Equal(t, a.StackText(), b.StackText(), "stack of sample %d", i)
		}
		a.Stack, b.Stack = nil, nil
		if a.Priority == "" && b.Priority == "0" {
			b.Priority = "" // "-0"
		}
		if a.Thread != b.Thread || a.Time != b.Time || a.ThreadName != b.ThreadName || a.Queue != b.Queue ||
			a.QueueLabel != b.QueueLabel || a.Priority != b.Priority {
			require.Equal(t, a, b, "sample %d", i)
		}
	}
}

const smallChunk = `{"version":"2","profiler_id":"1c6f0e4f0b2a4c3d8e9f00112233aabb","chunk_id":"90ab12cd34ef56ab78cd90ef12ab34cd",
 "platform":"go","release":"api@1.2.3","environment":"prod","client_sdk":{"name":"sentry.go","version":"0.1.0"},
 "profile":{
  "frames":[{"function":"(*Server).handle","module":"example.com/api","filename":"server.go","abs_path":"/src/server.go","lineno":80,"in_app":true},
            {"function":"main","module":"main","filename":"main.go","lineno":10,"colno":2,"in_app":false,"instruction_addr":"0x1f"}],
  "stacks":[[0,1],[]],
  "samples":[{"timestamp":1777629600.000,"thread_id":"1","stack_id":0},{"timestamp":1777629600.0100001,"thread_id":"1","stack_id":1}],
  "thread_metadata":{"1":{"name":"main","priority":3},"2":{"name":"other"}}}}`

const smallProfile = `{"version":"1","event_id":"0f3cb15cce4a4e5d9d5b0f1c3b7a1e20","platform":"cocoa",
 "timestamp":"2026-05-01T10:00:00.000000Z","transaction":{"id":"7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5e6","name":"/cart","active_thread_id":140213},
 "profile":{"frames":[{"name":"render","file":"shop/cart.py","line":12},{"instruction_addr":4096,"package":"/usr/lib/x.dylib","platform":"native"}],
   "stacks":[[0,1]],"queue_metadata":{"0x1":{"label":"com.apple.main-thread"}},
   "samples":[{"elapsed_since_start_ns":"1000000","thread_id":"140213","stack_id":0,"queue_address":"0x1"},
              {"elapsed_since_start_ns":11000000,"thread_id":140213,"stack_id":0}]}}`

// seeds are payloads with one oddity each; the fuzzer starts from them and the test below sees them
// all.
var seeds = []string{
	smallChunk, smallProfile,
	``, `{}`, `[]`, `null`, `{"profile":null}`, `{"profile":[]}`, `{"profile":{"samples":null,"stacks":null,"frames":null}}`,
	`{"profile":{"samples":{},"stacks":3,"frames":"x"}}`, `{"profile":{}} x`, `{"profile":{},}`, `{"profile":{}`, `{"a":01}`, `{"a":"` + "\x01" + `"}`,
	`{"profile":{"samples":[{"timestamp":1,"thread_id":"1","stack_id":-1},{"timestamp":1,"thread_id":"1","stack_id":7},{"timestamp":1,"thread_id":"1"},7,null]}}`,
	`{"profile":{"stacks":[[0],[1],[-1],[0.5],["0"],null,7,[]],"frames":[{}],"samples":[
	  {"timestamp":1e3,"thread_id":"a","stack_id":0},{"timestamp":1,"thread_id":"a","stack_id":1},{"timestamp":1,"thread_id":"a","stack_id":2},
	  {"timestamp":1,"thread_id":"b","stack_id":3},{"timestamp":1,"thread_id":"a","stack_id":4},{"timestamp":1,"thread_id":"a","stack_id":5},
	  {"timestamp":1,"thread_id":"b","stack_id":6},{"timestamp":1,"thread_id":"b","stack_id":7}]}}`,
	`{"profile":{"stacks":[[]],"samples":[{"timestamp":-1,"thread_id":1,"stack_id":0},{"timestamp":-0.0,"thread_id":1,"stack_id":0},
	  {"timestamp":1e99,"thread_id":1,"stack_id":0},{"timestamp":1e-99,"thread_id":1,"stack_id":0},{"timestamp":"12.5","thread_id":1,"stack_id":0},
	  {"timestamp":8589934591.9999999996,"thread_id":1,"stack_id":0},{"timestamp":17952240530711603e-7,"thread_id":1,"stack_id":0},
	  {"timestamp":0.00000000049,"thread_id":1,"stack_id":0},{"timestamp":1795223553.28100015,"thread_id":1.5,"stack_id":0},
	  {"timestamp":1795223553.2810001,"thread_id":-1,"stack_id":0 },{"timestamp":null,"thread_id":"","stack_id":0},
	  {"timestamp":1795223553.2810000005,"thread_id":"\u00e9","stack_id":0},{"timestamp":1795223553.,"thread_id":"x","stack_id":0}]}}`,
	`{"profile":{"stacks":[[]],"samples":[{"elapsed_since_start_ns":"18446744073709551615","thread_id":"1","stack_id":0},
	  {"elapsed_since_start_ns":"18446744073709551616","thread_id":"1","stack_id":0},{"elapsed_since_start_ns":1.0,"thread_id":"1","stack_id":0},
	  {"elapsed_since_start_ns":"","thread_id":"1","stack_id":0},{"elapsed_since_start_ns":"8589934591999999999","thread_id":"1","stack_id":0},
	  {"elapsed_since_start_ns":true,"thread_id":"1","stack_id":0},{"elapsed_since_start_ns":"-5","thread_id":"1","stack_id":0}]}}`,
	`{"pr\u006ffile":{"stacks":[[0,1,2,3]],"samples":[{"timestamp":1,"thread_id":"t","stack_id":0}],"frames":[
	  {"function":"a\"b\\c\/d\ud83d\ude00\ud800","lineno":4294967295,"colno":4294967296},{"function":null,"lineno":"7","in_app":null,"instruction_addr":"12"},
	  {"function":3,"module":{},"lineno":-1,"colno":1.5,"in_app":"yes","instruction_addr":"0xzz"},{"functio\u006e":"x","package":"p","vars":{"a":[1,{"b":null}]}}]}}`,
	"{\"profile\":{\"stacks\":[[0]],\"samples\":[{\"timestamp\":1,\"thread_id\":\"\xff\xfe\",\"stack_id\":0}],\"frames\":[{\"function\":\"caf\xc3\xa9 \xe2\x82\"}]}}",
	`{"profile":{"samples":[{"timestamp":1,"thread_id":"a","stack_id":0},{"timestamp":2,"thread_id":"b","stack_id":0}],"samples":[{"timestamp":3,"thread_id":"c","stack_id":0}],"stacks":[],"stacks":[[0]],"frames":[],"frames":[{}]}}`,
	`{"profile":{"thread_metadata":{"a":{"name":3,"priority":1},"a":{"name":"x","priority":1.5},"b":null},"stacks":[[]],"samples":[{"timestamp":1,"thread_id":"a","stack_id":0},{"timestamp":1,"thread_id":"b","stack_id":0}]}}`,
	`{"profile":{"samples":[{}],"samples":[]}}`,
	strings.Repeat(`[`, 1000) + strings.Repeat(`]`, 1000),
	`{"a":` + strings.Repeat(`[`, 127) + strings.Repeat(`]`, 127) + `}`,
}

func TestDecoderAgreesWithEncodingJSON(t *testing.T) {
	for _, seed := range seeds {
		t.Run("", func(t *testing.T) { checkAgainstOracle(t, []byte(seed)) })
		for cut := range min(len(seed), 900) {
			checkAgainstOracle(t, []byte(seed[:cut]))
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		checkAgainstOracle(t, payload)
		d := AcquireDecoder()
		defer d.Release()
		if p, err := d.Profile(payload); err == nil {
			BrokenRules(Subject{Profile: p, Number: 1, Size: len(payload)})
		}
		if c, err := d.Chunk(payload); err == nil {
			BrokenRules(Subject{Chunk: c, Number: 1, Size: len(payload)})
		}
	})
}

// TestAndroid: the trace of a profile of Android is taken out of its base64, and its measurements
// and the JavaScript beside it are decoded.
func TestAndroid(t *testing.T) {
	const (
		jsV1 = `"js_profile":{"samples":[{"elapsed_since_start_ns":"5","thread_id":"7","stack_id":0}],"stacks":[[0]],"frames":[{"function":"render"}],` +
			`"thread_metadata":{"7":{"name":"JavaScriptThread"}}}`
		jsV2   = `"js_profile":{"samples":[{"timestamp":1777629600.5,"thread_id":"7","stack_id":0}],"stacks":[[0]],"frames":[{"function":"render"}]}`
		trace  = `"sampled_profile":"KnZlcnNpb24",`
		rest   = `"platform":"android","debug_meta":{"images":[{"type":"proguard","uuid":"a"},{"type":"sourcemap","debug_id":"b"}]},`
		legacy = `"device_model":"Pixel","device_os_name":"android","transaction_id":"t","transaction_name":"n","trace_id":"i","active_thread_id":"1",` +
			`"measurements":{"cpu":{"unit":"percent","values":[{"elapsed_since_start_ns":1,"value":2}]}},`
		chunk = `"chunk_id":"c","timestamp":1777629600.25,"measurements":{"cpu":{"unit":"percent","values":[{"timestamp":1,"value":2}]}},`
	)
	d := new(Decoder)
	p, err := d.Profile([]byte(`{` + rest + trace + legacy + jsV1 + `}`))
	require.NoError(t, err)
	require.Equal(t, &Android{MethodTrace: []byte("*version")}, p.Android)
	require.Equal(t, "1", p.Version)
	require.Equal(t, "android", p.Platform)
	require.Equal(t, []uint64{5}, p.Samples.Time)
	require.Equal(t, []Thread{{ID: "7", Name: "JavaScriptThread"}}, p.Threads)
	require.Equal(t, []Image{{Type: "proguard", UUID: "a"}}, p.DebugMeta.WithoutSourceMaps().Images)
	require.Equal(t, &ProfileTransaction{ID: "t", Name: "n", TraceID: "i", ActiveThreadID: jsonscan.Decimal{Text: "1"}}, p.Transaction)
	require.Equal(t, "Pixel", *p.Device.Model)
	require.Len(t, p.Measurements, 1)

	js := p.JavaScript()
	require.Nil(t, js.Android)
	require.Equal(t, "javascript", js.Platform)
	require.Equal(t, []Image{{Type: "sourcemap", DebugID: "b"}}, js.DebugMeta.Images)
	require.Equal(t, &ProfileTransaction{ID: "t", Name: "n", TraceID: "i", ActiveThreadID: jsonscan.Decimal{Text: "7"}}, js.Transaction)
	require.Equal(t, "1", p.Transaction.ActiveThreadID.Text, "the profile of the trace keeps its own")
	require.Len(t, p.DebugMeta.Images, 2)

	for _, payload := range []string{`{` + rest + legacy + `"x":1}`, `{` + rest + trace + legacy + `"js_profile":null}`, `{` + rest + legacy + `"js_profile":{"samples":[]}}`} {
		p, err = d.Profile([]byte(payload))
		require.NoError(t, err, payload)
		require.Zero(t, p.Samples.Len(), payload)
		require.Len(t, p.Measurements, 1, payload)
	}

	for _, version := range []string{``, `"version":"2",`, `"version":"2.android-trace",`} {
		c, err := d.Chunk([]byte(`{` + version + rest + trace + chunk + jsV2 + `}`))
		require.NoError(t, err)
		require.Equal(t, &Android{MethodTrace: []byte("*version"), Timestamp: jsonscan.Timestamp{UnixNano: 1777629600_250000000, Set: true}}, c.Android)
		require.Equal(t, "2", c.Version)
		require.Equal(t, 1, c.Samples.Len())
		require.Len(t, c.Measurements, 1)
		require.Equal(t, "javascript", c.JavaScript().Platform)
	}
	_, err = d.Chunk([]byte(`{"version":"2.android-trace",` + rest + chunk + jsV2 + `}`))
	require.ErrorContains(t, err, string(discard.ReasonPlatformNotSupported), "no trace")

	c, err := d.Perfetto([]byte(`{"version":"2","content_type":"perfetto",`+rest+chunk+`"x":1}`), []byte("binary"))
	require.NoError(t, err)
	require.Equal(t, []byte("binary"), c.Android.PerfettoTrace)
	require.Nil(t, c.Android.Unusable)
	require.Equal(t, "c", c.ChunkID)
	require.Len(t, c.Measurements, 1)

	p, err = d.Profile([]byte(`{"version":"1","platform":"cocoa",` + jsV1 + `,"profile":{"samples":[{"elapsed_since_start_ns":"9","thread_id":"1","stack_id":0}],"stacks":[[]]}}`))
	require.NoError(t, err)
	require.Equal(t, []uint64{9}, p.Samples.Time, "of other profiles it says nothing")
	require.Nil(t, p.Android)
}

// TestBase64: the forms of base64 that SDKs send, and those of other writers.
func TestBase64(t *testing.T) {
	for value, want := range map[string]string{
		`"/v7+/v4"`: "\xfe\xfe\xfe\xfe\xfe", `"/v7+/v4="`: "\xfe\xfe\xfe\xfe\xfe", `"\/v7+\/v4=\n"`: "\xfe\xfe\xfe\xfe\xfe",
		`"/v7\r\n+/v4"`: "\xfe\xfe\xfe\xfe\xfe", `""`: "", `"AA=="`: "\x00",
	} {
		got, why := decodeBase64([]byte(value))
		require.Nil(t, why, value)
		require.Equal(t, want, string(got), value)
	}
	for _, value := range []string{`"_v7-_v4"`, `"A"`, `"/v7=/v4"`, `7`, `{}`, `["AA"]`} {
		_, why := decodeBase64([]byte(value))
		require.NotNil(t, why, value)
		require.Equal(t, discard.ReasonInvalidBase64, why.Reason, value)
	}
}

// TestMappingByBuildID: older SDKs name the ProGuard mapping of their app beside debug_meta.
func TestMappingByBuildID(t *testing.T) {
	d := new(Decoder)
	c, err := d.Chunk([]byte(`{"platform":"android","sampled_profile":"","build_id":"u"}`))
	require.NoError(t, err)
	require.Equal(t, []Image{{Type: "proguard", UUID: "u"}}, c.DebugMeta.Images)
	c, err = d.Chunk([]byte(`{"platform":"android","sampled_profile":"","build_id":"u","debug_meta":{"images":[{"type":"jvm"}]}}`))
	require.NoError(t, err)
	require.Equal(t, []Image{{Type: "jvm"}}, c.DebugMeta.Images)
}
