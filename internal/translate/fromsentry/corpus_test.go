// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"iter"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/sentrytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// recording is a recorded request; its envelope is nil for store and security requests.
type recording struct {
	golden.Request
	envelope *sentry.Envelope
}

var decoded struct {
	once sync.Once
	all  []recording
}

// recordings returns the recorded requests, decoded once for all tests of the package.
func recordings(t *testing.T) []recording {
	t.Helper()
	decoded.once.Do(func() {
		for _, request := range golden.Sample(t) {
			// The envelope reader's own test counts the envelopes.
			envelope, _ := sentry.ReadEnvelope(request.Decoded(t))
			decoded.all = append(decoded.all, recording{request, envelope})
		}
	})
	require.NotEmpty(t, decoded.all)
	return decoded.all
}

// recordedItems returns the items of the recorded envelopes, with the names of their requests.
func recordedItems(t *testing.T) iter.Seq2[string, sentry.Item] {
	all := recordings(t)
	return func(yield func(string, sentry.Item) bool) {
		for _, r := range all {
			if r.envelope == nil {
				continue
			}
			for _, item := range r.envelope.Items {
				if !yield(r.Name, item) {
					return
				}
			}
		}
	}
}

// requireCounts compares what a test has found in the recordings with what they have in full size;
// in small size, there must be some of each.
func requireCounts[K comparable](t *testing.T, full, got map[K]int) {
	t.Helper()
	if testsize.Full() {
		require.Equal(t, full, got)
		return
	}
	for key := range full {
		require.Positive(t, got[key], key)
	}
}

// TestCorpus translates every recorded profile and compares it with the oracle: every usable sample
// is there, at its exact time, on its thread, with its frames.
func TestCorpus(t *testing.T) {
	checks := map[sentry.ItemType]func(*testing.T, string, []byte){
		sentry.ItemProfile: checkProfile, sentry.ItemProfileChunk: checkChunk,
	}
	found := map[sentry.ItemType]int{}
	for name, item := range recordedItems(t) {
		if check := checks[item.Header.Type]; check != nil {
			found[item.Header.Type]++
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				check(t, name, item.Payload)
			})
		}
	}
	requireCounts(t, map[sentry.ItemType]int{sentry.ItemProfile: 109, sentry.ItemProfileChunk: 116}, found)
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
