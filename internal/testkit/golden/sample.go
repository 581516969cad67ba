// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"slices"
	"strings"
	"testing"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// Sample returns the recorded requests for the size of the tests, in the order of their index: in
// full size all of them, in small size the shortest one of each SDK and combination of item types,
// unless that has more than 32 KiB.
func Sample(t testing.TB) []Request {
	t.Helper()
	all := Corpus(t)
	if testsize.Full() {
		return all
	}
	shortest := map[string]*Request{}
	for i := range all {
		kind := kindOf(&all[i])
		if best := shortest[kind]; best == nil || len(all[i].Body) < len(best.Body) {
			shortest[kind] = &all[i]
		}
	}
	var sample []Request
	for i := range all {
		if shortest[kindOf(&all[i])] == &all[i] && len(all[i].Decoded(t)) <= 32<<10 {
			sample = append(sample, all[i])
		}
	}
	return sample
}

// SampleCases returns the cases for the size of the tests, by name: in full size all of them, in
// small size every fourth one, unless it has 16 KiB or more, and the first one with each type of
// items.
func SampleCases(t testing.TB) []Case {
	t.Helper()
	all := Cases(t)
	if testsize.Full() {
		return all
	}
	seen := map[sentry.ItemType]bool{}
	var sample []Case
	for i, c := range all {
		chosen := i%4 == 0 && len(c.Envelope) < 16<<10
		if envelope, err := sentry.ReadEnvelope(c.Envelope); err == nil {
			for _, item := range envelope.Items {
				chosen = chosen || !seen[item.Header.Type]
				seen[item.Header.Type] = true
			}
		}
		if chosen {
			sample = append(sample, c)
		}
	}
	return sample
}

// kindOf returns the SDK of a request and its types of items, each once.
func kindOf(r *Request) string {
	sdk, _, _ := strings.Cut(r.Name, "/")
	types := slices.Clone(r.Items)
	slices.Sort(types)
	return sdk + " " + strings.Join(slices.Compact(types), " ")
}
