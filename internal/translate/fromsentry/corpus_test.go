// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/sentrytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestCorpus translates every recorded profile and compares it with the oracle: every usable sample
// is there, at its exact time, on its thread, with its frames.
func TestCorpus(t *testing.T) {
	v1, v2 := 0, 0
	for _, request := range golden.Corpus(t) {
		envelope, err := sentry.ReadEnvelope(request.Decoded(t))
		if err != nil {
			continue // store and security requests; the envelope reader's own test counts the envelopes
		}
		for _, item := range envelope.Items {
			tooLong := !testsize.Full() && len(item.Payload) > golden.SmallPayload
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
	d := profile.AcquireDecoder()
	defer d.Release()
	p, err := d.Profile(payload)
	require.NoError(t, err, name)
	out := ProfileToProfiles(p, Source{ProjectID: "4507", PeriodType: "wall"})
	checkOutput(t, name, out, golden.Expected(want, p.Timestamp.UnixNano))
}

func checkChunk(t *testing.T, name string, payload []byte) {
	want, err := sentrytest.Read(2, payload)
	require.NoError(t, err, name)
	d := profile.AcquireDecoder()
	defer d.Release()
	c, err := d.Chunk(payload)
	require.NoError(t, err, name)
	out := ChunkToProfiles(c, Source{ProjectID: "4507", PeriodType: "wall"})
	checkOutput(t, name, out, golden.Expected(want, 0))
}
