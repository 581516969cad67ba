// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/relaytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// TestNormalizer: Sentry's own processing finds no more errors in events of SDKs that went to OTLP
// and back than in the originals.
func TestNormalizer(t *testing.T) {
	relaytest.Python(t)
	var names []string
	var sent, returned [][]byte
	add := func(name string, payload []byte, src fromsentry.Source) {
		decoded, err := event.DecodeEvent(payload)
		if err != nil {
			return
		}
		back := FromLogs(fromsentry.EventToLogs(decoded, src), LogOptions{ExportOptions: options})
		require.Len(t, back.Items, 1, name)
		names, sent, returned = append(names, name), append(sent, payload), append(returned, back.Items[0].Payload)
	}
	addEnvelope := func(name string, body []byte) {
		envelope, err := sentry.ReadEnvelope(body)
		if envelope == nil || err != nil && len(envelope.Items) == 0 {
			return
		}
		src := fromsentry.Source{ProjectID: "1", EventID: envelope.Header.EventID, IncludePII: true, ReceivedNano: receivedNano}
		for _, item := range envelope.Items {
			if item.Header.Type == sentry.ItemEvent {
				add(name, item.Payload, src)
			}
		}
	}
	for _, c := range golden.Cases(t) {
		if c.Envelope != nil {
			addEnvelope(c.Name, c.Envelope)
		}
	}
	for _, request := range golden.Corpus(t) {
		if strings.HasSuffix(request.Path, "/store/") {
			add(request.Name, request.Event(t), fromsentry.Source{ProjectID: "1", IncludePII: true, ReceivedNano: receivedNano})
		} else {
			addEnvelope(request.Name, request.Decoded(t))
		}
	}
	require.Greater(t, len(sent), 15)
	faulty := 0
	before := relaytest.Normalize(t, sent)
	for i, after := range relaytest.Normalize(t, returned) {
		if string(before[i].Meta) != "null" {
			faulty++
		} else {
			assert.Equal(t, "null", string(after.Meta), "%s: %s", names[i], returned[i])
		}
		for _, problem := range after.Errors {
			assert.Contains(t, before[i].Errors, problem, "%s: %s", names[i], returned[i])
		}
	}
	t.Logf("%d events, %d of them with errors of the SDK", len(sent), faulty)
}
