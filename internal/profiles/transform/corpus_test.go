// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"strings"
	"sync"
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
	var mu sync.Mutex // of the following
	lost := map[string]Losses{}
	pyroscope := fakepyroscope.Store{}
	profiles := 0
	add := func(t *testing.T, name string, parts []pprofile.Profiles, gone Losses) {
		mu.Lock()
		defer mu.Unlock()
		if name == PresetPyroscope {
			profiles++
			for _, part := range parts {
				pyroscope.MustPush(t, part)
			}
		}
		for reason, n := range gone {
			counted := lost[name]
			counted.add(reason, n)
			lost[name] = counted
		}
	}
	t.Run("of", func(t *testing.T) {
		for name, items := range recordedProfiles(t) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				for _, item := range items {
					p := translated(t, item)
					for name, steps := range chains {
						copied := pprofile.NewProfiles()
						p.CopyTo(copied)
						parts, gone := Apply(copied, steps)
						out := 0
						for _, part := range parts {
							mustConform(t, part)
							out += count(part)
						}
						if name != PresetPyroscope && name != "aggregate to counts" {
							require.Equal(t, count(p), out+total(gone), name)
						}
						add(t, name, parts, gone)
					}
				}
			})
		}
	})
	atLeast := 20
	if testsize.Full() {
		atLeast = 200
	}
	require.Greater(t, profiles, atLeast)
	t.Logf("%d profiles; observations dropped: %v", profiles, lost)
	require.Greater(t, len(pyroscope.Profiles()), atLeast)
	pyroscope.MustSurvive(t)
	require.NotZero(t, lost["active_thread_only"][InactiveThread], "python and go send whole processes")
	require.NotZero(t, lost["drop_idle"][Idle])
	require.NotZero(t, lost["threads"][Thread])
}

// recordedProfiles returns the recorded profiles by request: all, or in small size the first two of
// each SDK and type that are not large.
func recordedProfiles(t *testing.T) map[string][]sentry.Item {
	all := map[string][]sentry.Item{}
	taken := map[string]int{} // by SDK and type
	for _, request := range golden.Corpus(t) {
		envelope, err := sentry.ReadEnvelope(request.Decoded(t))
		if err != nil {
			continue // store and security requests
		}
		sdk, _, _ := strings.Cut(request.Name, "/")
		for _, item := range envelope.Items {
			if item.Header.Type != sentry.ItemProfile && item.Header.Type != sentry.ItemProfileChunk {
				continue
			}
			key := sdk + " " + string(item.Header.Type)
			if !testsize.Full() && (len(item.Payload) > golden.SmallPayload || taken[key] == 2) {
				continue
			}
			taken[key]++
			all[request.Name] = append(all[request.Name], item)
		}
	}
	return all
}

func mustConform(t *testing.T, p pprofile.Profiles) {
	t.Helper()
	if violations := conformance.Check(p); len(violations) > 0 {
		require.Empty(t, violations)
	}
}

func translated(t *testing.T, item sentry.Item) pprofile.Profiles {
	d := profile.AcquireDecoder()
	defer d.Release()
	source := fromsentry.Source{ProjectID: "4507", PeriodType: "wall"}
	if item.Header.Type == sentry.ItemProfile {
		profile, err := d.Profile(item.Payload)
		require.NoError(t, err)
		return fromsentry.ProfileToProfiles(profile, source)
	}
	chunk, err := d.Chunk(item.Payload)
	require.NoError(t, err)
	return fromsentry.ChunkToProfiles(chunk, source)
}

func count(p pprofile.Profiles) (n int) {
	for _, s := range firstProfile(p).Samples().All() {
		n += observations(s)
	}
	return n
}
