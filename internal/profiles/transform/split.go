// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"
)

// Split splits messages to respect the limits of the next component: Kafka, gRPC and backends
// reject larger messages. Each part is a separate message with its own dictionary. It contains as
// many complete profiles as fit, or a part of one profile. Profiles with timestamps are split by
// time, so that each part covers its own time range. Profiles without timestamps are split between
// samples, and each part starts one nanosecond after the previous one.
//
// The profile ID of a part is derived from the profile ID and the number of the part, so that equal
// input yields equal IDs. A part has the attributes split.profile_id (the original profile ID,
// which is the chunk ID of Sentry's continuous profiles) and split.part (counted from 1). Its time
// and duration cover its observations; sentry.transaction.relative_start and related attributes
// still refer to the start of the original profile. Measurements stay with the first part, so that
// they are not counted twice.
//
// It drops nothing. Data that cannot be split is forwarded even above a limit: a single
// observation, a profile whose attributes use half of MaxBytes, the rest of a profile after 1000
// parts, and the rest of a message once its parts have 16 times its size.
type Split struct {
	MaxBytes    int           `mapstructure:"max_bytes"`    // of the message as protobuf, uncompressed
	MaxSamples  int           `mapstructure:"max_samples"`  // of each profile
	MaxDuration time.Duration `mapstructure:"max_duration"` // of each profile, from first to last observation
}

const (
	// minSplitBytes leaves room for the data that every part repeats: the resource of a Sentry SDK
	// has about 20 attributes (1 kB).
	minSplitBytes = 10_000

	// maxParts is more than enough for the longest recorded chunk: it covers 243 s, or 243 parts of
	// one second.
	maxParts = 1000

	// maxMultiple and minBudget bound the bytes that are built from one message. Every part repeats
	// the resource and the dictionary entries that it needs; with a hostile stack of megabytes,
	// that would be the whole message each time. Halving a large chunk until its parts fit builds
	// it about six times. The output has at most this size, plus twice the message for the last
	// part and the rest.
	maxMultiple = 16
	minBudget   = 4 << 20

	// partOverhead is the memory that a message uses in addition to its size.
	partOverhead = 4 << 10
)

func (s *Split) Validate() error {
	switch {
	case s.MaxBytes == 0 && s.MaxSamples == 0 && s.MaxDuration == 0:
		return errors.New("split: set at least one of max_bytes, max_samples and max_duration")
	case s.MaxBytes != 0 && s.MaxBytes < minSplitBytes:
		return fmt.Errorf("split: max_bytes: is %d, must be at least %d", s.MaxBytes, minSplitBytes)
	case s.MaxSamples < 0:
		return errors.New("split: max_samples: must be positive; omit it for no limit")
	case s.MaxDuration != 0 && s.MaxDuration < time.Millisecond: // 10 would mean 10ns
		return fmt.Errorf("split: max_duration: is %s, must be at least %s, with a unit, e.g. 10s; omit it for no limit", s.MaxDuration, time.Millisecond)
	}
	return nil
}

// apply only stores the step, because the sizes are known only after compaction.
func (s *Split) apply(m *message) { m.split = s }

// parts splits a compact message.
func (s *Split) parts(p pprofile.Profiles) []pprofile.Profiles {
	n := size(p)
	if s.fits(p, n) {
		return []pprofile.Profiles{p}
	}
	c := newSplitter(s, p)
	c.budget = max(minBudget, maxMultiple*n)
	c.splitMessage()
	return c.messages
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
				if !s.withinLimits(wholeOf(profile)) {
					return false
				}
			}
		}
	}
	return true
}

// withinLimits reports whether a part is within the limits that can be checked without building it.
func (s *Split) withinLimits(p part) bool {
	first, last, timed := p.timeRange()
	return (s.MaxSamples == 0 || len(p) <= s.MaxSamples) &&
		(s.MaxDuration == 0 || !timed || last-first < uint64(s.MaxDuration))
}
