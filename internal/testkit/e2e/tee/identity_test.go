// SPDX-License-Identifier: Apache-2.0

package tee

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/oracle"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// TestByteIdentity: each recorded request of a real SDK arrives through the collector with the same
// bytes as directly, except for connection headers, X-Forwarded-For and Via.
func TestByteIdentity(t *testing.T) {
	t.Parallel()
	requests := golden.Corpus(t)
	direct, behind := newRecorder(t, nil), newRecorder(t, nil)
	c := harness.Start(t, settings(harness.NewSink(t), "upstream: '"+behind.URL+"'"))
	var events []oracle.EventPair
	for _, from := range requests {
		request := harness.RecordedRequest(from)
		_, err := harness.SendTo(direct.Listener.Addr().String(), request)
		require.NoError(t, err)
		response := c.Send(t, request)
		if !strings.Contains(from.Path, "/api/") {
			require.Contains(t, []int{200, 404}, response.Status, from.Name) // paths of tunnels are arbitrary
			direct.take(t, 1)
			if response.Status == 200 {
				behind.take(t, 1)
			}
			continue
		}
		require.Equal(t, http.StatusOK, response.Status, "%s %s", from.Name, response.Body)
		want, got := direct.take(t, 1)[0], behind.take(t, 1)[0]
		oracle.CompareForwarded(t, want, got)
		events = append(events, oracle.EventPairs(t, want, got)...)
	}
	t.Logf("%d requests, %d events", len(requests), len(events))
	oracle.NormalizeBoth(t, events)
}
