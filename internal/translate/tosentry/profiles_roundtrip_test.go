// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/sentrytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

var exportOptions = ExportOptions{SDK: sentry.ClientSDK{Name: "otelcol-sentry", Version: "0.1.0"}}

// TestProfilesThereAndBack translates every profile of the cases and of the corpus to OTLP and
// back, and compares the result with the original as text. The only differences are those that
// docs/mapping.md lists in the column Back and under "OTLP to Sentry".
func TestProfilesThereAndBack(t *testing.T) {
	var counts counter
	for _, c := range golden.Cases(t) {
		if c.Envelope != nil {
			thereAndBack(t, c.Name, c.Envelope, &counts)
		}
	}
	t.Log("cases", counts.of)
	require.Greater(t, counts.of["chunks"], 80)
	require.Greater(t, counts.of["profiles"], 40)
}

func TestCorpusThereAndBack(t *testing.T) {
	t.Parallel()
	counts, sample := counter{}, corpusSample{}
	t.Run("requests", func(t *testing.T) {
		for _, request := range golden.Corpus(t) {
			if !sample.has(request, sentry.ItemProfile, sentry.ItemProfileChunk, sentry.ItemProfileChunkUI) {
				continue
			}
			t.Run(request.Name, func(t *testing.T) {
				t.Parallel()
				thereAndBack(t, request.Name, request.Decoded(t), &counts)
			})
		}
	})
	t.Log("corpus", counts.of)
	if testsize.Full() {
		// Three have an image whose ID ends in 16 digits without a hyphen, for which ingest rejects
		// the chunk.
		require.Equal(t, map[string]int{"chunks": 116, "profiles": 109, "same bytes": 113}, counts.of)
	} else {
		require.Greater(t, counts.of["chunks"], 3)
		require.Greater(t, counts.of["profiles"], 5)
	}
}

// corpusSample selects recorded requests. In small size, these are the first two of each SDK that
// have the same types of items.
type corpusSample map[string]int

func (s corpusSample) has(request golden.Request, types ...sentry.ItemType) bool {
	if !slices.ContainsFunc(request.Items, func(item string) bool { return slices.Contains(types, sentry.ItemType(item)) }) {
		return false
	}
	sdk, _, _ := strings.Cut(request.Name, "/")
	kind := sdk + fmt.Sprint(request.Items)
	s[kind]++
	return testsize.Full() || s[kind] <= 2
}

// counter counts what parallel tests have compared.
type counter struct {
	mu sync.Mutex
	of map[string]int
}

func (c *counter) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]int{}
	}
	c.of[name]++
}

func thereAndBack(t *testing.T, name string, body []byte, counts *counter) {
	envelope, err := sentry.ReadEnvelope(body)
	if envelope == nil || err != nil && len(envelope.Items) == 0 {
		return
	}
	for _, item := range envelope.Items {
		if !testsize.Full() && len(item.Payload) > golden.SmallPayload {
			continue
		}
		switch item.Header.Type {
		case sentry.ItemProfileChunk, sentry.ItemProfileChunkUI:
			chunkThereAndBack(t, name, item.Payload, counts)
		case sentry.ItemProfile:
			profileThereAndBack(t, name, item.Payload, counts)
		}
	}
}

func chunkThereAndBack(t *testing.T, name string, payload []byte, counts *counter) {
	d := profile.AcquireDecoder()
	defer d.Release()
	sent, err := d.Chunk(payload)
	if err != nil || sent.Android != nil { // see TestAndroidAsChunks
		return
	}
	samples, err := sentrytest.Read(2, payload)
	require.NoError(t, err, name)
	counts.add("chunks")
	src := fromsentry.Source{ProjectID: "1", PeriodType: "wall"}
	back := ProfilesToChunks(fromsentry.ChunkToProfiles(sent, src), exportOptions)
	compareBack(t, name, said{chunk: *sent, samples: samples.Samples}, back)

	src.OriginalPayload = payload
	kept := ProfilesToChunks(fromsentry.ChunkToProfiles(sent, src), exportOptions)
	original := sentry.Item{Header: sentry.ItemHeader{Type: sentry.ItemProfileChunk, ContentType: sentry.ContentTypeJSON, Platform: sent.Platform}, Payload: payload}
	badImage := strings.HasPrefix(fakesentry.Verdict(&sentry.Envelope{Items: []sentry.Item{original}}), "image ")
	if badImage || len(profile.BrokenRules(profile.Subject{Chunk: sent, Number: 1, Size: len(payload)})) > 0 {
		require.Equal(t, back.Items, kept.Items, "%s: ingest refuses what was sent, so that it must be made anew", name)
		return
	}
	counts.add("same bytes")
	require.Len(t, kept.Items, 1, name)
	require.Equal(t, string(payload), string(kept.Items[0].Payload), name)
	require.Equal(t, sent.Platform, kept.Items[0].Header.Platform, name)
}

// profileThereAndBack: a V1 profile comes back as a chunk with its own profiler session and
// absolute times.
func profileThereAndBack(t *testing.T, name string, payload []byte, counts *counter) {
	d := profile.AcquireDecoder()
	defer d.Release()
	p, err := d.Profile(payload)
	if err != nil || p.Android != nil {
		return
	}
	samples, err := sentrytest.Read(1, payload)
	require.NoError(t, err, name)
	counts.add("profiles")
	src := fromsentry.Source{ProjectID: "1", PeriodType: "wall", SDK: sentry.ClientSDK{Name: "sentry.sdk", Version: "1.0"}, ReceivedNano: 1_777_629_600_000_000_000}
	back := ProfilesToChunks(fromsentry.ProfileToProfiles(p, src), exportOptions)

	start := fromsentry.Anchor(p, src)
	sent := profile.Chunk{
		Version: "2", ProfilerID: p.EventID, ChunkID: p.EventID, Platform: p.Platform, Release: p.Release, Dist: p.Dist,
		Environment: p.Environment, ClientSDK: src.SDK, DebugMeta: p.DebugMeta, Measurements: slices.Clone(p.Measurements),
	}
	for i := range sent.Measurements {
		values := slices.Clone(sent.Measurements[i].Values)
		for j := range values {
			values[j].Timestamp = float64(start+values[j].ElapsedNS) / 1e9
		}
		sent.Measurements[i].Values = values
	}
	for i := range samples.Samples {
		samples.Samples[i].Time += start
	}
	compareBack(t, name, said{chunk: sent, samples: samples.Samples}, back)
}

// said is a chunk: its decoded fields, and its samples as the oracle reads them.
type said struct {
	chunk   profile.Chunk
	samples []sentrytest.Sample
}

// compareBack compares the result of a round trip with the original.
func compareBack(t *testing.T, name string, sent said, back Export) {
	t.Helper()
	stacks := stackNumbers{}
	want, lost := sent.partsToExpect()
	require.Len(t, back.Items, len(want), name)
	require.Equal(t, lost, lossOf(back.Lost), name)
	chunks := map[string]bool{}
	for i := range back.Items {
		item := &back.Items[i]
		checkIngest(t, name, &item.Item)

		d := profile.AcquireDecoder()
		chunk, err := d.Chunk(item.Payload)
		require.NoError(t, err, name)
		require.Empty(t, chunk.Flaws, name)
		require.Empty(t, chunk.Lost, name)
		samples, err := sentrytest.Read(2, item.Payload)
		require.NoError(t, err, name)
		require.Equal(t, len(want[i].samples)-want[i].closing, item.Count, name)
		if i == 0 {
			require.Equal(t, headText(&sent.chunk), headTextLike(chunk, &sent.chunk), name)
		}
		require.False(t, chunks[chunk.ChunkID], "%s: two parts of one id", name)
		chunks[chunk.ChunkID] = true
		requireSameLines(t, name, sampleLines(want[i].samples, stacks), sampleLines(samples.Samples, stacks), stacks)
		requireSameLines(t, name, measurementLines(want[i].measurements), measurementLines(chunk.Measurements), nil)
		requireSameLines(t, name, imageLines(sent.chunk.DebugMeta.Images), imageLines(chunk.DebugMeta.Images), nil)
		d.Release()
	}
}

func lossOf(lost []discard.Loss) map[discard.Reason]int {
	all := map[discard.Reason]int{}
	for _, loss := range lost {
		all[loss.Reason] += loss.Count
	}
	return all
}
