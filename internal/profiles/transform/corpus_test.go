// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakepyroscope"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
)

// Recorded profiles of every SDK go through every step and every preset: what comes out is valid,
// observations that do not go on are counted, and the names that steps look for are those that the
// translation writes.
func TestCorpus(t *testing.T) {
	splits := &Split{MaxBytes: 100_000, MaxDuration: 10 * time.Second}
	chains := map[string][]Step{}
	for name, c := range oracles {
		chains[name] = []Step{c.step}
	}
	for _, name := range PresetNames() {
		chains[name], _ = Preset(name)
	}
	chains["split"] = []Step{splits}
	lost := map[string]Losses{}
	profiles := 0
	pyroscope := fakepyroscope.Store{}
	for _, request := range golden.Corpus(t) {
		envelope, err := sentry.ReadEnvelope(request.Decoded(t))
		if err != nil {
			continue // store and security requests
		}
		for _, item := range envelope.Items {
			if !testsize.Full() && len(item.Payload) > 1<<20 {
				continue
			}
			p, ok := translated(t, item)
			if !ok {
				continue
			}
			profiles++
			for name, steps := range chains {
				copied := pprofile.NewProfiles()
				p.CopyTo(copied)
				parts, gone := Apply(copied, steps)
				out := 0
				for _, part := range parts {
					require.Empty(t, conformance.Check(part), "%s: %s", request.Name, name)
					out += count(part)
					if name == PresetPyroscope {
						pyroscope.MustPush(t, part)
					}
				}
				if name != PresetPyroscope && name != "aggregate to counts" {
					require.Equal(t, count(p), out+total(gone), "%s: %s", request.Name, name)
				}
				for reason, n := range gone {
					counted := lost[name]
					counted.add(reason, n)
					lost[name] = counted
				}
			}
		}
	}
	require.Greater(t, profiles, 200)
	t.Logf("observations dropped: %v", lost)
	require.Greater(t, len(pyroscope.Profiles()), 200)
	pyroscope.MustSurvive(t)
	require.NotZero(t, lost["active_thread_only"][InactiveThread], "python and go send whole processes")
	require.NotZero(t, lost["drop_idle"][Idle])
	require.NotZero(t, lost["threads"][Thread])
}

func translated(t *testing.T, item sentry.Item) (pprofile.Profiles, bool) {
	d := profile.AcquireDecoder()
	defer d.Release()
	source := fromsentry.Source{ProjectID: "4507", PeriodType: "wall"}
	switch item.Header.Type {
	case sentry.ItemProfile:
		profile, err := d.Profile(item.Payload)
		require.NoError(t, err)
		return fromsentry.ProfileToProfiles(profile, source), true
	case sentry.ItemProfileChunk:
		chunk, err := d.Chunk(item.Payload)
		require.NoError(t, err)
		return fromsentry.ChunkToProfiles(chunk, source), true
	default:
		return pprofile.Profiles{}, false
	}
}

func count(p pprofile.Profiles) (n int) {
	for _, s := range firstProfile(p).Samples().All() {
		n += observations(s)
	}
	return n
}
