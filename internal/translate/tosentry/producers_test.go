// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/sentrytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/producers"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// chunk has the fields of an item that the oracle does not read.
type chunk struct {
	*sentrytest.Profile `json:"-"`
	ProfilerID          string `json:"profiler_id"`
	Release             string `json:"release"`
}

func chunksOf(t *testing.T, out Export) (chunks []chunk) {
	t.Helper()
	for i := range out.Items {
		var c chunk
		require.NoError(t, json.Unmarshal(out.Items[i].Payload, &c))
		read, err := sentrytest.Read(2, out.Items[i].Payload)
		require.NoError(t, err)
		c.Profile = read
		chunks = append(chunks, c)
	}
	return chunks
}

// All time that async-profiler measured is in the output, for each thread, with readable names.
func TestAsyncProfiler(t *testing.T) {
	for engine, p := range producers.AsyncProfiler(t) {
		t.Run(engine, func(t *testing.T) {
			profile := p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0)
			want := map[string]float64{}
			for _, s := range profile.Samples().All() {
				name := ""
				if s.AttributeIndices().Len() > 0 {
					name = p.Dictionary().AttributeTable().At(int(s.AttributeIndices().At(0))).Value().Str()
				}
				want[name] += float64(s.Values().At(0) * profile.Period())
			}
			out := checkExport(t, p, exportOptions)
			require.Empty(t, out.Lost)
			got, names := map[string]float64{}, map[string]bool{}
			for _, chunk := range chunksOf(t, out) {
				last := map[string]int{}
				for i, s := range chunk.Samples {
					if j, has := last[s.Thread]; has && len(chunk.Samples[j].Stack) > 0 {
						got[s.Thread] += float64(s.Time - chunk.Samples[j].Time)
					}
					last[s.Thread] = i
					for _, frame := range s.Stack {
						names[frame.Function] = true
					}
				}
			}
			require.Len(t, got, len(want))
			for thread, time := range want {
				if engine == "4.5-wall" { // threads exist for the whole profile, even if some samples are missing
					time = max(time, float64(profile.DurationNano()))
				}
				require.InDelta(t, time, got[thread], 0.02*time+1e6, "%s: %v", thread, got)
			}
			require.Contains(t, strings.Join(keysOf(names), " "), "checkout")
		})
	}
}

func keysOf(names map[string]bool) (keys []string) {
	for name := range names {
		keys = append(keys, name)
	}
	return keys
}

// Each process of each host is one session with all of its samples, and is the same session in
// every message.
func TestEBPFProcesses(t *testing.T) {
	const processes = 3
	samples := map[string]int{}
	for _, host := range []string{"a", "b"} {
		for message := range uint64(2) {
			out := checkExport(t, producers.EBPF(host, processes, someTime+message*5_000_000_000), exportOptions)
			require.Equal(t, []discard.Loss{{Reason: ReasonNotTime, Count: processes * producers.EBPFSamples}}, out.Lost, "off CPU")
			for _, chunk := range chunksOf(t, out) {
				require.Equal(t, "shop@7", chunk.Release)
				for _, s := range chunk.Samples {
					if len(s.Stack) > 0 {
						samples[chunk.ProfilerID]++
						require.True(t, strings.HasPrefix(s.Stack[0].Function, "handle_"), "%v", s.Stack)
					}
				}
			}
		}
	}
	require.Len(t, samples, 2*processes)
	for session, n := range samples {
		require.GreaterOrEqual(t, n, 2*producers.EBPFSamples, session)
	}
}

// A recording of the eBPF profiler: each of three processes is one session with all its samples,
// its release and its names.
func TestEBPFRecording(t *testing.T) {
	type process struct {
		release string
		samples int
	}
	want, sessions, names := map[int64]process{}, map[string]process{}, map[string]bool{}
	for _, p := range producers.EBPFRecording(t) {
		for _, resource := range p.ResourceProfiles().All() {
			pid, _ := resource.Resource().Attributes().Get("process.pid")
			sum := want[pid.Int()].samples
			for _, s := range resource.ScopeProfiles().At(0).Profiles().At(0).Samples().All() {
				sum += s.TimestampsUnixNano().Len()
			}
			want[pid.Int()] = process{producers.EBPFProcesses[pid.Int()], sum}
		}
		out := checkExport(t, p, exportOptions)
		require.Empty(t, out.Lost)
		for i, chunk := range chunksOf(t, out) {
			sessions[chunk.ProfilerID] = process{chunk.Release, sessions[chunk.ProfilerID].samples + out.Items[i].Count}
			busy := 0
			for _, s := range chunk.Samples {
				busy += min(1, len(s.Stack))
				for _, frame := range s.Stack {
					names[frame.Function] = true
				}
			}
			require.GreaterOrEqual(t, busy, out.Items[i].Count)
		}
	}
	require.Len(t, sessions, 3)
	require.ElementsMatch(t, slices.Collect(maps.Values(want)), slices.Collect(maps.Values(sessions)))
	for _, name := range []string{"work_loop", "inner", "checkout", "hash", "Sum256"} {
		require.Contains(t, names, name)
	}
}

// A batch of the recording is one chunk for each process and minute, with the samples of the chunks
// that its messages become one by one.
func TestEBPFRecordingInBatch(t *testing.T) {
	messages := producers.EBPFRecording(t)
	samplesOf := func(messages ...pprofile.Profiles) (samples map[string]int, count, chunks int) {
		samples = map[string]int{}
		for _, p := range messages {
			out := checkExport(t, p, exportOptions)
			require.Empty(t, out.Lost)
			for i, chunk := range chunksOf(t, out) {
				count += out.Items[i].Count
				for _, s := range chunk.Samples {
					if len(s.Stack) > 0 {
						samples[fmt.Sprint(chunk.ProfilerID, chunk.Release, s.Thread, s.ThreadName, s.Time, s.StackText())]++
					}
				}
			}
			chunks += len(out.Items)
		}
		return samples, count, chunks
	}
	want, wantCount, before := samplesOf(messages...)
	joined := dictionary.Join(messages)
	require.Len(t, joined, 1)
	got, gotCount, after := samplesOf(joined...)
	t.Logf("%d observations in %d chunks → %d in %d", wantCount, before, gotCount, after)
	require.Equal(t, wantCount, gotCount)
	require.Equal(t, 3, after)
	require.Greater(t, before, 5*after)
	for sample := range got {
		require.Contains(t, want, sample)
	}
	// The others are those that end a chunk: ingest rejects a thread with one sample.
	require.GreaterOrEqual(t, len(got), gotCount)
}

// Profiles of other types, periods and attributes, of Sentry's SDKs and without times are not
// joined.
func TestProfilesThatAreNotJoined(t *testing.T) {
	p := producers.EBPF("a", 1, someTime)
	profiles := p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles()
	profiles.RemoveIf(func(profile pprofile.Profile) bool { return profile.Period() == 0 }) // off CPU
	first := profiles.At(0)
	add := func(change func(pprofile.Profile)) {
		profile := profiles.AppendEmpty()
		profiles.At(0).CopyTo(profile)
		change(profile)
	}
	add(func(profile pprofile.Profile) { profile.SetProfileID(pprofile.ProfileID{1}) }) // joined
	add(func(profile pprofile.Profile) { profile.SetPeriod(10_000_000) })
	add(func(profile pprofile.Profile) {
		profile.AttributeIndices().Append(first.Samples().At(0).AttributeIndices().At(0))
	})
	for range 2 {
		add(func(profile pprofile.Profile) {
			for _, s := range profile.Samples().All() {
				s.TimestampsUnixNano().FromRaw(nil)
				s.Values().FromRaw([]int64{7})
			}
		})
	}
	out := checkExport(t, p, exportOptions)
	var counts []int
	for _, item := range out.Items {
		counts = append(counts, item.Count)
	}
	require.Equal(t, []int{2 * producers.EBPFSamples, producers.EBPFSamples, producers.EBPFSamples, 14, 14}, counts)
}

// Two processes that use the same ID one after the other are two sessions if their start times are
// known.
func TestCreationTime(t *testing.T) {
	session := func(created string) string {
		p := producers.EBPF("a", 1, someTime)
		p.ResourceProfiles().At(0).Resource().Attributes().PutStr("process.creation.time", created)
		return chunksOf(t, ProfilesToChunks(p, exportOptions))[0].ProfilerID
	}
	require.NotEqual(t, session("2026-08-01T10:00:00Z"), session("2026-08-01T11:00:00Z"))
}
