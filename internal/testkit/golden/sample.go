// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// Sample returns the recorded requests. In small size it returns the smallest request of each SDK
// with each type of item.
func Sample(t testing.TB) []Request {
	t.Helper()
	all := Corpus(t)
	if testsize.Full() {
		return all
	}
	type kind struct{ sdk, item string }
	smallest := map[kind]int{}
	for i, request := range all {
		sdk, _, _ := strings.Cut(request.Name, "/")
		for _, item := range request.Items {
			best, found := smallest[kind{sdk, item}]
			if !found || len(request.Body) < len(all[best].Body) {
				smallest[kind{sdk, item}] = i
			}
		}
	}
	var sample []Request
	for _, i := range slices.Compact(slices.Sorted(maps.Values(smallest))) {
		sample = append(sample, all[i])
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
