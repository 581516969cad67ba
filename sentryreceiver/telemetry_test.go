// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpserver"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/metadatatest"
)

func TestMetadataAgreesWithTheFactory(t *testing.T) {
	metadatatest.CheckFactory(t, "receiver", NewFactory())
}

// TestMetadataAgreesWithTheInstruments makes every counter count.
func TestMetadataAgreesWithTheInstruments(t *testing.T) {
	h := startSignals(t, nil)
	h.post("")
	h.post(envelope(item("profile_chunk", "", "{"), item("profile_chunk", "", oddChunk)))
	h.post(envelope(item("log", `,"item_count":3`, `{"items":[{"body":"password=x","level":7},{}]}`)))
	late := strings.Replace(goodProfile, "10:00:00.000000Z", "10:00:30.000000Z", 1)
	h.post(envelope(profileItem, item("profile", "", late), item("transaction", "", fullTransaction)))
	h.post(envelope(profileItem))
	h.do(h.request("POST", "/api/42/minidump/", nil))
	h.receiver.Shared.telemetry.connectionClosed(httpserver.ReasonMaxConnections)
	metadatatest.CheckInstruments(t, h.metrics, scopeName)
}

// The metrics that all receivers have, and their spans.
func TestObsReport(t *testing.T) {
	h := start(t, nil)
	h.post(envelope(chunkItem, profileItem))
	h.sink.respond = func(pprofile.Profiles) error { return errors.New("full") }
	h.post(envelope(chunkItem))

	const attributes = "receiver=sentry transport=http"
	assert.Equal(t, map[string]int64{attributes: 2}, h.counts("otelcol_receiver_accepted_profile_samples"), "one per identity")
	assert.Equal(t, map[string]int64{attributes: 1}, h.counts("otelcol_receiver_refused_profile_samples"))

	received := 0
	for _, span := range h.metrics.SpanRecorder.Ended() {
		if span.Name() == "receiver/sentry/ProfilesReceived" {
			received++
		}
	}
	assert.Equal(t, 3, received)
}

// TestLogsAreBounded: a client that is wrong is wrong in every request.
func TestLogsAreBounded(t *testing.T) {
	h := start(t, nil)
	secret := item("profile_chunk", "", `{"version":"2","password":"hunter2",`)
	for range 50 {
		h.post("")
		h.post(envelope(secret))
	}
	assert.Equal(t, int64(50), h.rejected()["reason=envelope_empty"])
	assert.LessOrEqual(t, h.logs.FilterMessage("Request rejected").Len(), collector.LogsPerMinute)
	assert.LessOrEqual(t, h.logs.FilterMessage("Item discarded").Len(), collector.LogsPerMinute)
	require.NotZero(t, h.logs.FilterMessage("Item discarded").Len())
	for _, line := range h.logs.All() {
		for _, value := range line.ContextMap() {
			assert.NotContains(t, fmt.Sprint(value), "hunter2", "a payload in the log")
			assert.NotContains(t, fmt.Sprint(value), testKey, "a key in the log")
		}
	}
}
