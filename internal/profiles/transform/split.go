// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"
)

// Split makes messages that respect the limits of what is behind: Kafka, gRPC and backends refuse what is larger. Each part
// is a message of its own, with a dictionary that holds what it needs. It has several whole profiles, as many as fit, or a part of
// one. Profiles with timestamps are cut in time, so that every part is a profile of its stretch of time; values without timestamps
// are cut by samples.
//
// The profile id of a part is made from that of the profile and the number of the part: the same input gives the same ids.
// A part carries split.profile_id (the id of the whole, which is the chunk id for Sentry's continuous profiles) and
// split.part (from 1). Its time and duration are those of its observations; sentry.transaction.relative_start and its
// siblings still count from the start of the whole. Measurements stay with the first part, as they would be counted twice
// otherwise.
//
// It drops nothing. What cannot be cut goes on as it is, if need be above a limit: one observation, a profile whose own
// attributes take half of MaxBytes, and what is left of a profile after 1000 parts, or of a message after parts that together take 16
// times the whole.
type Split struct {
	MaxBytes    int           `mapstructure:"max_bytes"`    // of the message as protobuf, uncompressed
	MaxSamples  int           `mapstructure:"max_samples"`  // of each profile
	MaxDuration time.Duration `mapstructure:"max_duration"` // of each profile, from its first to its last observation
}

const (
	// minSplitBytes leaves room for what every part repeats: a resource of Sentry's has about 20 attributes, 1 kB.
	minSplitBytes = 10_000

	// maxParts: the longest recorded chunk has 243 s, so that parts of a second are 243.
	maxParts = 1000

	// maxMultiple and minBudget bound what is built of one message, in bytes: every part repeats the resource and all of the
	// dictionary that it needs, which for a hostile stack of megabytes would be the whole, over and over. Halving a large
	// chunk until its parts fit builds it some six times. The output is at most this, and twice the message for the last part
	// and the rest.
	maxMultiple = 16
	minBudget   = 4 << 20

	// partOverhead is what a message takes in memory beside its size.
	partOverhead = 4 << 10
)

func (s *Split) Validate() error {
	switch {
	case s.MaxBytes == 0 && s.MaxSamples == 0 && s.MaxDuration == 0:
		return errors.New("split: give at least one of max_bytes, max_samples and max_duration")
	case s.MaxBytes != 0 && s.MaxBytes < minSplitBytes:
		return fmt.Errorf("split: max_bytes: %d is too few for a part to hold anything; at least %d", s.MaxBytes, minSplitBytes)
	case s.MaxSamples < 0:
		return errors.New("split: max_samples: must be positive; leave it out for no limit")
	case s.MaxDuration != 0 && s.MaxDuration < time.Millisecond: // 10 is read as 10ns
		return fmt.Errorf("split: max_duration: is %s, must be at least %s, with its unit, e.g. 10s; leave it out for no limit", s.MaxDuration, time.Millisecond)
	}
	return nil
}

// apply only takes note: sizes are known after compaction.
func (s *Split) apply(m *message) { m.split = s }

// parts cuts a message that is compact.
func (s *Split) parts(p pprofile.Profiles) []pprofile.Profiles {
	n := size(p)
	if s.fits(p, n) {
		return []pprofile.Profiles{p}
	}
	c := newCutter(s, p)
	c.budget = max(minBudget, maxMultiple*n)
	c.cutMessage()
	return c.parts
}

func (s *Split) fits(p pprofile.Profiles, bytes int) bool {
	if s.MaxBytes > 0 && bytes > s.MaxBytes {
		return false
	}
	if s.MaxSamples == 0 && s.MaxDuration == 0 {
		return true
	}
	for _, resource := range p.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				if !s.short(pieceOf(profile)) {
					return false
				}
			}
		}
	}
	return true
}

// short tells whether a piece respects the limits that show without building it.
func (s *Split) short(p piece) bool {
	first, last, timed := p.span()
	return (s.MaxSamples == 0 || len(p) <= s.MaxSamples) &&
		(s.MaxDuration == 0 || !timed || last-first < uint64(s.MaxDuration))
}
