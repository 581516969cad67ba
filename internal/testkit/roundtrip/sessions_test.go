// SPDX-License-Identifier: Apache-2.0

package roundtrip

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// TestReleaseHealthIsTheSame: of the sessions in all recordings, ingest stores the same counts for
// each release, sent straight or through OTLP.
func TestReleaseHealthIsTheSame(t *testing.T) {
	var straight, back fakesentry.Sessions
	for _, request := range golden.Corpus(t) {
		storeSessions(t, request.Name, envelopeOf(t, request), &straight, &back)
	}
	var total fakesentry.SessionCounts
	for release, sent := range straight.Counts {
		total = total.Plus(sent)
		t.Log(release, sent)
	}
	require.Equal(t, straight.Counts, back.Counts)
	require.Equal(t, fakesentry.SessionCounts{Started: 467, Ended: 464, Errored: 34, Crashed: 29}, total)
}

// TestReleaseHealthOfEachUpdate is the same for the updates of the cases, in which sessions have
// each status, or end without a start, or repeat their errors.
func TestReleaseHealthOfEachUpdate(t *testing.T) {
	var straight, back fakesentry.Sessions
	for _, c := range golden.Cases(t) {
		if envelope, err := sentry.ReadEnvelope(c.Envelope); err == nil {
			storeSessions(t, c.Name, envelope, &straight, &back)
		}
	}
	t.Log(straight.Counts)
	require.Equal(t, straight.Counts, back.Counts)
}

// storeSessions stores the sessions of an envelope, sent straight and through OTLP.
func storeSessions(t *testing.T, name string, envelope *sentry.Envelope, straight, back *fakesentry.Sessions) {
	settings, client := sentryitems.DefaultSettings(), sentry.ClientText(sentry.ClientSDK(envelope.Header.SDK))
	for _, item := range profilefile.Examine(envelope, settings, time.Unix(1_795_225_000, 0)).Items {
		if kind := item.Header.Type; kind != sentry.ItemSession && kind != sentry.ItemSessions {
			continue
		}
		if verdict := straight.Store(item.Item, client); verdict != "" {
			t.Log(name, "is rejected if sent straight:", verdict)
			continue
		}
		require.Len(t, item.Deliveries, 1, name)
		for _, outgoing := range translated(item.Deliveries[0].Message.Data(), false).Items {
			if client == "" { // an SDK that only the credentials state, which Examine has not
				outgoing.Client = ""
			}
			require.Empty(t, back.Store(&outgoing.Item, outgoing.Client), "%s: %s", name, outgoing.Payload)
		}
	}
}
