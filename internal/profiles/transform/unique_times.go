// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"encoding/binary"
	"hash/fnv"
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// UniqueTimes makes the start times of profiles unique, for backends that treat profiles with the
// same labels and the same start time as duplicates. Grafana Pyroscope v2 drops all but one when it
// compacts blocks (pkg/block/section_profiles.go, DedupeProfileRowIterator). Sources state the
// start in seconds (Ruby), milliseconds or microseconds, so several profiles of a process share it.
//
// It adds an offset that is below the precision of the start time and below a millisecond. The
// offset is a hash of the profile ID, so that equal input yields equal times. Profiles of one
// message that still share a start time are moved by one nanosecond each. The profile attribute
// split.time_unix_nano contains the original start time.
//
// It drops nothing. Profiles with timestamps stay unchanged, because they must not start after
// their first timestamp, so put it after aggregate.
type UniqueTimes struct{}

// maxPrecision bounds the offset, because a time that ends in nine zeros may still be precise. With
// a million possible offsets, a backend loses 0.005% of a hundred profiles that start in the same
// second.
const maxPrecision = 1_000_000

func (*UniqueTimes) Validate() error { return nil }

func (*UniqueTimes) apply(m *message) {
	taken := takenTimes{}
	m.each(func(_ pcommon.Resource, profile pprofile.Profile) {
		start := uint64(profile.Time())
		if start == 0 || start > math.MaxInt64-2*maxPrecision || hasTimestamps(profile) {
			return
		}
		unique := start
		_, moved := m.view.Get(profile.AttributeIndices(), semconv.SplitTimeUnixNano)
		if !moved {
			unique += profileHash(profile) % precision(start)
		}
		unique = taken.take(unique)
		profile.SetTime(pcommon.Timestamp(unique))
		if unique != start && !moved {
			profile.AttributeIndices().Append(int32(m.edit.Attribute(semconv.SplitTimeUnixNano, pcommon.NewValueInt(int64(start)))))
		}
	})
}

func hasTimestamps(profile pprofile.Profile) bool {
	for _, s := range profile.Samples().All() {
		if s.TimestampsUnixNano().Len() > 0 {
			return true
		}
	}
	return false
}

// precision returns the precision of a time in nanoseconds, in steps of 1000.
func precision(t uint64) uint64 {
	p := uint64(1)
	for p < maxPrecision && t%(1000*p) == 0 {
		p *= 1000
	}
	return p
}

// profileHash returns a hash of the ID of a profile, or of its samples if it has none.
func profileHash(profile pprofile.Profile) uint64 {
	h := fnv.New64a()
	if id := profile.ProfileID(); !id.IsEmpty() {
		h.Write(id[:])
		return h.Sum64()
	}
	var word [8]byte
	write := func(n uint64) {
		binary.BigEndian.PutUint64(word[:], n)
		h.Write(word[:])
	}
	write(profile.DurationNano())
	for _, s := range profile.Samples().All() {
		write(uint64(s.StackIndex()))
		for _, value := range s.Values().All() {
			write(uint64(value))
		}
	}
	return h.Sum64()
}

// takenTimes maps each used time to a later time at which to continue the search for an unused one.
type takenTimes map[uint64]uint64

// take returns t or the first unused time after it, and marks the result as used.
func (u takenTimes) take(t uint64) uint64 {
	free := t
	for later, taken := u[free]; taken; later, taken = u[free] {
		free = later
	}
	u[t], u[free] = free+1, free+1
	return free
}
