// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// compareOthers holds the spans, log records and data points that came out for a request against those that its items tell of.
// Each is a text that says what makes it this one: oracle_test.go reads them from Sentry's payloads, seen_test.go from OTLP.
func (total *tally) compareOthers(envelope *sentry.Envelope, messages map[string][][]byte) error {
	want, err := expectAll(envelope)
	if err != nil {
		return err
	}
	return total.compareTexts(want, messages)
}

// expectAll is what is expected of the items of an envelope.
func expectAll(envelope *sentry.Envelope) (want []string, err error) {
	for _, item := range envelope.Items {
		expected, err := expect(item, envelope.Header.EventID)
		if err != nil {
			return nil, fmt.Errorf("oracle: %s: %w", item.Header.Type, err)
		}
		want = append(want, expected...)
	}
	return want, nil
}

func (total *tally) compareTexts(want []string, messages map[string][][]byte) error {
	got, parents, err := seen(messages)
	if err != nil {
		return err
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		return fmt.Errorf("not what was sent:\n%v\nmissing: %v\nnot sent: %v", len(want), without(want, got), without(got, want))
	}

	total.mu.Lock()
	defer total.mu.Unlock()
	for _, text := range got {
		total.out[word(text)]++
	}
	for span, parent := range parents {
		total.parents[span] = parent
	}
	return nil
}

// without are the elements of all that are not in some, however often.
func without(all, some []string) (rest []string) {
	some = slices.Clone(some)
	for _, text := range all {
		if i := slices.Index(some, text); i >= 0 {
			some = slices.Delete(some, i, i+1)
		} else {
			rest = append(rest, text)
		}
	}
	return rest
}
