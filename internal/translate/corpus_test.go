package translate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry/sentrytest"
)

// shortPayload is the largest payload, in bytes, that tests on recordings take with -short. It goes with the race detector,
// which makes the large ones take minutes, and CI runs these tests a second time without either.
const shortPayload = 500_000

// TestCorpus translates every recorded profile and compares it with the oracle: every usable sample is there, at its exact
// time, on its thread, with its frames.
func TestCorpus(t *testing.T) {
	v1, v2 := 0, 0
	for _, request := range golden.Corpus(t) {
		envelope, err := sentry.ReadEnvelope(request.Decoded(t))
		if err != nil {
			continue // store and security requests; the envelope reader's own test counts the envelopes
		}
		for _, item := range envelope.Items {
			tooLong := testing.Short() && len(item.Payload) > shortPayload
			switch item.Header.Type {
			case sentry.ItemProfile:
				if v1++; !tooLong {
					checkProfile(t, request.Name, item.Payload)
				}
			case sentry.ItemProfileChunk:
				if v2++; !tooLong {
					checkChunk(t, request.Name, item.Payload)
				}
			}
		}
	}
	require.Equal(t, 109, v1)
	require.Equal(t, 113, v2)
}

func checkProfile(t *testing.T, name string, payload []byte) {
	want, err := sentrytest.Read(1, payload)
	require.NoError(t, err, name)
	d := sentry.AcquireDecoder()
	defer d.Release()
	p, err := d.Profile(payload)
	require.NoError(t, err, name)
	out := ProfileToProfiles(p, Source{ProjectID: "4507", PeriodType: "wall"})
	checkOutput(t, name, out, golden.Expected(want, p.Timestamp.UnixNano))
}

func checkChunk(t *testing.T, name string, payload []byte) {
	want, err := sentrytest.Read(2, payload)
	require.NoError(t, err, name)
	d := sentry.AcquireDecoder()
	defer d.Release()
	c, err := d.Chunk(payload)
	require.NoError(t, err, name)
	out := ChunkToProfiles(c, Source{ProjectID: "4507", PeriodType: "wall"})
	checkOutput(t, name, out, golden.Expected(want, 0))
}
