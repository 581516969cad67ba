// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/sentrytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromandroid"
)

// checkPayload takes a payload through decoding and translation as either format. Whatever decodes
// comes out as a valid OTLP profile that holds exactly the usable samples.
func checkPayload(t *testing.T, payload []byte) {
	before := string(payload)
	d := profile.AcquireDecoder()
	defer d.Release()
	if p, err := d.Profile(payload); err == nil && p.Android != nil {
		checkAndroid(t, p.Android, func(trace *fromandroid.Trace) (pprofile.Profiles, bool) {
			return AndroidProfileToProfiles(p, trace, Source{ProjectID: "1", PeriodType: "wall"})
		})
	} else if err == nil {
		want, err := sentrytest.Read(1, payload)
		require.NoError(t, err)
		src := Source{ProjectID: "1", PeriodType: "wall", ReceivedNano: 1_777_629_600_000_000_000}
		checkOutput(t, "V1", ProfileToProfiles(p, src), golden.Expected(want, Anchor(p, src)))
	}
	if c, err := d.Chunk(payload); err == nil && c.Android != nil {
		checkAndroid(t, c.Android, func(trace *fromandroid.Trace) (pprofile.Profiles, bool) {
			return AndroidChunkToProfiles(c, trace, Source{ProjectID: "1", PeriodType: "wall"})
		})
	} else if err == nil {
		want, err := sentrytest.Read(2, payload)
		require.NoError(t, err)
		checkOutput(t, "V2", ChunkToProfiles(c, Source{ProjectID: "1", PeriodType: "wall"}), golden.Expected(want, 0))
	}
	require.Equal(t, before, string(payload), "the payload was changed")
}

// checkAndroid takes the trace of a profile of Android, and the JavaScript beside it, through
// translation.
func checkAndroid(t *testing.T, android *profile.Android, translate func(*fromandroid.Trace) (pprofile.Profiles, bool)) {
	if trace, err := fromandroid.MethodTrace(android.MethodTrace, profile.NominalPeriod, attr.SpareObservations); err == nil {
		out, _ := translate(trace)
		checkConformance(t, "trace", out)
	}
}

// FuzzTranslate starts from the payloads of all cases.
func FuzzTranslate(f *testing.F) {
	envelopes, err := filepath.Glob(filepath.Join(golden.Root(f), "testdata", "cases", "*", "in.envelope"))
	require.NoError(f, err)
	require.NotEmpty(f, envelopes)
	for _, name := range envelopes {
		body, err := os.ReadFile(name)
		require.NoError(f, err)
		envelope, err := sentry.ReadEnvelope(body)
		if envelope == nil {
			require.Error(f, err)
			continue
		}
		for _, item := range envelope.Items {
			f.Add(item.Payload)
		}
	}
	f.Fuzz(checkPayload)
}

// TestOrderOfSamplesDoesNotMatter shuffles the observations of decoded profiles: the result is the
// same.
func TestOrderOfSamplesDoesNotMatter(t *testing.T) {
	for _, name := range []string{"all-fields-v2", "quirk-16-java-unsorted", "sdk-python-v2", "cocoa-v2-native"} {
		payload := golden.Payload(t, name, sentry.ItemProfileChunk)
		src := Source{ProjectID: "1", PeriodType: "wall"}
		inOrder, err := new(profile.Decoder).Chunk(payload)
		require.NoError(t, err)
		want := ChunkToProfiles(inOrder, src)
		for range 20 {
			shuffled, err := new(profile.Decoder).Chunk(payload)
			require.NoError(t, err)
			s := shuffled.Samples
			rand.Shuffle(s.Len(), func(i, j int) {
				s.Time[i], s.Time[j] = s.Time[j], s.Time[i]
				s.Stack[i], s.Stack[j] = s.Stack[j], s.Stack[i]
				s.Thread[i], s.Thread[j] = s.Thread[j], s.Thread[i]
				if len(s.Queue) > 0 {
					s.Queue[i], s.Queue[j] = s.Queue[j], s.Queue[i]
				}
			})
			require.Empty(t, dictionarytest.Diff(want, ChunkToProfiles(shuffled, src)), name)
		}
	}
}
