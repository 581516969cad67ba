// SPDX-License-Identifier: Apache-2.0

package otlpjson_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/otlpjson"
)

const ms = time.Millisecond

var samples = []timelinetest.Sample{
	{Thread: 1, Stack: "main;handle;query", Span: 7, At: []time.Duration{0, 10 * ms, 30 * ms}},
	{Thread: 1, Stack: "main;handle", At: []time.Duration{20 * ms}},
	{Thread: 2, Stack: "poll", At: []time.Duration{0, 40 * ms}},
}

// written returns the message of a file with the selected samples of messages.
func written(t *testing.T, filter timeline.Filter, messages ...pprofile.Profiles) pprofile.Profiles {
	t.Helper()
	var b bytes.Buffer
	w := otlpjson.NewWriter(&b)
	for _, m := range messages {
		reader := timeline.NewReader(m.Dictionary())
		for _, resource := range m.ResourceProfiles().All() {
			for _, scope := range resource.ScopeProfiles().All() {
				for _, p := range scope.Profiles().All() {
					require.NoError(t, w.Add(resource, scope, reader.Read(p), filter))
				}
			}
		}
	}
	require.NoError(t, w.Close())
	out, err := (&pprofile.JSONUnmarshaler{}).UnmarshalProfiles(b.Bytes())
	require.NoError(t, err)
	if out.ResourceProfiles().Len() > 0 {
		assert.Empty(t, dictionarytest.Violations(out))
	}
	return out
}

// observation is one observation in words.
type observation struct {
	service, thread string
	at              time.Duration
	span            byte
	depth           int
}

func observations(m pprofile.Profiles) (list []observation) {
	reader := timeline.NewReader(m.Dictionary())
	for _, resource := range m.ResourceProfiles().All() {
		service, _ := resource.Resource().Attributes().Get("service.name")
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				p := reader.Read(profile)
				for thread, s := range p.Selected(timeline.Filter{}) {
					list = append(list, observation{
						service.Str(), p.Threads[thread].ID, time.Duration(s.Time - timelinetest.Start), p.Links[s.Link].Span[7], len(p.Stacks[s.Stack]),
					})
				}
			}
		}
	}
	return list
}

// TestSelection: the file has exactly the observations that the filter selects; the source does not
// change.
func TestSelection(t *testing.T) {
	message := timelinetest.Message("shop", timelinetest.Wall, samples...)
	before := pprofile.NewProfiles()
	message.CopyTo(before)
	all, second := observations(message), timeline.ThreadIndex(1)
	link := timeline.Link{Trace: timelinetest.Trace(7), Span: timelinetest.Span(7)}
	during := timeline.Range{From: timelinetest.Start + uint64(10*ms), To: timelinetest.Start + uint64(30*ms)}
	for name, c := range map[string]struct {
		filter timeline.Filter
		keep   func(observation) bool
		number int
	}{
		"all":    {timeline.Filter{}, func(observation) bool { return true }, 6},
		"thread": {timeline.Filter{Thread: &second}, func(o observation) bool { return o.thread == "2" }, 2},
		"span":   {timeline.Filter{Link: &link}, func(o observation) bool { return o.span == 7 }, 3},
		"range":  {timeline.Filter{Range: during}, func(o observation) bool { return o.at >= 10*ms && o.at < 30*ms }, 2},
		"none":   {timeline.Filter{Range: timeline.Range{From: 1, To: 2}}, func(observation) bool { return false }, 0},
	} {
		out := written(t, c.filter, message)
		want := slices.DeleteFunc(slices.Clone(all), func(o observation) bool { return !c.keep(o) })
		assert.ElementsMatch(t, want, observations(out), name)
		assert.Len(t, want, c.number, name)
	}
	assert.Equal(t, encoded(t, before), encoded(t, message))
}

func encoded(t *testing.T, m pprofile.Profiles) []byte {
	content, err := (&pprofile.ProtoMarshaler{}).MarshalProfiles(m)
	require.NoError(t, err)
	return content
}

// TestSeveralMessages: profiles of several messages share one dictionary; those of one resource
// stay together.
func TestSeveralMessages(t *testing.T) {
	two := timelinetest.Message("shop", timelinetest.Wall, samples...)
	profiles := two.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles()
	profiles.At(0).CopyTo(profiles.AppendEmpty())
	out := written(t, timeline.Filter{}, two, timelinetest.Message("cart", timelinetest.Wall, samples...))
	require.Equal(t, 2, out.ResourceProfiles().Len())
	assert.Equal(t, 2, out.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().Len())
	assert.Equal(t, two.Dictionary().FunctionTable().Len(), out.Dictionary().FunctionTable().Len())
	assert.Len(t, observations(out), 18)
}

// TestOriginalPayload: a profile that loses samples no longer matches its original.
func TestOriginalPayload(t *testing.T) {
	message, second := timelinetest.Message("shop", timelinetest.Wall, samples...), timeline.ThreadIndex(1)
	payload.Set(timelinetest.Profile(message), "sentry", []byte("{}"))
	assert.Equal(t, "{}", string(payload.Of(timelinetest.Profile(written(t, timeline.Filter{}, message)), "sentry")))
	assert.Empty(t, timelinetest.Profile(written(t, timeline.Filter{Thread: &second}, message)).OriginalPayloadFormat())
}

// TestValues: an observation and its value are removed together; totals have no time and are in no
// range.
func TestValues(t *testing.T) {
	shape := timelinetest.Shape{Type: "alloc_space", Unit: "bytes"}
	timed := timelinetest.Message("shop", shape, timelinetest.Sample{Stack: "a", At: []time.Duration{0, 10 * ms}, Values: []int64{5, 6}})
	total := timelinetest.Message("shop", shape, timelinetest.Sample{Stack: "b", Values: []int64{7}})
	late := timeline.Filter{Range: timeline.Range{From: timelinetest.Start + uint64(ms)}}
	out := timelinetest.Profile(written(t, late, timed))
	require.Equal(t, 1, out.Samples().Len())
	assert.Equal(t, []int64{6}, out.Samples().At(0).Values().AsRaw())
	assert.Equal(t, uint64(timelinetest.Start+uint64(ms)), uint64(out.Time()))
	assert.Equal(t, 0, written(t, late, total).SampleCount())
	assert.Equal(t, 1, written(t, timeline.Filter{}, total).SampleCount())
}

// TestTooLarge: the message and its JSON are in memory together.
func TestTooLarge(t *testing.T) {
	at := make([]time.Duration, otlpjson.MaxObservations/2+1)
	message := timelinetest.Message("shop", timelinetest.Wall, timelinetest.Sample{Stack: "a", At: at})
	resource := message.ResourceProfiles().At(0)
	p := timelinetest.Read(message.Dictionary(), timelinetest.Profile(message))
	w := otlpjson.NewWriter(&bytes.Buffer{})
	require.NoError(t, w.Add(resource, resource.ScopeProfiles().At(0), p, timeline.Filter{}))
	assert.ErrorIs(t, w.Add(resource, resource.ScopeProfiles().At(0), p, timeline.Filter{}), timeline.ErrTooLarge)
}
