// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"fmt"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// CompareOthers compares the spans, log records and data points in the messages with those that the
// items of the envelope require. Expect and Received return them as texts.
func (total *Tally) CompareOthers(envelope *sentry.Envelope, messages map[string][][]byte) error {
	want, err := ExpectAll(envelope)
	if err != nil {
		return err
	}
	return total.CompareTexts(want, messages)
}

// ExpectAll returns Expect of all items of an envelope.
func ExpectAll(envelope *sentry.Envelope) (want []string, err error) {
	for _, item := range envelope.Items {
		expected, err := Expect(item, envelope.Header.EventID)
		if err != nil {
			return nil, fmt.Errorf("oracle: %s: %w", item.Header.Type, err)
		}
		want = append(want, expected...)
	}
	return want, nil
}

// CompareTexts compares the spans, log records and data points in the messages with the expected
// texts.
func (total *Tally) CompareTexts(want []string, messages map[string][][]byte) error {
	got, parents, err := Received(messages)
	if err != nil {
		return err
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		return fmt.Errorf("not what was sent:\n%v\nmissing: %v\nnot sent: %v", len(want), Missing(want, got), Missing(got, want))
	}

	total.mu.Lock()
	defer total.mu.Unlock()
	for _, text := range got {
		total.Out[word(text)]++
	}
	for span, parent := range parents {
		total.Parents[span] = parent
	}
	return nil
}

// Missing returns the elements of all that are not in some; duplicates count.
func Missing(all, some []string) (rest []string) {
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
