// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	otelclient "go.opentelemetry.io/collector/client"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/loopguard"
)

// TestLoopHeader: requests name this process after the collectors from which the data came.
func TestLoopHeader(t *testing.T) {
	h := start(t, withoutQueue)
	require.NoError(t, h.send(backendChunk(1)))
	central := otelclient.NewContext(t.Context(), otelclient.Info{Metadata: otelclient.NewMetadata(map[string][]string{loopguard.MetadataKey: {"0123456789abcdef"}})})
	require.NoError(t, h.started.enqueue(central, []*request{{Version: requestVersion, Count: 1, Envelopes: []envelope{backendChunk(2)}}}))

	self := loopguard.Shared.Send("")
	var headers []string
	for _, request := range h.sentry.Requests() {
		headers = append(headers, request.Header.Values(loopguard.Header)...)
	}
	assert.Equal(t, []string{self, "0123456789abcdef," + self}, headers)
}
