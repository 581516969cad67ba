// SPDX-License-Identifier: Apache-2.0

package fromandroid

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace/arttracetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/perfetto"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/perfetto/perfettotest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/sentrytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/inapp"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

const (
	start  = 1_777_629_600_000_000_000
	period = 10 * time.Millisecond
)

// translate translates a trace to a message, and checks that it is valid OTLP.
func translate(t testing.TB, trace *Trace, start uint64) (pprofile.Profiles, pprofile.Profile) {
	out := pprofile.NewProfiles()
	b := dictionary.NewBuilder(out.Dictionary())
	defer b.Release()
	profile := out.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))
	dictionary.SetValueType(profile.PeriodType(), b.String(trace.PeriodType("wall")), b.String("nanoseconds"))
	dictionary.SetAttributes(profile.AttributeIndices(), trace.AddTo(profile, b, start)...)
	b.Finish()
	require.Empty(t, conformance.Check(out))
	return out, profile
}

// observedMethods returns the observations of a method trace as text, in the form of the goldens.
func observedMethods(o *arttrace.Observations) *sentrytest.Profile {
	var all sentrytest.Profile
	for _, run := range o.Runs {
		thread := o.Threads[run.Thread]
		sample := sentrytest.Sample{Thread: fmt.Sprint(thread.ID), ThreadName: thread.Name}
		for _, method := range slices.Backward(o.Stacks.At(run.Stack)) {
			m := o.Method(method)
			frame := sentrytest.Frame{Function: m.Name, Module: m.Class, Filename: m.File, Line: m.Line, Platform: "java"}
			if m.Class == "" {
				frame.Function = "unknown"
			} else {
				frame.InApp = fmt.Sprint(!inapp.IsJVMLibrary(m.Class))
			}
			sample.Stack = append(sample.Stack, frame)
		}
		for point := range uint64(run.Count) {
			sample.Time = (uint64(run.First) + point) * uint64(o.Period)
			all.Samples = append(all.Samples, sample)
		}
	}
	return &all
}

// TestMethodTraces: the profile has each observation of the trace, with its time and its stack.
func TestMethodTraces(t *testing.T) {
	for name, data := range golden.AndroidTraces(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkMethodTrace(t, name, data)
		})
	}
}

func checkMethodTrace(t *testing.T, name string, data []byte) {
	parsed, err := arttrace.Parse(data)
	require.NoError(t, err)
	observed, err := parsed.Observe(period, attr.SpareObservations)
	require.NoError(t, err)

	trace, err := MethodTrace(data, period, attr.SpareObservations)
	require.NoError(t, err)
	out, profile := translate(t, trace, start)
	require.Empty(t, golden.Observed(out.Dictionary(), profile).Diff(golden.Expected(observedMethods(observed), start)), name)
	assert.Zero(t, trace.Start, "the header counts from boot")
	assert.Empty(t, trace.Elements, name)
	assert.Equal(t, int64(period), profile.Period(), name)
	assert.InDelta(t, start+uint64(parsed.Elapsed), uint64(profile.Time())+profile.DurationNano(), float64(period), name)
	require.True(t, trace.HasThread(trace.MainThread()), name)
	t.Logf("%s: %d bytes, %d observations, %d samples", name, len(data), observed.Count, profile.Samples().Len())
}

// observedStacks returns the samples of a Perfetto trace as text, in the form of the goldens.
func observedStacks(trace *perfetto.Trace) *sentrytest.Profile {
	var all sentrytest.Profile
	for _, s := range trace.Samples {
		thread := trace.Threads[s.Thread]
		sample := sentrytest.Sample{Thread: fmt.Sprint(thread.TID), ThreadName: trace.Strings[thread.Name], Time: s.Time}
		for _, index := range trace.Stacks.At(s.Stack) {
			f := trace.Frames[index]
			m := trace.Mappings[f.Mapping]
			frame := sentrytest.Frame{Function: trace.Strings[f.Function], Filename: trace.Strings[f.File], Line: f.Line, Platform: "native", Package: trace.Strings[m.Path]}
			if m.Java {
				frame.Platform = "java"
				if dot := strings.LastIndexByte(frame.Function, '.'); dot > 0 {
					frame.Module, frame.Function = frame.Function[:dot], frame.Function[dot+1:]
					frame.InApp = fmt.Sprint(!inapp.IsJVMLibrary(frame.Module))
				}
			} else {
				frame.Address, _ = trace.Address(f)
			}
			sample.Stack = append(sample.Stack, frame)
		}
		all.Samples = append(all.Samples, sample)
	}
	return &all
}

// TestGeneratedPerfettoTraces: the traces in the tests of package perfetto become profiles with all
// of their samples.
func TestGeneratedPerfettoTraces(t *testing.T) {
	read := 0
	lines, err := os.ReadFile(filepath.Join(golden.Root(t), "internal/format/perfetto/testdata/oracle.jsonl"))
	require.NoError(t, err)
	for i, line := range bytes.Split(bytes.TrimSpace(lines), []byte("\n")) {
		var oracle struct{ Trace []byte }
		require.NoError(t, json.Unmarshal(line, &oracle))
		name, data := fmt.Sprint("line ", i+1), oracle.Trace
		parsed, err := perfetto.Parse(data)
		trace, failed := PerfettoTrace(data)
		if err != nil {
			require.Error(t, failed, name)
			continue
		}
		require.NoError(t, failed, name)
		out, profile := translate(t, trace, trace.Start)
		require.Empty(t, golden.Observed(out.Dictionary(), profile).Diff(golden.Expected(observedStacks(parsed), 0)), name)
		read++
	}
	require.Greater(t, read, 10)
}

// TestUnusableTraces: the reasons are those of Sentry's ingest.
func TestUnusableTraces(t *testing.T) {
	quiet := arttrace.Trace{Version: 3, Clock: arttrace.ClockDual, Elapsed: time.Second}
	many := quiet
	many.Methods = make([]arttrace.Method, 1<<18+1)
	for i := range many.Methods {
		many.Methods[i] = arttrace.Method{ID: uint32(i * 4), Class: "c"}
	}
	for name, test := range map[string]struct {
		read func() (*Trace, error)
		want discard.Reason
	}{
		"no method trace":   {func() (*Trace, error) { return MethodTrace([]byte("trace"), period, 0) }, discard.ReasonInvalidSampledProfile},
		"without records":   {func() (*Trace, error) { return MethodTrace(arttracetest.File(quiet, nil), period, 0) }, discard.ReasonNotEnoughSamples},
		"too many methods":  {func() (*Trace, error) { return MethodTrace(arttracetest.File(many, nil), period, 0) }, discard.ReasonExceedSizeLimit},
		"no Perfetto trace": {func() (*Trace, error) { return PerfettoTrace([]byte{0xff}) }, discard.ReasonInvalidSampledProfile},
		"without samples":   {func() (*Trace, error) { return PerfettoTrace(perfettotest.Trace(perfettotest.Snapshot())) }, discard.ReasonNotEnoughSamples},
		"without a snapshot": {func() (*Trace, error) {
			return PerfettoTrace(perfettotest.Trace(small(), perfettotest.Sample(0, 40, 1)))
		}, discard.ReasonInvalidSampledProfile},
		"packet of 4 MiB": {func() (*Trace, error) { return PerfettoTrace(perfettotest.Trace(make([]byte, 4<<20+1))) }, discard.ReasonExceedSizeLimit},
	} {
		trace, err := test.read()
		require.Nil(t, trace, name)
		var why *discard.Error
		require.ErrorAs(t, err, &why, name)
		assert.Equal(t, test.want, why.Reason, name)
	}
}

func small() []byte {
	return perfettotest.Interned(5, perfettotest.Text(1, "f"), 6, perfettotest.Frame(1, 1, 0, 7), 7, perfettotest.Callstack(1, 1))
}

// TestGrowth: the size of a translated trace is bounded by its own size and the spare observations,
// for one long text and many records.
func TestGrowth(t *testing.T) {
	const spare = 1 << 12
	long := strings.Repeat("x", 5000)
	trace := arttrace.Trace{Version: 2, Clock: arttrace.ClockWall, Elapsed: 66 * time.Second,
		Threads: []arttrace.Thread{{ID: 1, Name: long}}, Methods: []arttrace.Method{{ID: 4, Class: long, Name: long, Signature: long, File: long, Line: 1}}}
	var threads, calls, stacks []arttrace.Event
	for i := range uint32(5000) {
		threads = append(threads, arttrace.Event{Thread: uint16(i), Method: 4})
		calls = append(calls, arttrace.Event{Thread: 1, Method: 4 * i, Wall: i * 10_000})
		stacks = append(stacks, arttrace.Event{Thread: 1, Method: 4, Wall: i * 10_000}, arttrace.Event{Thread: 1, Method: 4 * i, Action: arttrace.Exit, Wall: i * 10_000})
	}
	for name, events := range map[string][]arttrace.Event{
		"one long thread": {{Thread: 1, Method: 4}}, "many threads": threads, "deeper and deeper": calls, "many records": stacks,
	} {
		data := arttracetest.File(trace, events)
		read, err := MethodTrace(data, period, spare)
		if err != nil {
			require.ErrorContains(t, err, string(discard.ReasonExceedSizeLimit), name)
			continue
		}
		require.LessOrEqual(t, read.Spent, spare, name)
		out, _ := translate(t, read, start)
		// Base64 encodes three bytes as four.
		assert.LessOrEqual(t, new(pprofile.ProtoMarshaler).ProfilesSize(out), attr.MaxGrowth*len(data)*4/3+8*spare+attr.MaxOverhead, name)
	}
}
