// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// attachments are empty items with numbered names.
func attachments(n int) (items string) {
	for i := range n {
		items += item("attachment", fmt.Sprintf(`,"filename":"%d"`, i), "")
	}
	return items
}

// fileNames are the names of attachments in a message.
func fileNames(logs plog.Logs) (names []string) {
	for _, resource := range logs.ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			for _, record := range scope.LogRecords().All() {
				if name, ok := record.Attributes().Get(semconv.FileName); ok {
					names = append(names, name.Str())
				}
			}
		}
	}
	return names
}

// TestOneMessagePerSignal: what the items of an envelope become is one message per signal, in their
// order and with a resource for all that are equal; each profile is a message.
func TestOneMessagePerSignal(t *testing.T) {
	s := startSignals(t, nil)
	got := s.post(envelope(chunkItem, item("transaction", "", fullTransaction), attachments(sentry.MaxEnvelopeItems-8), profileItem,
		item("transaction", "", strings.ReplaceAll(fullTransaction, "7d1f0c9f", "7d1f0c90")), item("check_in", "", checkIn),
		item("session", "", session), item("session", "", session), item("client_report", "", clientReport)))
	require.Equal(t, http.StatusOK, got.status, got.text)
	assert.Equal(t, 2, s.sink.count())
	require.Len(t, s.traces.AllTraces(), 1)
	require.Len(t, s.logs.AllLogs(), 1)
	require.Len(t, s.points.AllMetrics(), 1)

	traces, logs, metrics := s.traces.AllTraces()[0], s.logs.AllLogs()[0], s.points.AllMetrics()[0]
	assert.Equal(t, 1, traces.ResourceSpans().Len())
	assert.Len(t, spansOf(traces), 4)
	assert.Equal(t, 2, logs.ResourceLogs().Len(), "attachments of the transaction's release, a check-in without one")
	assert.Equal(t, 2, metrics.ResourceMetrics().Len(), "the check-in; sessions and a client report of the release")
	for i, name := range fileNames(logs) {
		require.Equal(t, fmt.Sprint(i), name)
	}
	assert.Equal(t, map[string]int64{
		"outcome=accepted type=profile_chunk": 1, "outcome=accepted type=profile": 1, "outcome=accepted type=transaction": 2,
		"outcome=accepted type=attachment": sentry.MaxEnvelopeItems - 8, "outcome=accepted type=check_in": 1,
		"outcome=accepted type=session": 2, "outcome=accepted type=client_report": 1,
	}, s.items())
}

// TestMessagesAreLimited: output that does not fit into one message becomes several, in order; only
// a single item may be larger.
func TestMessagesAreLimited(t *testing.T) {
	s := startSignals(t, nil)
	event := func(i, size int) string {
		return item("event", "", fmt.Sprintf(`{"message":"%d","extra":{"text":"%s"}}`, i, strings.Repeat("x", size)))
	}
	var body string
	const small, large, after = 35, 35, 36
	for i := range small {
		body += event(i, 100_000)
	}
	body += event(large, maxMessage) + event(after, 100)
	require.Equal(t, http.StatusOK, s.post(envelope(body)).status)
	var sizes []int
	n := 0
	for _, logs := range s.logs.AllLogs() {
		sizes = append(sizes, logs.LogRecordCount())
		if size := new(plog.ProtoMarshaler).LogsSize(logs); logs.LogRecordCount() > 1 {
			assert.LessOrEqual(t, size, maxMessage)
		}
		for _, record := range logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().All() {
			assert.Equal(t, fmt.Sprint(n), record.Body().Str())
			n++
		}
	}
	assert.Equal(t, []int{10, 10, 10, 5, 1, 1}, sizes)
	assert.Equal(t, map[string]int64{"outcome=accepted type=event": small + 2}, s.items())
}

// TestOutcomeOfAMessage is the outcome of all its items.
func TestOutcomeOfAMessage(t *testing.T) {
	for _, test := range []struct {
		err     error
		status  int
		outcome string
		limits  string
	}{
		{nil, http.StatusOK, "accepted", ""},
		{consumererror.NewPermanent(errors.New("no")), http.StatusBadRequest, "rejected reason=pipeline", ""},
		{errors.New("full"), http.StatusTooManyRequests, "refused reason=backpressure", "10:error;log_item;feedback;default;monitor:key:backpressure"},
	} {
		asked := 0
		h := startLogs(t, nil, func(context.Context, plog.Logs) error { asked++; return test.err })
		got := h.post(envelope(item("event", "", errorEvent), attachments(100)))
		assert.Equal(t, test.status, got.status)
		assert.Equal(t, test.limits, got.header.Get(sentry.HeaderRateLimits))
		assert.Equal(t, map[string]int64{"outcome=" + test.outcome + " type=event": 1, "outcome=" + test.outcome + " type=attachment": 100}, h.items())
		assert.Equal(t, 1, asked)
	}
}

// TestResentAmongOthers: of a message, only the parts that were accepted before are dropped, and
// the other output of their items too.
func TestResentAmongOthers(t *testing.T) {
	event := func(id string) string {
		return item("event", "", strings.ReplaceAll(errorEvent, "7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5e7", "7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5"+id))
	}
	measured := item("profile", "", strings.Replace(goodProfile, `"profile":{`,
		`"measurements":{"cpu_usage":{"unit":"percent","values":[{"elapsed_since_start_ns":5,"value":1}]}},"profile":{`, 1))
	spans := item("span", `,"item_count":2,"content_type":"application/vnd.sentry.items.span.v2+json"`, `{"items":[`+
		strings.ReplaceAll(spanContainer[len(`{"items":[`):len(spanContainer)-2], "6f1b2c3d4e5f6072", "6f1b2c3d4e5f6071")+","+ // of fullTransaction
		spanContainer[len(`{"items":[`):])
	s := startSignals(t, dropResent)
	s.post(envelope(event("01"), attachments(1), event("02"), measured))
	require.Equal(t, 3, s.logs.LogRecordCount())
	require.Equal(t, 1, s.points.DataPointCount())

	s.post(envelope(event("02"), attachments(1), event("03"), event("03"), measured, item("transaction", "", fullTransaction), spans, item("session", "", session)))
	require.Len(t, s.logs.AllLogs(), 2)
	assert.Equal(t, 2, s.logs.AllLogs()[1].LogRecordCount(), "an attachment and an event")
	assert.Equal(t, 3, s.traces.SpanCount())
	assert.Equal(t, 1, s.sink.count())
	require.Len(t, s.points.AllMetrics(), 2)
	for _, metric := range s.points.AllMetrics()[1].ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
		assert.Contains(t, metric.Name(), "session")
	}
	assert.Equal(t, map[string]int64{
		"outcome=accepted type=event": 3, "outcome=discarded reason=resent type=event": 2, "outcome=accepted type=attachment": 2,
		"outcome=accepted type=profile": 1, "outcome=discarded reason=resent type=profile": 1, "outcome=accepted type=session": 1,
		"outcome=accepted type=transaction": 1, "outcome=accepted type=span": 1,
	}, s.items())
	assert.Equal(t, map[string]int64{"reason=resent type=span": 1}, s.counts("otelcol_receiver_sentry_elements_discarded"))
}
