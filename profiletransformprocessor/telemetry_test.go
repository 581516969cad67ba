// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/metadatatest"
)

func TestMetadataAgreesWithTheFactory(t *testing.T) {
	metadatatest.CheckFactory(t, "processor", NewFactory())
}

// TestMetadataAgreesWithTheInstruments makes every instrument measure.
func TestMetadataAgreesWithTheInstruments(t *testing.T) {
	before := start(t, stored)
	require.NoError(t, before.profiles.ConsumeProfiles(t.Context(), recorded()))
	h := startWith(t, "link: {wait: 1ms}\nstorage: memory\ntransforms: [{drop_idle: {}}]", before.store.crash())
	h.store.fails(true)
	require.NoError(t, h.traces.ConsumeTraces(t.Context(), tracesOf(request)))
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), idleAndBusy()))
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
	require.Eventually(t, func() bool { return h.counts("wait_time")["released=due"] > 0 }, 30*time.Second, time.Millisecond)
	metadatatest.CheckInstruments(t, h.metrics, scopeName)
}
