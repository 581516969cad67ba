// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

// checkIngest fails the test if ingest would reject the chunk, or drop a sample of an active
// thread.
func checkIngest(t testing.TB, name string, item *sentry.Item) {
	t.Helper()
	require.Empty(t, fakesentry.Verdict(&sentry.Envelope{Items: []sentry.Item{*item}}), name)
}

// ingestSpansVerdict returns the reason why ingest would reject a transaction or a container, or
// drop a part of it, or "" if it accepts everything.
func ingestSpansVerdict(item *Outgoing) string {
	if item.Header.Type != sentry.ItemTransaction && item.Header.Type != sentry.ItemSpan {
		return "item type " + string(item.Header.Type)
	}
	verdict := fakesentry.Verdict(&sentry.Envelope{
		Header: sentry.EnvelopeHeader{EventID: item.EventID, Trace: item.Trace}, Items: []sentry.Item{item.Item},
	})
	if verdict == "" && item.Count != len(spansIn(item)) {
		return "count"
	}
	return verdict
}

var chunkIDInPayload = regexp.MustCompile(`"chunk_id":"([0-9a-f]{32})"`)

func chunkIDOf(t testing.TB, payload []byte) string {
	t.Helper()
	found := chunkIDInPayload.FindSubmatch(payload)
	require.NotNil(t, found)
	return string(found[1])
}
