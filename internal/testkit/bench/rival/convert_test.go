// SPDX-License-Identifier: Apache-2.0

package rival

import (
	"testing"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// TestSameResult checks that the comparison is fair: rivals and product provide the same data to
// the translation.
func TestSameResult(t *testing.T) {
	payloads := []payload.Payload{payload.Python(1000), payload.Node(1000), payload.Cocoa(1000), payload.Patho(100)}
	recorded, err := payload.Recorded()
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range recorded {
		p, err := source.Load()
		if err != nil {
			t.Fatal(err)
		}
		if p.MB() < 5 || p.V1 {
			payloads = append(payloads, p)
		}
	}
	for _, p := range payloads {
		want := observe(own(t, p))
		for _, library := range All() {
			if p.MB() > 5 && library.Name != "encoding/json" {
				continue // comparing its stacks takes seconds
			}
			got := observe(rivals(t, library, p))
			if len(got) != len(want) {
				t.Errorf("%s %s: %d identities, want %d", p.Name, library.Name, len(got), len(want))
			}
			for what, times := range want {
				if !nearly(times, got[what]) {
					t.Fatalf("%s %s: want %d observations, got %d of\n%s", p.Name, library.Name, len(times), len(got[what]), what)
				}
			}
		}
	}
}

// nearly reports whether times are equal except for two roundings of a double: adjacent values are
// 238 ns apart in seconds and 256 ns in nanoseconds.
func nearly(a, b []uint64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if max(a[i], b[i])-min(a[i], b[i]) > 256 {
			return false
		}
	}
	return true
}

func own(t *testing.T, p payload.Payload) pprofile.Profiles {
	d := profile.AcquireDecoder()
	defer d.Release()
	if p.V1 {
		profile, err := d.Profile(p.JSON)
		if err != nil {
			t.Fatal(err)
		}
		return fromsentry.ProfileToProfiles(profile, fromsentry.Source{})
	}
	chunk, err := d.Chunk(p.JSON)
	if err != nil {
		t.Fatal(err)
	}
	return fromsentry.ChunkToProfiles(chunk, fromsentry.Source{})
}

// rivals decodes twice: the second time, libraries use memory again.
func rivals(t *testing.T, library Library, p payload.Payload) (out pprofile.Profiles) {
	for range 2 {
		if p.V1 {
			profile, err := library.Profile(p.JSON)
			if err != nil {
				t.Fatal(err)
			}
			out = fromsentry.ProfileToProfiles(profile, fromsentry.Source{})
			continue
		}
		chunk, err := library.Chunk(p.JSON)
		if err != nil {
			t.Fatal(err)
		}
		out = fromsentry.ChunkToProfiles(chunk, fromsentry.Source{})
	}
	return out
}

func observe(out pprofile.Profiles) golden.Observations {
	return golden.Observed(out.Dictionary(), out.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0))
}
