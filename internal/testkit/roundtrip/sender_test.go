// SPDX-License-Identifier: Apache-2.0

package roundtrip

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// sentAlike are fields that ingest drops if they are sent straight, too: Go sends mechanisms
// without a type, PHP chains of exceptions without IDs.
var sentAlike = map[string]bool{"mechanism": true, "exception_id": true}

// TestCollectorIsNotTheUser: ingest stores each item of the recordings without an inference from
// the request, which is the collector's, and the SDK is that of the envelope.
func TestCollectorIsNotTheUser(t *testing.T) {
	items := 0
	for _, request := range golden.Sample(t) {
		envelope := envelopeOf(t, request)
		for _, item := range profilefile.Examine(envelope, sentryitems.DefaultSettings(), time.Unix(1_795_225_000, 0)).Items {
			for _, delivery := range item.Deliveries {
				for _, o := range translated(delivery.Message.Data(), false).Items {
					items++
					sent := &sentry.Envelope{Header: sentry.EnvelopeHeader{EventID: o.EventID, Trace: o.Trace}, Items: []sentry.Item{o.Item}}
					if verdict := fakesentry.Verdict(sent); !sentAlike[verdict] {
						assert.Empty(t, verdict, "%s: %s", request.Name, o.Header.Type)
					}
					if envelope.Header.SDK.Name != "" {
						assert.False(t, bytes.Contains(o.Payload, []byte("otelcol-test")), "%s: %s", request.Name, o.Header.Type)
					}
				}
			}
		}
	}
	assert.Greater(t, items, 50)
}
