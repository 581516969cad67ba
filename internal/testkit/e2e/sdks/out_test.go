// SPDX-License-Identifier: Apache-2.0

//go:build sdks

package sdks

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/sentrytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/oracle"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// compareOut checks that the exporter sent to Sentry what the SDK sent, as stated in "OTLP to
// Sentry" of docs/mapping.md: each span with its parent, and each sample with its thread, stack and
// time.
func compareOut(t *testing.T, sent, out []*sentry.Envelope) {
	wantSpans, gotSpans := spanTexts(t, sent), spanTexts(t, out)
	assert.Empty(t, oracle.Missing(wantSpans, gotSpans), "spans that did not reach Sentry")
	assert.Empty(t, oracle.Missing(gotSpans, wantSpans), "spans that the SDK did not send")

	want, got := sentObservations(t, sent), sentObservations(t, out)
	threads := map[string]int{}
	for what, times := range want {
		threads[threadOf(what)] += len(times)
	}
	for what, times := range want {
		assert.Equal(t, len(times), countShared(times, got[what]), "samples that reached Sentry, of %d, of\n%s", len(times), what)
	}
	for what, times := range got {
		more := len(times) - countShared(want[what], times)
		if more > 0 && threads[threadOf(what)] > 1 {
			t.Errorf("%d samples that the SDK did not send, of\n%s", more, what)
		} // otherwise, it is the closing sample of a thread with a single sample
	}
}

func spanTexts(t *testing.T, envelopes []*sentry.Envelope) (texts []string) {
	for _, envelope := range envelopes {
		for _, item := range envelope.Items {
			if item.Header.Type == sentry.ItemTransaction || item.Header.Type == sentry.ItemSpan {
				expected, err := oracle.Expect(item, envelope.Header.EventID)
				require.NoError(t, err)
				texts = append(texts, expected...)
			}
		}
	}
	return texts
}

// sentObservations returns the observations of all profiles, with absolute times.
func sentObservations(t *testing.T, envelopes []*sentry.Envelope) golden.Observations {
	all := golden.Observations{}
	for _, envelope := range envelopes {
		for _, item := range envelope.Items {
			if item.Header.Type != sentry.ItemProfile && item.Header.Type != sentry.ItemProfileChunk {
				continue
			}
			head, err := oracle.ReadProfileHeader(item.Payload)
			require.NoError(t, err)
			read, err := sentrytest.Read(head.Format, item.Payload)
			require.NoError(t, err)
			for what, times := range golden.Expected(read, head.Anchor) {
				all[what] = append(all[what], times...)
			}
		}
	}
	for _, times := range all {
		slices.Sort(times)
	}
	return all
}

// threadOf returns the line that names the thread of observations.
func threadOf(what string) string {
	thread, _, _ := strings.Cut(what, "\n")
	return thread
}

// countShared returns the number of times that are in both sorted lists.
func countShared(a, b []uint64) (n int) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			n++
			a, b = a[1:], b[1:]
		case a[0] < b[0]:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return n
}
