// SPDX-License-Identifier: Apache-2.0

// Package fakepyroscope is test support: it restates the rules by which Grafana Pyroscope accepts,
// groups and compacts OTLP profiles. Pyroscope itself is not served as a Go module. The rules are
// those of its source at commit 3fe6a457 of 2026-08-21, with the defaults of its limits; each has
// its file next to it.
//
// A Store takes messages as they are on the wire, where the texts of resources and scopes are
// references into the dictionary. Only generated protocol types read them, as in Pyroscope.
package fakepyroscope

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"
	wire "go.opentelemetry.io/proto/otlp/profiles/v1development"
	"google.golang.org/protobuf/proto"
)

// Store keeps the profiles that Pyroscope would keep.
type Store struct {
	// Now is the time of ingestion; zero leaves the ages of profiles unchecked, for recorded data.
	Now time.Time

	profiles []Profile
}

// Profile is a stored profile: one series, one start.
type Profile struct {
	Type   string            // name:sample type:unit:period type:period unit, as in queries
	Labels map[string]string // without the private ones
	Time   int64
	Total  int64
	Spans  int // samples with the ID of a span

	series string // type and labels
}

// Problem is a rule that a message breaks, or data that Pyroscope would lose without an error.
type Problem struct {
	Rule   string // file and function of Pyroscope's source
	Detail string
}

func (p Problem) String() string { return p.Detail + " (" + p.Rule + ")" }

// Push stores a message. With problems, it stores nothing: Pyroscope rejects whole requests.
func (s *Store) Push(p pprofile.Profiles) []Problem {
	encoded, err := encode(p)
	if err != nil {
		return []Problem{{"encoding", err.Error()}}
	}
	return s.PushEncoded(encoded)
}

// MustPush stores a message and fails the test if Pyroscope would reject it or lose part of it.
func (s *Store) MustPush(t testing.TB, p pprofile.Profiles) {
	t.Helper()
	for i, problem := range s.Push(p) {
		if i == 10 {
			t.Error("and more problems")
			return
		}
		t.Errorf("Pyroscope would reject the message: %v", problem)
	}
}

// encode encodes a message as the exporters of a collector do.
func encode(p pprofile.Profiles) ([]byte, error) {
	readOnly := pprofile.NewProfiles()
	p.CopyTo(readOnly)
	readOnly.MarkReadOnly()
	return new(pprofile.ProtoMarshaler).MarshalProfiles(readOnly)
}

// PushEncoded stores an encoded message.
func (s *Store) PushEncoded(encoded []byte) []Problem {
	var data wire.ProfilesData
	if err := proto.Unmarshal(encoded, &data); err != nil {
		return []Problem{{"pkg/ingester/otlp/ingest_handler.go, handleHTTPRequest", err.Error()}}
	}
	r := request{dictionary: data.GetDictionary(), now: s.Now}
	for _, resource := range data.GetResourceProfiles() {
		for _, scope := range resource.GetScopeProfiles() {
			for _, profile := range scope.GetProfiles() {
				r.profile(resource, scope, profile)
			}
		}
	}
	if len(r.problems) > 0 {
		return r.problems
	}
	s.profiles = append(s.profiles, r.stored...)
	return nil
}

// Profiles returns the profiles before compaction.
func (s *Store) Profiles() []Profile { return s.profiles }

// Compact returns the profiles that are left after blocks are compacted: of the rows of a series,
// in the order of time, each with the time of the one before it is skipped as a duplicate
// (pkg/block/section_profiles.go, DedupeProfileRowIterator).
func (s *Store) Compact() []Profile {
	rows := slices.Clone(s.profiles)
	slices.SortStableFunc(rows, func(a, b Profile) int {
		return cmp.Or(cmp.Compare(a.series, b.series), cmp.Compare(a.Time, b.Time))
	})
	return slices.CompactFunc(rows, func(a, b Profile) bool { return a.series == b.series && a.Time == b.Time })
}

// MustSurvive fails the test if compaction loses a profile.
func (s *Store) MustSurvive(t testing.TB) {
	t.Helper()
	if kept := s.Compact(); len(kept) != len(s.profiles) {
		t.Errorf("compaction keeps %d of %d profiles, and %d of %d in sums", len(kept), len(s.profiles), Sum(kept), Sum(s.profiles))
	}
}

// Sum returns the sum of the totals of profiles.
func Sum(profiles []Profile) (total int64) {
	for _, p := range profiles {
		total += p.Total
	}
	return total
}

// seriesOf returns the text that two profiles share if Pyroscope puts them into one series.
func seriesOf(typ string, labels map[string]string) string {
	series := typ
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		series += fmt.Sprintf(" %q=%q", name, labels[name])
	}
	return series
}
