// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/sentrytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromandroid"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// androidMessage translates the Android profile of a case.
func androidMessage(t *testing.T, name string) pprofile.Profiles {
	for _, c := range golden.Cases(t) {
		if c.Name != name {
			continue
		}
		envelope, err := sentry.ReadEnvelope(c.Envelope)
		require.NoError(t, err)
		for _, item := range envelope.Items {
			if out, ok := translateAndroid(t, item); ok {
				return out
			}
		}
	}
	require.Fail(t, "no such case", name)
	return pprofile.Profiles{}
}

func translateAndroid(t *testing.T, item sentry.Item) (out pprofile.Profiles, ok bool) {
	src := fromsentry.Source{ProjectID: "1", PeriodType: "wall", SDK: sentry.ClientSDK{Name: "sentry.java.android", Version: "8.20.0"},
		OriginalPayload: item.Payload}
	d := new(profile.Decoder)
	switch {
	case item.Header.Type == sentry.ItemProfile:
		p, err := d.Profile(item.Payload)
		require.NoError(t, err)
		trace, err := fromandroid.MethodTrace(p.Android.MethodTrace, profile.NominalPeriod, attr.SpareObservations)
		require.NoError(t, err)
		out, _ = fromsentry.AndroidProfileToProfiles(p, trace, src)
	case item.Header.MetaLength.Set:
		length := item.Header.MetaLength.Value
		c, err := d.Perfetto(item.Payload[:length], item.Payload[length:])
		require.NoError(t, err)
		trace, err := fromandroid.PerfettoTrace(c.Android.PerfettoTrace)
		require.NoError(t, err)
		out, _ = fromsentry.AndroidChunkToProfiles(c, trace, src)
	case item.Header.Type == sentry.ItemProfileChunk:
		c, err := d.Chunk(item.Payload)
		require.NoError(t, err)
		trace, err := fromandroid.MethodTrace(c.Android.MethodTrace, profile.NominalPeriod, attr.SpareObservations)
		require.NoError(t, err)
		out, _ = fromsentry.AndroidChunkToProfiles(c, trace, src)
	default:
		return out, false
	}
	return out, true
}

// TestAndroidAsChunks: profiles of Android traces, and the JavaScript profiles sent with them,
// become chunks that Sentry accepts, with all their observations.
func TestAndroidAsChunks(t *testing.T) {
	for name, platforms := range map[string][]string{
		"android-v1-art":                 {"android"},
		"android-v2-art":                 {"android"},
		"android-v2-art-odd":             {"android"},
		"android-v2-perfetto-empty-text": {"android"},
		"android-v2-perfetto-trace":      {"android"},
		"react-native-v1-art":            {"android", "javascript"},
		"react-native-v2-art":            {"android", "javascript"},
	} {
		message := androidMessage(t, name)
		export := ProfilesToChunks(message, exportOptions)
		require.Empty(t, export.Lost, name)
		require.Len(t, export.Items, len(platforms), name)
		profiles := message.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles()
		session := ""
		for i, platform := range platforms {
			item := export.Items[i].Item
			checkIngest(t, name, &item)
			assert.Equal(t, platform, item.Header.Platform, name)
			chunk, err := new(profile.Decoder).Chunk(item.Payload)
			require.NoError(t, err, name)
			assert.Nil(t, chunk.Android, name)
			id := profiles.At(i).ProfileID()
			assert.Equal(t, hex.EncodeToString(id[:]), chunk.ChunkID, name)
			if session != "" {
				assert.Equal(t, session, chunk.ProfilerID, "%s: one session", name)
			}
			session = chunk.ProfilerID

			sent, err := sentrytest.Read(2, item.Payload)
			require.NoError(t, err, name)
			want := golden.Observed(message.Dictionary(), profiles.At(i))
			assert.Equal(t, want.Count(), export.Items[i].Count, name)
			for what, times := range golden.Expected(sent, 0) { // a thread with a single observation gets a closing sample
				assert.Subset(t, times, want[what], "%s: %s", name, what)
				assert.LessOrEqual(t, len(times)-len(want[what]), 1, "%s: %s", name, what)
			}
		}
	}
}
