// SPDX-License-Identifier: Apache-2.0

package rival

import (
	"slices"
	"testing"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/sentrytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// TestSameChunk checks that the comparison of exports is fair: rival and product write the same
// samples.
func TestSameChunk(t *testing.T) {
	for _, p := range []payload.Payload{payload.Python(1000), payload.Node(1000), payload.Cocoa(1000), payload.Browser(), payload.Patho(100)} {
		profiles := own(t, p)
		rivals, err := MarshalChunk(profiles)
		if err != nil {
			t.Fatal(err)
		}
		options := tosentry.ExportOptions{SDK: sentry.ClientSDK{Name: "a", Version: "b"}}
		want, got := spelled(t, tosentry.ProfilesToChunks(profiles, options).Items[0].Payload), spelled(t, rivals)
		if !slices.Equal(want, got) {
			t.Errorf("%s: %d samples, want %d, or others", p.Name, len(got), len(want))
		}
	}
}

// spelled returns the samples of a chunk as text, without times, which doubles round.
func spelled(t *testing.T, chunk []byte) (all []string) {
	read, err := sentrytest.Read(2, chunk)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range read.Samples {
		all = append(all, s.Thread+s.ThreadName+s.StackText())
	}
	slices.Sort(all)
	return all
}
