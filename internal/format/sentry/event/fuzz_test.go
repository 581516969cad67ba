// SPDX-License-Identifier: Apache-2.0

package event

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// The fuzzers decode any text. What a decoder accepts is written, decoded and written again: both
// texts are equal, and nothing that a writer writes is lost without a count.

func FuzzEvent(f *testing.F) { fuzzItem(f, rewriteEvent, sentry.ItemEvent, sentry.ItemFeedback) }

func rewriteEvent(payload []byte) ([]byte, error) {
	e, err := DecodeEvent(payload)
	if err != nil {
		return nil, err
	}
	return Events.Append(nil, e), nil
}

func FuzzTransaction(f *testing.F) { fuzzItem(f, rewriteTransaction, sentry.ItemTransaction) }

func rewriteTransaction(payload []byte) ([]byte, error) {
	t, err := DecodeTransaction(payload)
	if err != nil {
		return nil, err
	}
	if t.Root == nil { // its children are exported as a container
		t.Root = &t.Spans[0]
	}
	written, _, _ := AppendTransaction(nil, t, 1<<30)
	return written, nil
}

func FuzzSpan(f *testing.F) { fuzzItem(f, rewriteSpan, sentry.ItemSpan) }

func rewriteSpan(payload []byte) ([]byte, error) {
	s, _, err := DecodeSpan(payload)
	if err != nil {
		return nil, err
	}
	return standaloneSpans.Append(nil, s), nil
}

func FuzzSpans(f *testing.F) { fuzzItem(f, rewriteSpans, sentry.ItemSpan) }

func rewriteSpans(payload []byte) ([]byte, error) {
	c, err := DecodeSpans(payload, jsonscan.Optional[int]{})
	if err != nil {
		return nil, err
	}
	return rewriteElements[*StreamedSpan](c.Spans), nil
}

func FuzzLogs(f *testing.F) { fuzzItem(f, rewriteLogs, sentry.ItemLog) }

func rewriteLogs(payload []byte) ([]byte, error) {
	c, err := DecodeLogs(payload, jsonscan.Optional[int]{})
	if err != nil {
		return nil, err
	}
	return rewriteElements[*Log](c.Logs), nil
}

func FuzzTraceMetrics(f *testing.F) { fuzzItem(f, rewriteMetrics, sentry.ItemTraceMetric) }

func rewriteMetrics(payload []byte) ([]byte, error) {
	c, err := DecodeTraceMetrics(payload, jsonscan.Optional[int]{})
	if err != nil {
		return nil, err
	}
	return rewriteElements[*TraceMetric](c.Metrics), nil
}

// rewriteElements returns a container of the elements, or nothing if there are none.
func rewriteElements[P interface {
	Element
	*T
}, T any](all []T) []byte {
	w := NewContainerWriter(nil, 1<<30)
	for i := range all {
		w.Add(P(&all[i]))
	}
	if w.Len() == 0 {
		return nil
	}
	return w.Finish()
}

func FuzzSession(f *testing.F) { fuzzItem(f, rewriteSession, sentry.ItemSession) }

func rewriteSession(payload []byte) ([]byte, error) {
	s, err := DecodeSession(payload)
	if err != nil {
		return nil, err
	}
	return SessionUpdates.Append(nil, s), nil
}

func FuzzSessions(f *testing.F) { fuzzItem(f, rewriteSessions, sentry.ItemSessions) }

func rewriteSessions(payload []byte) ([]byte, error) {
	s, err := DecodeSessions(payload)
	if err != nil {
		return nil, err
	}
	return SessionCounts.Append(nil, s), nil
}

func FuzzCheckIn(f *testing.F) { fuzzItem(f, rewriteCheckIn, sentry.ItemCheckIn) }

func rewriteCheckIn(payload []byte) ([]byte, error) {
	c, err := DecodeCheckIn(payload)
	if err != nil {
		return nil, err
	}
	return CheckIns.Append(nil, c), nil
}

func FuzzClientReport(f *testing.F) { fuzzItem(f, rewriteClientReport, sentry.ItemClientReport) }

func rewriteClientReport(payload []byte) ([]byte, error) {
	r, err := DecodeClientReport(payload)
	if err != nil {
		return nil, err
	}
	return ClientReports.Append(nil, r), nil
}

func FuzzUserReport(f *testing.F) { fuzzItem(f, rewriteUserReport, sentry.ItemUserReport) }

func rewriteUserReport(payload []byte) ([]byte, error) {
	r, err := DecodeUserReport(payload)
	if err != nil {
		return nil, err
	}
	return UserReports.Append(nil, r), nil
}

// fuzzItem fuzzes an item with the recorded items as seeds.
func fuzzItem(f *testing.F, rewrite func([]byte) ([]byte, error), types ...sentry.ItemType) {
	for _, seed := range recordedItems(f, types...) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		sent := string(payload)
		once, err := rewrite(payload)
		require.Equal(t, sent, string(payload), "the payload was changed")
		if err != nil || once == nil {
			return
		}
		require.True(t, jsonscan.ValidJSON(once), "%s", once)
		twice, err := rewrite(once)
		require.NoError(t, err, "%s", once)
		require.Equal(t, string(once), string(twice))
	})
}

// recordedItems returns the small items of a type in testdata/cases.
func recordedItems(f *testing.F, types ...sentry.ItemType) (all [][]byte) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "testdata", "cases", "*", "in.envelope"))
	require.NoError(f, err)
	require.NotEmpty(f, paths)
	for _, path := range paths {
		body, err := os.ReadFile(path)
		require.NoError(f, err)
		envelope, err := sentry.ReadEnvelope(body)
		if err != nil {
			continue
		}
		for _, item := range envelope.Items {
			for _, t := range types {
				if item.Header.Type == t && len(item.Payload) < 1<<16 {
					all = append(all, item.Payload)
				}
			}
		}
	}
	return all
}
